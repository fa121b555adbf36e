/** Which argument a user means who names none. The model of corrections is the test's own: the same for all words. */
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../../shared/chat.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { findFit } from "../../../trainer/judge/fit.ts";
import { call, signalOf, user } from "../hotel.ts";

const MAIL: ToolDefinition = {
  type: "function",
  function: {
    name: "send_email",
    parameters: {
      properties: { to: { type: "string" }, subject: { type: "string" }, copy_me: { type: "boolean" }, copies: { type: "integer" } },
    },
  },
};
const FORWARD: ToolDefinition = {
  type: "function",
  function: { name: "forward_email", parameters: { properties: { id: { type: "string" } } } },
};
const MAKE: ToolDefinition = {
  type: "function",
  function: { name: "make_folder", parameters: { properties: { id: { type: "string" } } } },
};
const SENT = { to: "Jonas", subject: "Meeting", copy_me: false, copies: 1 };
const CHANCE = 0.3;

const sampler = {
  corrections: { logProbs: () => [Math.log(CHANCE), Math.log(0.4), Math.log(0.3)] },
  score: async (_: unknown, answers: readonly string[]) => answers.map((answer) => -answer.length),
} as unknown as JobSampler;

async function fitIn(said: string, asked = "Send the mail, please.", held: Record<string, unknown> = {}): Promise<unknown> {
  const fit = await findFit(
    signalOf(call("send_email", { ...SENT, ...held }), [user(said)], user(asked), { tools: [MAIL, FORWARD, MAKE] }),
    sampler,
  );
  return fit && [fit.found.hint.parameter, fit.found.hint.value, fit.told, fit.chance];
}

describe("findFit", () => {
  it("takes a longer name for the argument that had a part of it, whoever had named that", async () => {
    const told = ["to", "Jonas Weber", "old", expect.closeTo(CHANCE)];
    expect(await fitIn("Jonas Weber, not Jonas Klein.")).toEqual(told);
    // It is of no other argument because nothing is learned of this one.
    expect(await fitIn("Jonas Weber, not Jonas Klein.", "Send Jonas the mail.")).toEqual(told);
  });

  it("takes a name with more in it for the argument that had the shorter one", async () => {
    expect(await fitIn("Jonas Karl Weber!", "Send the mail.", { to: "Jonas Weber" })).toEqual([
      "to",
      "Jonas Karl Weber",
      "old",
      expect.closeTo(CHANCE),
    ]);
  });

  it("leaves what is said of another tool, whose verb the words open with", async () => {
    expect(await fitIn("Just forward it to Anna.")).toBeUndefined();
    // Anything is got, made and set: such verbs tell no tool.
    expect(await fitIn("Make it Anna.")).toEqual(["to", "Anna", "alone", expect.closeTo(CHANCE)]);
    expect(await fitIn("To Anna.")).toEqual(["to", "Anna", "alone", expect.closeTo(CHANCE)]);
  });

  it("knows words that are an option and nothing else", async () => {
    const service = { type: "string", enum: ["economy", "express", "great", "morning"] };
    const tools = [{ ...MAIL, function: { name: "send_email", parameters: { properties: { service } } } }];
    const saysNoMore = async (said: string): Promise<unknown> => {
      const fit = await findFit(signalOf(call("send_email", { service: "economy" }), [user(said)], user("Send it."), { tools }), sampler);
      return fit && [fit.found.hint.value, fit.saysNoMore];
    };
    expect(await saysNoMore("Express.")).toEqual(["express", true]);
    expect(await saysNoMore("  express, please!")).toEqual(["express", true]);
    for (const said of ["Express mail is quick", "Express, thanks!", "Express?"])
      expect(await saysNoMore(said)).toEqual(["express", false]);
    expect(await saysNoMore("Great!")).toEqual(["great", false]);
    expect(await saysNoMore("Morning!")).not.toEqual(["morning", true]);
  });

  it("takes a number for a text that has none yet where the number is given by its name", async () => {
    const tools = [
      { ...MAIL, function: { name: "find_song", parameters: { properties: { year: { type: "string" }, genre: { type: "string" } } } } },
    ];
    const heard = async (said: string): Promise<unknown> => {
      const fit = await findFit(signalOf(call("find_song", {}), [user(said)], user("Find me a song."), { tools }), sampler);
      return fit && [fit.found.hint.parameter, fit.found.hint.value];
    };
    for (const said of [
      "Could you redo this using 2010 for year?",
      "This isn't it. My choice of year is 2010.",
      "Oops, year needs fixing: 2010.",
    ])
      expect(await heard(said), said).toEqual(["year", "2010"]);
    expect(await heard("It came out before 2010.")).toBeUndefined();
    expect(await heard("Regarding the genre, go with 24 Hour Jazz.")).toEqual(["genre", "24 Hour Jazz"]);
  });

  it("hears one as a number where something is done with it", async () => {
    const told = ["copies", "1", "whole", expect.closeTo(CHANCE)];
    expect(await fitIn("Could you redo this using one for copies?", "Send the mail, please.", { copies: 3 })).toEqual(told);
    expect(await fitIn("Not the copies, the other one.", "Send the mail, please.", { copies: 3 })).toBeUndefined();
  });

  it("is sure of a truth that is answered in one word", async () => {
    expect(await fitIn("copy me: yes")).toEqual(["copy_me", "True", "whole", 1]);
    expect(await fitIn("I would like to get a copy me")).toEqual(["copy_me", "True", "whole", expect.closeTo(CHANCE)]);
  });
});
