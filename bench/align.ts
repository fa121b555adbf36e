/**
 * `npm run bench:align -- --sgd <folder> --split dev|test --out <file>`: sessions until simulated users have their way, for each way of
 * learning, over HTTP. Goes on where it stopped (`--resume`), unit by unit; writes the table and the curves of the README, and what stands behind them in docs/measured.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../trainer/command-line.ts";
import { z } from "zod";
import { readBase } from "../cli/base-files.ts";
import { FREE_FORM } from "../shared/grammar/answer-form.ts";
import { readAnswer } from "../trainer/teacher/answer-text.ts";
import type { Sgd } from "../trainer/pretrain/sgd.ts";
import { Random } from "../trainer/random.ts";
import { ARM_NAMES, armOf, type ArmName, MAIN_ARMS } from "./align/arms.ts";
import { BarePolicy } from "./align/bare.ts";
import { bars } from "./align/bars.ts";
import { type AskBase, type Corpus, drawUsers, SHARING_USERS, type User } from "./align/cast.ts";
import { curvesSvg } from "./align/curves.ts";
import { addUnit, beginRecords, type Header, readRecords, type Records, unitKey, type UnitName } from "./align/records.ts";
import { KINDS, type PreferenceKind } from "./align/preference.ts";
import { fitsContext, readScenes } from "./align/scenes.ts";
import { armFigures, COMPARED, curve, difference, inARow, measuredArms, perUser } from "./align/statistics.ts";
import { detailText, headlineText, MARKS, SHARINGS } from "./align/table.ts";
import { runUnit, type Stage } from "./align/unit.ts";
import { ownCorrections } from "./align/voice.ts";
import { report, say } from "./bench.ts";
import { replaceBetween } from "./marked-text.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { SteppedSystem } from "./sim/stepped.ts";

const ANSWER_TOKENS = 112;
const [USERS, SEEDS, CAP] = ["21", "3", "40"]; // what is asked for
const PICTURE = fileURLToPath(new URL("../docs/images/align.svg", import.meta.url));
const README = fileURLToPath(new URL("../README.md", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/measured.md", import.meta.url));
const MORE = [
  "--out <file> [--resume]",
  "[--users 21] [--seeds 3]",
  "[--arms …|all]",
  "[--sharing 1,3]",
  "[--cap 40]",
  "[--kinds default,never,…]",
  "[--minutes 25]",
  "[--write]",
  "[--verbose]",
];

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    /** Where units are written, one a line. */
    out: { type: "string" },
    resume: { type: "boolean", default: false },
    users: { type: "string", default: USERS },
    seeds: { type: "string", default: SEEDS },
    arms: { type: "string", default: MAIN_ARMS.join() },
    sharing: { type: "string", default: "1,3" },
    cap: { type: "string", default: CAP },
    /** Of preferences; a run of some alone shows those, and is no table. */
    kinds: { type: "string", default: KINDS.join() },
    /** No unit is begun after so long; one that was begun is finished. */
    minutes: { type: "string", default: "25" },
    /** Writes table and curves into README and docs/. */
    write: { type: "boolean", default: false },
    /** Says every first answer, what was said to it, and all that the trainer does. */
    verbose: { type: "boolean", default: false },
  },
});

const Asked = z.object({
  users: z.coerce.number().int().min(SHARING_USERS),
  seeds: z.coerce.number().int().min(1),
  arms: z.preprocess((text) => (text === "all" ? [...ARM_NAMES] : String(text).split(",")), z.array(z.enum(ARM_NAMES)).min(1)),
  sharing: z.preprocess((text) => String(text).split(",").map(Number), z.array(z.union(SHARINGS.map((each) => z.literal(each)))).min(1)),
  cap: z.coerce.number().int().min(3),
  kinds: z.preprocess((text) => String(text).split(","), z.array(z.enum(KINDS as [PreferenceKind, ...PreferenceKind[]])).min(1)),
  minutes: z.coerce.number().min(0),
});
type Asked = z.infer<typeof Asked>;

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:align", MORE);
  if (sgd === undefined) return;
  const { out } = options;
  if (out === undefined) throw new Error("--out: a file to write units to expected, got none");
  const asked = Asked.parse(options);
  const { digest } = await readBase(options.base);
  const draw = Number(options.seed);
  const conditions: Header["conditions"] = {
    split: options.split,
    base: digest,
    cap: asked.cap,
    draw,
    users: asked.users,
    kinds: asked.kinds,
  };
  const found = readRecords(out, conditions);
  if (found !== undefined && !options.resume)
    throw new Error(`${out}: a new file expected, got one with ${found.units.length} units; --resume goes on with it`);
  const done = new Set(found?.units.map(unitKey));
  const open = unitsOf(asked).filter((unit) => !done.has(unitKey(unit)));
  say(`${done.size} units measured, ${open.length} to go`);
  const idle = found !== undefined && (open.length === 0 || asked.minutes === 0);
  summarise(idle ? found : await measure({ out, sgd, conditions, found, open }, asked), asked);
}

type Work = {
  readonly out: string;
  readonly sgd: Sgd;
  readonly conditions: Header["conditions"];
  readonly found: Records | undefined;
  readonly open: readonly UnitName[];
};

