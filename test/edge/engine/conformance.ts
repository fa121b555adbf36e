/** What every engine must do behind the edge, over real HTTP and in real workerd: one suite, a run per engine. */
import { describe, expect, it } from "vitest";
import type { EngineCapabilities } from "../../../shared/engine.ts";
import type { TurnFinished } from "../../../shared/events.ts";
import { call, putAgent } from "../../helpers/call.ts";
import type { EdgeHost } from "../../../cli/edge-host.ts";
import { readStream, says, talkTo, turnsOf } from "../session/talk.ts";
import type { Script } from "./stand-in.ts";

export type Engine = {
  readonly name: string;
  readonly capabilities: EngineCapabilities;
  /** `engine` of an agent. */
  settings(changes?: object): object;
  /** Says what the next answers are; undefined where a real engine answers. */
  readonly play?: (script: Script) => void;
  /** Whether an answer whose reader leaves can be told from one that came to its end, and by now has been given up. */
  readonly watch?: () => Promise<{ readonly hasGivenUp: () => boolean | Promise<boolean> }>;
  /** How often it was asked for an answer. */
  readonly asked?: () => number;
};

// A schema that leaves random weights little to say.
const ROOMS = {
  type: "object",
  properties: { rooms: { type: "string", enum: ["1", "2"] } },
  required: ["rooms"],
  additionalProperties: false,
};
const TOOLS = ["Book", "Cancel"].map((name) => ({ type: "function", function: { name, parameters: ROOMS } }));
/** More than a server makes before it hears that its reader has left. */
export const LONG_TOKENS = 1_000;
const GIVEN_UP_MS = 10_000;
/** So much longer that an answer which only its silence ends is not taken for one that its reader's leaving ended. */
const SILENCE_MS = 6 * GIVEN_UP_MS;
/** Room for what a grammar lets stand between tokens of JSON. */
const HELD_TOKENS = 300;

let agents = 0;

