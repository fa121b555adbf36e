/** Whether an answer satisfies a preference is read off the call or the text; what says nothing satisfies nobody. */
import { describe, expect, it } from "vitest";
import { at } from "../../../shared/assert.ts";
import { candidates, type Corpus, drawUsers, scenesOf } from "../../../bench/align/cast.ts";
import {
  asksToConfirm,
  KINDS,
  placeOf,
  type Preference,
  type Reaction,
  reactionTo,
  tellsResult,
  wantedAnswer,
} from "../../../bench/align/preference.ts";
import { fitsContext, readScenes, type Scene } from "../../../bench/align/scenes.ts";
import { breaksRule } from "../../../bench/align/wording.ts";
import { readableCalls } from "../../../shared/speech/calls.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { Random } from "../../../trainer/random.ts";
import { smallSgd } from "./small-sgd.ts";

const sgd = smallSgd();
const { tokenizer, config } = readCheckpoint("base");
const fits = fitsContext(tokenizer, config.contextTokens);
const corpus: Corpus = { sgd, scenes: readScenes(sgd, fits), fits };
const place = { service: "Cafes_1", tool: "FindCafe" };
const first = (preference: Preference): Scene => at(scenesOf(preference, corpus), 0);
const call = (name: string, args: Record<string, unknown>) => ({ calls: [{ name, arguments: args }], text: "" });
const words = (text: string) => ({ calls: [], text });
const judge = (preference: Preference, answer: Parameters<typeof reactionTo>[2]): Reaction =>
  reactionTo(preference, first(preference), answer);

describe("scenes", () => {
  it("leave out what a session would not find room for", () => {
    const fewer = fitsContext(tokenizer, config.contextTokens / 2);
    expect(readScenes(sgd, () => false)).toEqual({ calls: [], confirmations: [], replies: [] });
    const long = { ...at(corpus.scenes.calls, 0), result: "A café with a view. ".repeat(60) };
    expect([fits(at(corpus.scenes.calls, 0)), fits(long), fewer(long)]).toEqual([true, true, false]);
  });

  it("are the first call, the first question whether all is right before a transaction, and the reply to a search", () => {
    const { calls, confirmations, replies } = corpus.scenes;
    expect([calls.length, confirmations.length, replies.length]).toEqual([16, 16, 16]);
    expect(at(calls, 0).messages.at(-1)).toEqual({ role: "user", content: "A café in Lima, please." });
    expect(at(confirmations, 0)).toMatchObject({ reply: "So three at Aurora?", call: { name: "BookTable", arguments: { seats: "3" } } });
    expect(at(replies, 0).messages.at(-1)).toMatchObject({ role: "tool" });
  });
});

describe("a default", () => {
  const wish: Preference = { kind: "default", ...place, parameter: "terrace", value: "True" };

  it("is honoured by a call with the value alone", () => {
    expect(judge(wish, call("FindCafe", { city: "Lima", terrace: "True" }))).toBe("honoured");
    expect(judge(wish, call("FindCafe", { city: "Lima", terrace: "False" }))).toBe("violated");
    expect(judge(wish, call("FindCafe", { city: "Lima" }))).toBe("violated");
  });

  it("is not honoured by words, by another tool, by a call that breaks its schema, or by two calls of which one has it", () => {
    expect(judge(wish, words("A café with terrace: True."))).toBe("elsewhere");
    expect(judge(wish, call("BookTable", { cafe_name: "Aurora", seats: "2" }))).toBe("elsewhere");
    expect(judge(wish, call("FindCafe", { terrace: "True" }))).toBe("elsewhere");
    const both = [{ city: "Lima", terrace: "True" }, { city: "Lima" }].map((args) => ({ name: "FindCafe", arguments: args }));
    expect(judge(wish, { calls: both, text: "" })).toBe("violated");
  });

  it("shows only where nobody has spoken of the argument", () => {
    expect(scenesOf({ kind: "default", ...place, parameter: "seats", value: "3" }, corpus)).toHaveLength(8);
    expect(scenesOf(wish, corpus)).toHaveLength(16);
  });
});

describe("a value that is never wanted", () => {
  const wish: Preference = { kind: "never", ...place, parameter: "seats", value: "1" };

  it("is used where it is left to the schema's default, too", () => {
    expect(judge(wish, call("FindCafe", { city: "Lima", seats: "1" }))).toBe("violated");
    expect(judge(wish, call("FindCafe", { city: "Lima" }))).toBe("violated");
    expect(judge(wish, call("FindCafe", { city: "Lima", seats: "2" }))).toBe("honoured");
  });

  it("is not avoided by a call that leaves the argument out where there is no default", () => {
    expect(judge({ ...wish, parameter: "terrace", value: "True" }, call("FindCafe", { city: "Lima" }))).toBe("violated");
  });
});