async function measure({ out, sgd, conditions, found, open }: Work, { cap, users: count, minutes }: Asked): Promise<Records> {
  const started = performance.now();
  const system = await SteppedSystem.start(options.base, { threads: Number(options.threads) });
  try {
    const fits = fitsContext(system.base.tokenizer, system.base.config.contextTokens);
    const corpus: Corpus = { sgd, scenes: readScenes(sgd, fits), fits };
    const draw = { count, ask: baseAsker(system), random: new Random(conditions.draw), kinds: conditions.kinds };
    const header = found?.header ?? { align: 1, conditions, users: await drawUsers(corpus, draw) };
    if (found === undefined) beginRecords(out, header);
    const key = system.edge.keys.client;
    const told = options.verbose ? { tell: say } : {};
    const stage: Stage = { system, corpus, own: ownCorrections(sgd), bare: await BarePolicy.open(system, key), cap, key, ...told };
    const units = [...(found?.units ?? [])];
    for (const unit of open) {
      if (performance.now() - started > minutes * 60_000) break;
      const result = await runUnit(stage, unit, usersOf(header.users, unit));
      addUnit(out, result);
      units.push(result);
      const outcome = result.tracks.map((track) => `${track.preference}: ${inARow(track.sessions) ?? "not"} (${marks(track.sessions)})`);
      say(`${unitKey(unit)}: ${outcome.join("; ")}; ${result.updates.learned} updates, ${Math.round(result.seconds)} s`);
      for (const reason of result.updates.reasons) say(`  refused: ${reason}`);
    }
    return { header, units };
  } finally {
    await system.close();
  }
}

/** The base's own greedy answers, in batches, without a wire. */
function baseAsker({ base, engine }: SteppedSystem): AskBase {
  const { tokenizer } = base;
  return async (requests) => {
    const prompts = requests.map(({ messages, tools }) =>
      Int32Array.from(tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true })),
    );
    const forms = requests.map(({ tools }) => ({ tools, form: FREE_FORM }));
    const generated = await engine.generate({
      prompts,
      forms,
      maxTokens: ANSWER_TOKENS,
      stopTokens: tokenizer.endIds,
      temperature: 0,
      seed: 0,
    });
    return generated.map(({ tokens }) => readAnswer(tokenizer, [...tokens]));
  };
}

/** Arm after arm on the same users and seed, so that what has been measured when time is up can be compared. */
function unitsOf({ users, seeds, arms, sharing }: Asked): UnitName[] {
  return Array.from({ length: seeds }, (_, seed) =>
    sharing.flatMap((each) =>
      Array.from({ length: Math.floor(users / each) }, (__, group) =>
        arms.map((arm): UnitName => ({ arm, sharing: each, group, seed })),
      ).flat(),
    ),
  ).flat();
}

function usersOf(users: readonly User[], { sharing, group }: UnitName): User[] {
  return users.slice(group * sharing, (group + 1) * sharing);
}

function marks(sessions: readonly string[]): string {
  return sessions.map((each) => (each === "honoured" ? "+" : each === "violated" ? "-" : "o")).join("");
}

function summarise(records: Records, asked: Asked): void {
  const { units } = records;
  const { cap } = asked;
  const of = (arm: ArmName, sharing: number) => units.filter((unit) => unit.arm === arm && unit.sharing === sharing);
  const figures = SHARINGS.flatMap((sharing) =>
    measuredArms(units).flatMap((arm) => {
      const own = of(arm, sharing);
      return own.length === 0 ? [] : [{ arm, sharing, ...armFigures(own, cap), perUser: own.flatMap((unit) => perUser(unit, cap)) }];
    }),
  );
  if (options.write) {
    const sizes = `--users ${asked.users} --seeds ${asked.seeds} --cap ${cap}`;
    const command = `npm run bench:align -- --sgd <folder> --split ${options.split} --out <file> ${sizes} --resume --write`;
    const headline = headlineText(records, {
      asked: `${MAIN_ARMS.length} arms, ${USERS} users, ${SEEDS} seeds, ${CAP} sessions, alone and in threes`,
      picture: relative(dirname(README), PICTURE),
      command,
    });
    writeFileSync(README, replaceBetween(readFileSync(README, "utf8"), headline, MARKS));
    writeFileSync(PAGE, replaceBetween(readFileSync(PAGE, "utf8"), detailText(records), MARKS));
    writeFileSync(PICTURE, curvesSvg(SHARINGS.map((sharing) => panelOf(records, sharing, cap)).filter(({ curves }) => curves.length > 0)));
    say(`wrote ${[README, PAGE, PICTURE].map((file) => relative(process.cwd(), file)).join(", ")}`);
  }
  report({
    bench: "align",
    conditions: {
      ...{ split: options.split, base: options.base, baseDigest: records.header.conditions.base, draw: Number(options.seed) },
      ...{
        users: asked.users,
        seeds: asked.seeds,
        cap,
        kinds: asked.kinds.join(),
        arms: asked.arms.join(),
        sharing: asked.sharing.join(),
        threads: Number(options.threads),
      },
      units: units.length,
      unitsAsked: unitsOf(asked).length,
      subset: units.length < unitsOf(asked).length,
      path: "over HTTP through the edge in workerd; the trainer's own loop, stepped after every session",
      history: "each session begins with the data's own turns up to where the preference shows",
    },
    figures: {
      arms: figures,
      differences: SHARINGS.flatMap((sharing) =>
        COMPARED.map(({ arm, than }) => ({ arm, than, sharing, fewerSessions: difference(units, { arm, than, sharing, cap }) })).filter(
          ({ fewerSessions }) => fewerSessions.count > 0,
        ),
      ),
    },
    bars: bars(units, { users: asked.users, seeds: asked.seeds, cap }),
  });
}

function panelOf({ units }: Records, sharing: number, cap: number) {
  const own = units.filter((unit) => unit.sharing === sharing);
  return {
    title: sharing === 1 ? "One user on a policy" : "Three users on one policy",
    curves: measuredArms(own).map((arm) => {
      const mine = own.filter((unit) => unit.arm === arm);
      return {
        name: armOf(arm).says,
        shares: curve(
          mine.flatMap(({ tracks }) => tracks),
          cap,
        ),
      };
    }),
  };
}

await main();
