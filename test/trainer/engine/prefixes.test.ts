/** Keys and values that are kept: those that go on from another's are the same as those read from their start. */
import { expect, it } from "vitest";
import { PrefixStore } from "../../../trainer/engine/prefixes.ts";
import { SessionCache } from "../../../trainer/engine/session-cache.ts";
import { BaseWeights } from "../../../trainer/model/base-weights.ts";
import { initialiseParameters } from "../../../trainer/model/parameters.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, spreadWeights, tinyConfig } from "../tiny.ts";

const random = new Random(1);
const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random.next() * 19));
const config = tinyConfig({ max_position_embeddings: 512 });
const SLOTS = 384;

it("goes on from what begins alike, over and over, and gives what a reading from the start gives", async () => {
  const base = new BaseWeights(config);
  initialiseParameters(base.buffer, { layerCount: config.layerCount, random: new Random(1) });
  base.buffer.load(spreadWeights(base.read()));
  const sessions = new SessionCache({ threads: 1 });
  const parts = { config, base, sessions, byLayer: undefined, compute: "float32" as const };
  // 300 tokens; 160 of them and 60 others; 190 of those and 40 others; and 140, which the first begin with.
  const first = draw(300);
  const second = [...first.slice(0, 160), ...draw(60)];
  const third = [...second.slice(0, 190), ...draw(40)];
  const wanted = [first, second, third, first.slice(0, 140)].map((tokens) => Int32Array.from(tokens));
  const kept = new PrefixStore(parts);
  for (const tokens of wanted) await kept.of([tokens]);
  const found = await kept.of(wanted);
  expect(found.slice(0, 3).map(({ shared }) => shared)).toEqual([0, 160, 190]);
  const slots = { rows: 1, slots: SLOTS };
  for (const [index, tokens] of wanted.entries()) {
    const fresh = new PrefixStore(parts);
    const [alone] = await fresh.of([tokens]);
    const [known] = found.slice(index);
    if (alone === undefined || known === undefined) throw new Error("keys and values expected");
    const [left, right] = [kept.feeds([known], slots), fresh.feeds([alone], slots)];
    expect(Object.keys(left).toSorted()).toEqual(Object.keys(right).toSorted());
    for (const [name, { values }] of Object.entries(left)) {
      const [got, want] = [values, right[name]?.values].map((each) => Float32Array.from(each as Float32Array));
      const seen = (all: Float32Array | undefined): Float32Array =>
        name === "mask" ? (all ?? new Float32Array(0)) : lastSlots(all, tokens.length);
      expect(relativeError(seen(got), seen(want)), `${index} ${name}`).toBeLessThan(1e-5);
    }
  }
  await sessions.close();
});

/** Of [J, P, K] the last slots of each head: those before a row's first token hold whatever was there before, and the mask hides them. */
function lastSlots(all: Float32Array | undefined, count: number): Float32Array {
  const { headDim } = config;
  return Float32Array.from(all ?? []).filter((_, index) => Math.floor(index / headDim) % SLOTS >= SLOTS - count);
}
