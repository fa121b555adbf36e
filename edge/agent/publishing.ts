/** How a version comes to be: its files are looked at, its engine is told, and then its line is flipped, all or nothing. */
import type { Actor } from "../../shared/api.ts";
import { finishedIdOf } from "../../shared/events.ts";
import { type PublishRequest, turnsGiven } from "../../shared/policy.ts";
import { deletedAmong } from "../db/events.ts";
import type { Env } from "../env.ts";
import { checkAdapter } from "./adapter-check.ts";
import type { Deletion } from "./deletion.ts";
import type { EngineLine } from "./engine-line.ts";
import type { Lines } from "./lines.ts";
import { manifestFault, policyDigestOf } from "./manifest.ts";
import type { PersonalLines } from "./personal.ts";
import type { Lost, PublishOutcome } from "./port.ts";
import type { Schedule } from "./schedule.ts";
import type { AgentStore } from "./store.ts";
import { caseIdOf, type Suite } from "./suite.ts";
import type { Weights } from "./weights.ts";

type Parts = {
  readonly env: Pick<Env, "ARTIFACTS" | "DB">;
  readonly store: AgentStore;
  readonly lines: Lines;
  readonly deletion: Deletion;
  readonly suite: Suite;
  readonly personal: PersonalLines;
  readonly engine: EngineLine;
  readonly schedule: Schedule;
  readonly weights: Weights;
};

type Publisher = {
  readonly actor: Actor;
  /** Does what is done under the trainer's lease, or says that it is lost; nothing may be awaited in it. */
  readonly inLease: (flip: () => PublishOutcome) => PublishOutcome | Lost | undefined;
};

export class Publishing {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Undefined where there is no such agent or line. */
  async publish(line: string, request: PublishRequest, publisher: Publisher): Promise<PublishOutcome | Lost | undefined> {
    const { store, lines, schedule, weights } = this.#parts;
    const { parent, manifest, rebuild } = request;
    const agent = store.readAgent();
    const parentVersion = store.readVersion(line, parent);
    if (agent === undefined || lines.read(line) === undefined) return undefined;
    if (parentVersion === undefined) return { status: "refused", reason: `parent: a version of line ${line} expected, got ${parent}` };
    const expected = { agent: agent.name, line, parent, baseDigest: parentVersion.baseDigest };
    const fault = manifestFault(manifest, expected, (eventId) => store.quarantine.isReopened(line, eventId));
    if (fault !== undefined) return { status: "refused", reason: fault };
    const outcome = await weights.claimed(manifest.adapter?.weightsDigest, () => this.#flip(line, request, publisher));
    if (outcome?.status === "published") await schedule.planLook(rebuild);
    return outcome;
  }

  async #flip(line: string, request: PublishRequest, { actor, inLease }: Publisher): Promise<PublishOutcome | Lost | undefined> {
    const { env, store, lines, deletion, suite, personal, engine, schedule } = this.#parts;
    const { manifest, refused, cases, credits, rebuild } = request;
    const check = await checkAdapter(env.ARTIFACTS, manifest, store.engines.isBase(manifest.baseDigest));
    if (check.status !== "fits") return check;
    const policyDigest = await policyDigestOf(manifest.baseDigest, manifest.adapter);
    const unloaded = await engine.preload(line, { manifest, policyDigest, rebuild });
    if (unloaded !== undefined) return unloaded;
    await schedule.planSweep();
    const named = await Promise.all(cases.map(async (each) => ({ ...each, caseId: await caseIdOf(each) })));
    const { times } = deletion;
    const gone = await deletedAmong(env, turnsGiven(manifest).map(finishedIdOf));
    // Asked last, with nothing awaited before the flip: a lease may end while files are read.
    return inLease((): PublishOutcome => {
      // What an update was given may be of a user who was deleted while the update ran, or while that was asked: its trainer reads the log again.
      if (gone.size > 0 || deletion.times !== times) return lines.staleAt(line);
      const flipped = lines.publish(manifest, { policyDigest, actor, refused, rebuild });
      if (flipped.status === "published" && flipped.release !== "refused") suite.learn(line, flipped.version, named);
      if (flipped.status === "published") store.credits.add(flipped.version, manifest, credits);
      if (flipped.status === "published" && flipped.release === "stable") personal.offer(manifest);
      return flipped;
    });
  }
}
