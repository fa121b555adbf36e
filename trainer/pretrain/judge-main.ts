/** `npm run pretrain:judge -- --sgd <folder> --adapter judge|wish`: trains an adapter under which a base judges, and writes it beside that base. */
import { failWith, readCommandLine, readCount, readRate } from "../command-line.ts";
import { JUDGE_ADAPTERS } from "../policy/judge-adapter.ts";
import { DEVICE_USAGE, readDevice } from "./device-option.ts";
import { trainJudge } from "./judge-run.ts";
import { Progress } from "./progress.ts";
import { readSgd } from "./sgd.ts";

const USAGE = `npm run pretrain:judge -- --sgd <folder> --adapter judge|wish [options]
  --adapter <name>  judge for verdicts and hints, wish for whether the user wants to be asked
  --sgd <folder>    SGD data, compact or an upstream checkout
  --base <folder>   the checkpoint that is to judge, default base
  --from <folder>   go on from the adapter beside another base, whose rank it keeps
  --out <folder>    where the adapter is written, default the base's folder
  --tokens <n>      tokens of this run, default 3000000
  --rank <n>        default 32
  --rate <factor>   on the learning rate, default 1
  --threads <n>     default 2
  ${DEVICE_USAGE}
  --seed <n>        default 1`;

async function main(): Promise<void> {
  const { values } = readCommandLine(
    {
      options: {
        sgd: { type: "string" },
        adapter: { type: "string" },
        base: { type: "string", default: "base" },
        from: { type: "string" },
        out: { type: "string" },
        tokens: { type: "string", default: "3000000" },
        rank: { type: "string", default: "32" },
        rate: { type: "string", default: "1" },
        threads: { type: "string", default: "2" },
        device: { type: "string", default: "cpu" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", default: false },
      },
    },
    USAGE,
  );
  const adapter = JUDGE_ADAPTERS.find((each) => each === values.adapter);
  if (values.help || values.sgd === undefined || adapter === undefined) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  // Before the data is read, which takes a while.
  const numbers = {
    runTokens: readCount("--tokens", values.tokens, USAGE),
    rank: readCount("--rank", values.rank, USAGE),
    rate: readRate("--rate", values.rate, USAGE),
    threads: readCount("--threads", values.threads, USAGE),
    seed: readCount("--seed", values.seed, USAGE, { least: 0 }),
  };
  const device = await readDevice(values.device, USAGE);
  const progress = new Progress({ total: numbers.runTokens, done: 0 });
  let average = Number.NaN;
  await trainJudge({
    sgd: readSgd(values.sgd, "train"),
    adapter,
    base: values.base,
    from: values.from,
    out: values.out ?? values.base,
    ...numbers,
    device,
    onStep: ({ step, done, loss, factor }) => {
      average = Number.isNaN(average) ? loss : 0.95 * average + 0.05 * loss;
      progress.show(done, `step ${step}, loss ${average.toFixed(3)}, rate ×${factor.toFixed(2)}`);
    },
  });
}

await main().catch((error: unknown) => failWith(error));