describe("confirmation", () => {
  const always: Preference = { kind: "confirm", service: "Cafes_1", tool: "BookTable", wish: "always" };
  const never: Preference = { ...always, wish: "never" };
  const booked = call("BookTable", { cafe_name: "Aurora", seats: "3" });
  const asked = words("Three at Aurora, is that right?");

  it("is a question that repeats what the call would have, and no call", () => {
    expect([judge(always, asked), judge(always, booked)]).toEqual(["honoured", "violated"]);
    expect([judge(never, asked), judge(never, booked)]).toEqual(["violated", "honoured"]);
    expect(judge(always, { ...booked, text: asked.text })).toBe("violated");
  });

  it("is no question about something else, and no statement", () => {
    for (const text of ["Anything else?", "At which café?", "", "A table at Aurora."]) expect(judge(always, words(text))).toBe("elsewhere");
    expect(asksToConfirm("Please confirm: Aurora.", first(always))).toBe(true);
  });
});

describe("wording", () => {
  const wish = (rule: Extract<Preference, { kind: "wording" }>["rule"]): Preference => ({ kind: "wording", ...place, rule });

  it("counts only in a reply that tells what was found", () => {
    const brief = wish({ name: "brief", words: 4 });
    expect(judge(brief, words("How about Aurora?"))).toBe("honoured");
    expect(judge(brief, words("I have found you Aurora in Lima."))).toBe("violated");
    for (const text of ["", "Sure.", "42", "It is done.", "Bellini?"]) expect(judge(brief, words(text))).toBe("elsewhere");
    expect(judge(brief, { ...call("FindCafe", { city: "Lima" }), text: "Aurora?" })).toBe("elsewhere");
  });

  it("asks nothing, calls the user by name, or tells how many there are", () => {
    expect([judge(wish({ name: "statement" }), words("There is Aurora.")), judge(wish({ name: "statement" }), words("Aurora?"))]).toEqual([
      "honoured",
      "violated",
    ]);
    const addressed = wish({ name: "addressed", as: "Dr Okafor" });
    expect([judge(addressed, words("Dr Okafor, there is Aurora.")), judge(addressed, words("There is Aurora."))]).toEqual([
      "honoured",
      "violated",
    ]);
    const counted = wish({ name: "counted" });
    expect([judge(counted, words("I found four, Aurora is one.")), judge(counted, words("Aurora in Lima?"))]).toEqual([
      "honoured",
      "violated",
    ]);
  });

  it("takes a number for the count only where it stands alone", () => {
    const result = { count: 4, results: [] };
    const broken = ["4:30 at Aurora", "Aurora costs $4", "Aurora has 4 stars", "14 Main Street", "4.5 km", "May 4-5"];
    expect(broken.filter((text) => !breaksRule({ name: "counted" }, { text, result }))).toEqual([]);
    for (const text of ["I found 4 cafés.", "4 matches.", "There are four.", "Of 4, Aurora"])
      expect(breaksRule({ name: "counted" }, { text, result })).toBe(false);
  });

  it("a result is told by a name of it, not by a truth value", () => {
    expect(tellsResult("True", first(wish({ name: "statement" })).result)).toBe(false);
    expect(tellsResult("Aurora", first(wish({ name: "statement" })).result)).toBe(true);
  });
});

describe("one of two tools", () => {
  const wish: Preference = { kind: "tool", service: "Cafes_1", tool: "SearchCafes", instead: "FindCafe", twin: "v1" };

  it("is the one that is called, with the other one at hand", () => {
    expect(first(wish).tools.map((tool) => tool.function.name)).toEqual(["FindCafe", "BookTable", "SearchCafes"]);
    expect(judge(wish, call("SearchCafes", { city_b: "Lima" }))).toBe("honoured");
    expect(judge(wish, call("FindCafe", { city: "Lima" }))).toBe("violated");
    expect(judge(wish, call("SearchCafes", { city: "Lima" }))).toBe("elsewhere");
  });
});

describe("every preference that can be drawn", () => {
  const drawn = candidates(corpus, new Random(1));

  it("is of every kind, and satisfied by the answer that its user would have given", () => {
    for (const kind of KINDS) {
      expect(drawn[kind].length, kind).toBeGreaterThan(0);
      for (const preference of drawn[kind])
        for (const scene of scenesOf(preference, corpus)) {
          const wanted = wantedAnswer(preference, scene, "call_1");
          expect(reactionTo(preference, scene, { calls: readableCalls(wanted), text: wanted.content ?? "" })).toBe("honoured");
        }
    }
  });

  it("is violated by the base where a user is drawn, and nobody wants what another one who shares the policy does", async () => {
    const ask = async (requests: readonly { tools: Scene["tools"]; messages: Scene["messages"] }[]) =>
      requests.map(({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? words("Aurora in Lima? It has a terrace, and people say that it is lovely.")
          : call("FindCafe", { city: "Lima" }),
      );
    const users = await drawUsers(corpus, { count: 2, ask, random: new Random(1) });
    const places = users.flatMap(({ preferences }) => preferences.map(placeOf));
    expect(new Set(places).size).toBe(places.length);
    // The base calls at once where the data asks first, and its replies are all of one kind: neither is anything to ask for.
    expect(users.flatMap(({ preferences }) => preferences).filter(({ kind }) => kind === "confirm")).toEqual([]);
  });

  it("needs somebody to want it", async () => {
    const perfect = async (requests: readonly unknown[]) => requests.map(() => words(""));
    await expect(drawUsers(corpus, { count: 1, ask: perfect, random: new Random(1) })).rejects.toThrow(
      "user 1: a preference that the base violates expected",
    );
  });
});
