/** `npm run pretrain:reactions -- --sgd <folder> [--model reaction|correction]`: trains a model of users' words and writes it beside a base. */
import { readCommandLine, readCount } from "../command-line.ts";
import { WORD_MODELS, writeReactionModel } from "../policy/reaction-file.ts";
import { trainCorrections } from "./correction-run.ts";
import { Progress } from "./progress.ts";
import { trainReactions } from "./reaction-run.ts";
import { readSgd } from "./sgd.ts";

const USAGE = `npm run pretrain:reactions -- --sgd <folder> [options]
  --sgd <folder>    SGD data, compact or an upstream checkout
  --model <name>    reaction for what words say of an answer (default), correction for whether words around a value correct a call
  --out <folder>    of the base, default base
  --examples <n>    default 60000
  --seed <n>        default 1`;

function main(): void {
  const options = {
    sgd: { type: "string" },
    model: { type: "string", default: "reaction" },
    out: { type: "string", default: "base" },
    examples: { type: "string", default: "60000" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  } as const;
  const { values } = readCommandLine({ options }, USAGE);
  const model = WORD_MODELS.find((each) => each === values.model);
  if (values.help || values.sgd === undefined || model === undefined) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const examples = readCount("--examples", values.examples, USAGE);
  const progress = new Progress({ total: examples, unit: "examples" });
  let average = Number.NaN;
  const train = model === "correction" ? trainCorrections : trainReactions;
  const weights = train(readSgd(values.sgd, "train"), {
    examples,
    seed: Number(values.seed),
    onStep: (done, loss) => {
      average = Number.isNaN(average) ? loss : 0.999 * average + 0.001 * loss;
      progress.show(done, `loss ${average.toFixed(3)}`);
    },
  });
  writeReactionModel(weights, values.out, model);
}

main();