export function testEngine(edge: EdgeHost, engine: Engine): void {
  const { play = () => undefined, capabilities, asked: questions = () => 0 } = engine;
  const scripted = it.skipIf(engine.play === undefined);
  const agentWith = async (changes: object = {}) => {
    const name = `engine-${engine.name}-${(agents += 1)}`;
    await putAgent(edge, name, { engine: engine.settings(changes) });
    return { name, ...talkTo(edge, name) };
  };
  const onlyTurn = async ({ logged }: Awaited<ReturnType<typeof agentWith>>): Promise<TurnFinished> => {
    const [turn] = turnsOf(await logged("turn:finished", 1));
    if (turn === undefined) throw new Error("a finished turn expected");
    return turn;
  };

  describe(`${engine.name} answers`, () => {
    it("in a stream that comes piece by piece and ends as the API's does", async () => {
      play({ text: ["Hel", "lo", " there"] });
      const agent = await agentWith();
      const response = await agent.post([says("hi")], { extra: { stream: true, stream_options: { include_usage: true }, max_tokens: 8 } });
      const chunks = (await response.clone().text()).split("\n\n").filter((line) => line.startsWith("data: {"));
      const { text, done } = await readStream(response);
      expect([response.status, done]).toEqual([200, true]);
      if (engine.play !== undefined) expect(text).toBe("Hello there");
      else expect(text).not.toBe("");
      expect(chunks.filter((chunk) => /"content":"./.test(chunk)).length).toBeGreaterThan(1);
      const usage = JSON.parse(chunks.at(-1)?.slice("data: ".length) ?? "{}").usage;
      expect(usage.prompt_tokens).toBeGreaterThan(0);
      expect(usage.completion_tokens).toBeGreaterThan(1);
    });

    scripted("in a stream whose first piece is there before the engine has made the second", async () => {
      let goOn = (): void => undefined;
      const hold = new Promise<void>((resolve) => (goOn = resolve));
      play({ text: ["Hel", "lo", " there"], hold });
      const agent = await agentWith();
      const response = await agent.post([says("hi")], { extra: { stream: true } });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      // An edge that waits for more gets silence from the engine, and then has an error to tell.
      const until = async (part: string): Promise<string> => {
        let text = "";
        for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
          text += next.value;
          if (text.includes(part)) break;
        }
        return text;
      };
      const first = await until('"content":"Hel"');
      goOn();
      expect(first).toContain('"content":"Hel"');
      expect(await until("[DONE]")).toMatch(/"content":" there"[^]*\[DONE\]/);
    });

    it("whole, and what was said is in the log under version 0 of the engine's base", async () => {
      play({ text: ["Hel", "lo"] });
      const agent = await agentWith();
      const { status, message } = await agent.ask([says("hi")], { extra: { max_tokens: 8 } });
      expect(status).toBe(200);
      const turn = await onlyTurn(agent);
      expect(turn).toMatchObject({ policyVersion: 0, origin: "opening", answer: { role: "assistant", content: message.content } });
      const { body: head } = await call(edge, "trainer", `GET /trainer/v1/agents/${agent.name}/lines/shared/head`);
      expect(head).toMatchObject({ stable: 0, onEngine: true, engineBase: head.baseDigest, stablePolicyDigest: turn.policyDigest });
    });

    it("and tells ids and log-probs, or the turn says why it has none", async () => {
      play({ text: ["Hel", "lo"] });
      const agent = await agentWith();
      await agent.ask([says("hi")], { extra: { max_tokens: 8, temperature: 1 } });
      const { rollout } = await onlyTurn(agent);
      const tells = capabilities.tokenIds !== "never";
      expect(rollout.unusable === undefined).toBe(tells);
      expect(rollout.promptTokens.length > 0).toBe(tells);
      expect(rollout.responseTokens.length > 0).toBe(tells);
      expect(rollout.rolloutLogProbs).toHaveLength(rollout.responseTokens.length);
      if (!tells)
        expect(rollout.unusable).toMatchObject({ reason: expect.stringContaining("token ids"), responseTokens: expect.any(Number) });
    });

    it("to a user who goes on, and the session knows the conversation", async () => {
      play({ text: ["Hello"] });
      const agent = await agentWith();
      const first = await agent.ask([says("hi")]);
      const second = await agent.ask([says("hi"), first.message, says("and now?")]);
      expect(second.sessionId).toBe(first.sessionId);
      expect((await agent.logged("turn:finished", 2)).filter(({ payload }) => payload.kind === "nextState:arrived")).toHaveLength(1);
    });

    it("within the limit that the client sets", async () => {
      play({ text: ["He"], finish: "length" });
      const agent = await agentWith();
      const { status, body } = await call(edge, "client", "POST /v1/chat/completions", {
        ...{ model: agent.name, messages: [says("count to a hundred")], max_tokens: 1, temperature: 0 },
      });
      expect(status).toBe(200);
      expect(body.choices[0].finish_reason).toBe("length");
    });

    scripted("with a call, and the turn never claims tokens that it was not told", async () => {
      play({ call: { name: "Book", arguments: ['{"rooms":', ' "2"}'] } });
      const agent = await agentWith();
      const { message } = await agent.ask([says("book it")], { extra: { tools: TOOLS, max_tokens: 20 } });
      const [asked] = message.tool_calls as unknown as { type: string; function: { name: string; arguments: string } }[];
      expect(asked).toMatchObject({ type: "function", function: { name: "Book" } });
      expect(JSON.parse(asked?.function.arguments ?? "")).toEqual({ rooms: "2" });
      expect(message.content).toBeNull();
      const { rollout, finishReason } = await onlyTurn(agent);
      expect(finishReason).toBe("tool_calls");
      expect(rollout.unusable === undefined).toBe(capabilities.tokenIds === "always");
    });

    it("with the call that it is held to by name, in a stream, and with arguments of its schema", async () => {
      play({ call: { name: "Book", arguments: ['{"rooms":', ' "2"}'] } });
      const agent = await agentWith();
      const held = { tools: TOOLS, tool_choice: { type: "function", function: { name: "Book" } }, parallel_tool_calls: false };
      const response = await agent.post([says("book it")], { extra: { ...held, stream: true, max_tokens: HELD_TOKENS, temperature: 0 } });
      const { calls } = await readStream(response);
      expect(calls.flatMap((each) => each.function.name ?? [])).toEqual(["Book"]);
      expect(["1", "2"]).toContain(JSON.parse(calls.map((each) => each.function.arguments ?? "").join("")).rooms);
      expect(await onlyTurn(agent)).toMatchObject({ finishReason: "tool_calls", rollout: { rolloutLogProbs: [] } });
    });

    it("in JSON of the schema that it is held to", async () => {
      play({ text: ['{"rooms":', ' "2"}'] });
      const agent = await agentWith();
      const response_format = { type: "json_schema", json_schema: { name: "rooms", schema: ROOMS, strict: true } };
      const { message } = await agent.ask([says("how many?")], { extra: { response_format, max_tokens: HELD_TOKENS } });
      expect(["1", "2"]).toContain(JSON.parse(message.content ?? "").rooms);
      const reason = expect.stringMatching(/token ids|held the answer to a form/);
      expect(await onlyTurn(agent)).toMatchObject({ rollout: { rolloutLogProbs: [], unusable: { reason } } });
    });
  });

  describe(`${engine.name} fails`, () => {
    scripted("in the middle: the client hears of it, no event is lost, and the turn is marked", async () => {
      play({ text: ["Hel", "lo", " there"], fails: { kind: "dies", after: 2 } });
      const agent = await agentWith();
      const before = questions();
      const response = await agent.post([says("hi")], { extra: { stream: true } });
      const text = await response.text();
      expect(questions() - before).toBe(1);
      expect(text).toContain('"code":"upstream/unreachable"');
      expect(text).not.toContain("[DONE]");
      const [aborted] = (await agent.logged("turn:aborted", 1)).map(({ payload }) => payload);
      expect(aborted).toMatchObject({ policyVersion: 0, reason: expect.stringContaining("connection") });
      play({ text: ["Hello"] });
      expect((await agent.ask([says("hi")])).status).toBe(200);
      await agent.logged("turn:finished", 1);
      await agent.counted({ generations: 2, aborted: 1 });
    });

    scripted("by an error in its stream, which the client gets in the words of the engine", async () => {
      play({ text: ["Hel", "lo"], fails: { kind: "says", after: 1 } });
      const agent = await agentWith();
      const { status, error } = await agent.ask([says("hi")]);
      expect([status, error?.code]).toEqual([502, "upstream/failed"]);
      expect(error?.message).toContain("EngineCore died");
      await agent.logged("turn:aborted", 1);
    });

    scripted("by silence, after the time that the agent allows", async () => {
      play({ text: ["Hel", "lo"], fails: { kind: "hangs", after: 1 } });
      const agent = await agentWith({ timeoutMs: 300 });
      const { status, error } = await agent.ask([says("hi")]);
      expect([status, error?.code]).toEqual([504, "upstream/timeout"]);
      await agent.logged("turn:aborted", 1);
    });

    scripted("by silence before the first byte, which is told of after one question", async () => {
      play({ fails: { kind: "silent" } });
      const agent = await agentWith({ timeoutMs: 300 });
      const before = questions();
      const { status, error } = await agent.ask([says("hi")]);
      expect([status, error?.code]).toEqual([504, "upstream/timeout"]);
      await agent.logged("turn:aborted", 1);
      expect(questions() - before).toBe(1);
    });

    it("and the reader's leaving ends its work", async () => {
      play({ text: ["Hel", "lo"], fails: { kind: "hangs", after: 1 } });
      const agent = await agentWith({ timeoutMs: SILENCE_MS });
      const watched = await engine.watch?.();
      const leave = new AbortController();
      const response = await agent.post([says("Count to a thousand")], {
        extra: { stream: true, max_tokens: LONG_TOKENS },
        signal: leave.signal,
      });
      await response.body?.getReader().read();
      leave.abort();
      const [aborted] = (await agent.logged("turn:aborted", 1)).map(({ payload }) => payload);
      expect(aborted).toMatchObject({ reason: "the client went away" });
      if (watched !== undefined) await expect.poll(watched.hasGivenUp, { timeout: GIVEN_UP_MS }).toBe(true);
    });
  });
}
