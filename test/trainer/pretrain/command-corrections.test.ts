/** How somebody corrects a call of their own service: what every correction holds, and in how many ways it is said. */
import { describe, expect, it } from "vitest";
import { drawCorrection } from "../../../trainer/pretrain/command-corrections.ts";
import { placesIn, readCommandServices } from "../../../trainer/pretrain/command-services.ts";
import { withAside } from "../../../trainer/pretrain/remark-words.ts";
import { Random } from "../../../trainer/random.ts";

const random = new Random(7);
const drawn = Array.from({ length: 2_000 }, () => {
  const service = random.pick(readCommandServices());
  const slot = random.pick(Object.keys(service.corrections));
  return { service, slot, said: drawCorrection(service, slot, "wrong one", random) };
});

describe("drawCorrection", () => {
  it("has a place for the value of its slot and for nothing else", () => {
    const said = drawn.filter((each) => each.said !== undefined);
    expect(said.length).toBeGreaterThan(1_500);
    expect(said.filter(({ slot, said: text }) => placesIn(text ?? "").some((place) => place !== slot))).toEqual([]);
    expect(said.filter(({ said: text }) => placesIn(text ?? "").length === 0)).toEqual([]);
  });

  it("is said in the service's words, and as often in words that name no argument", () => {
    const own = drawn.filter(({ service, slot, said }) => service.corrections[slot]?.some((text) => said?.includes(text)));
    expect(own.length / drawn.length).toBeGreaterThan(0.4);
    expect(own.length / drawn.length).toBeLessThan(0.8);
  });

  it("names what was wrong now and then, but no day or time as it is passed", () => {
    const named = drawn.filter(({ said }) => said?.includes("wrong one"));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ service, slot }) => service.values[slot]?.some((value) => value === "@date" || value === "@time"))).toEqual([]);
  });
});

describe("withAside", () => {
  it("keeps the correction whole beside a remark that holds no value", () => {
    const texts = Array.from({ length: 200 }, () => withAside("no, {room}", random));
    expect(texts.every((text) => text.includes("no, {room}") && text.length > "no, {room}".length + 3)).toBe(true);
    expect(texts.some((text) => text.startsWith("no, {room}"))).toBe(true);
    expect(texts.flatMap(placesIn).every((place) => place === "room")).toBe(true);
  });
});
