/** A unit over HTTP, with the shipped base: what is said is heard, what is only asked aside is not, and nobody is taught by an arm that does not learn. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { BarePolicy } from "../../../bench/align/bare.ts";
import type { User } from "../../../bench/align/cast.ts";
import { UnitResult, type UnitName } from "../../../bench/align/records.ts";
import { fitsContext, readScenes } from "../../../bench/align/scenes.ts";
import { runUnit, type Stage } from "../../../bench/align/unit.ts";
import { ownCorrections } from "../../../bench/align/voice.ts";
import { SteppedSystem } from "../../../bench/sim/stepped.ts";
import { smallSgd } from "./small-sgd.ts";

const CAP = 3;
const LONGEST_MS = 300_000; // on a machine with much other work
const user: User = {
  name: "user-1",
  preferences: [{ kind: "default", service: "Cafes_1", tool: "FindCafe", parameter: "seats", value: "3" }],
};

let system: SteppedSystem;
let stage: Stage;

beforeAll(async () => {
  const sgd = smallSgd();
  system = await SteppedSystem.start("base", { threads: 1 });
  const key = system.edge.keys.client;
  const bare = await BarePolicy.open(system, key);
  const fits = fitsContext(system.base.tokenizer, system.base.config.contextTokens);
  stage = { system, corpus: { sgd, scenes: readScenes(sgd, fits), fits }, own: ownCorrections(sgd), bare, cap: CAP, key };
});

afterAll(() => system.close());

const unitOf = (arm: UnitName["arm"]): UnitName => ({ arm, sharing: 1, group: 0, seed: 0 });
const eventsOf = async (agent: string, kind: string): Promise<number> => {
  const db = await system.edge.getD1();
  const row = db.prepare("SELECT count(*) AS count FROM events WHERE agent = ? AND kind = ?").bind(agent, kind);
  return (await row.first<number>("count")) ?? 0;
};

it(
  "without learning leaves no trace, and ends as it began",
  async () => {
    const result = UnitResult.parse(await runUnit(stage, unitOf("none"), [user]));
    expect(result.tracks[0]?.sessions).toHaveLength(CAP);
    expect(result.after).toEqual(result.before);
    expect(await eventsOf("bare", "turn:finished")).toBe(0);
  },
  LONGEST_MS,
);

it(
  "with hints has each objection judged before the next session, and no version",
  async () => {
    const result = UnitResult.parse(await runUnit(stage, unitOf("hints"), [user]));
    const [track] = result.tracks;
    // The same first answer as without learning: arms differ in what they learn alone.
    const none = await runUnit(stage, unitOf("none"), [user]);
    expect(track?.sessions[0]).toBe(none.tracks[0]?.sessions[0]);
    const agent = "hints-1-0-0";
    const objected = track?.manners.length ?? 0;
    expect(await eventsOf(agent, "judgement:made")).toBeGreaterThanOrEqual(objected);
    const { stable } = z.object({ stable: z.number() }).parse(await system.port.readHead({ agent, line: "shared" }));
    expect([stable, result.updates.learned]).toEqual([0, 0]);
  },
  LONGEST_MS,
);
