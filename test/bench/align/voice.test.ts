/** What users say: in four manners, never a word of the preference where they only ask again, and the data's own words where it has any. */
import { describe, expect, it } from "vitest";
import type { Preference } from "../../../bench/align/preference.ts";
import { drawManner, objection, ownCorrections } from "../../../bench/align/voice.ts";
import { ARMS, armOf, hearing, settingsOf } from "../../../bench/align/arms.ts";
import { AgentSettings } from "../../../shared/agent.ts";
import type { Signal } from "../../../trainer/data/exchange.ts";
import type { Verdict } from "../../../trainer/judge/judge.ts";
import { Random } from "../../../trainer/random.ts";
import { smallSgd } from "./small-sgd.ts";

const scene = { messages: [{ role: "user", content: "A café in Lima, please." }] } as const;
const wish: Preference = { kind: "default", service: "Cafes_1", tool: "FindCafe", parameter: "seats", value: "3" };
const many = (preference: Preference, own = new Map<string, string[]>()) => {
  const random = new Random(1);
  return Array.from({ length: 400 }, () => objection(preference, { scene, own, random }));
};

describe("an objection", () => {
  it("is plain in half of all cases, and else polite, indirect, or the request once more", () => {
    const random = new Random(1);
    const drawn = Array.from({ length: 4_000 }, () => drawManner(random));
    const share = (manner: string) => drawn.filter((each) => each === manner).length / drawn.length;
    expect(Math.abs(share("plain") - 0.5)).toBeLessThan(0.03);
    expect(Math.abs(share("again") - 0.1)).toBeLessThan(0.03);
  });

  it("names the value unless it only asks again, and then repeats the request", () => {
    for (const { manner, text } of many(wish)) {
      expect(text).not.toMatch(/[{}]/);
      if (manner === "again") expect(text).toMatch(/A café in Lima, please\.$/);
      else expect(text).toMatch(/3|three/);
    }
  });

  it("has no gaps left whatever it is about", () => {
    const place = { service: "Cafes_1", tool: "FindCafe" };
    const others: Preference[] = [
      { kind: "never", ...place, parameter: "terrace", value: "False" },
      { kind: "confirm", ...place, wish: "always" },
      { kind: "confirm", ...place, wish: "never" },
      { kind: "wording", ...place, rule: { name: "brief", words: 8 } },
      { kind: "wording", ...place, rule: { name: "addressed", as: "Dr Okafor" } },
      { kind: "tool", ...place, instead: "SearchCafes", twin: "v1" },
    ];
    expect(others.flatMap((preference) => many(preference)).filter(({ text }) => /[{}]/.test(text))).toEqual([]);
  });

  it("is in the words of the data's own users where they took back the same argument", () => {
    const own = ownCorrections(smallSgd());
    expect([...own.keys()]).toEqual(["Cafes_1.seats"]);
    expect(new Set(own.get("Cafes_1.seats"))).toEqual(new Set(["No, make that {value}."]));
    expect(many(wish, new Map(own) as never).some(({ text }) => /^No, make that (3|three)\.$/.test(text))).toBe(true);
  });
});

describe("arms", () => {
  it("are settings that an agent takes", () => {
    for (const arm of Object.values(ARMS))
      for (const scope of ["shared", "personal"] as const) expect(AgentSettings.parse(settingsOf(arm, scope)).learning.scope).toBe(scope);
    expect(AgentSettings.parse(settingsOf(armOf("binary"), "shared")).learning.signals.rewards).toBe("outcome");
  });

  it("hear rewards alone, hints alone, or the judge as it is", async () => {
    const hint = { text: "seats should be 3.", hint: { parameter: "seats", value: "3" }, toolName: "FindCafe" };
    const verdict: Verdict = { judge: "embedded", reward: -1, votes: [-1], detail: "", hint };
    const judge = { judge: async () => verdict };
    const heard = async (hears: "all" | "rewards" | "hints") => hearing(hears, judge).judge({} as Signal, { votes: 1, seed: 0 });
    expect(await heard("all")).toBe(verdict);
    expect(await heard("rewards")).toEqual({ judge: "embedded", reward: -1, votes: [-1], detail: "" });
    expect(await heard("hints")).toEqual({ ...verdict, reward: 0 });
    expect(await hearing("hints", { judge: async () => undefined }).judge({} as Signal, { votes: 1, seed: 0 })).toBeUndefined();
  });
});
