/** The LLM judge against a server on a real socket that takes less of the wire, refuses, or is away: for everybody, or for one signal alone. */
import { describe, expect, it } from "vitest";
import type { JudgeServer } from "../../../shared/judge.ts";
import type { Signal } from "../../../trainer/data/exchange.ts";
import { LlmJudge, type LlmOptions } from "../../../trainer/judge/llm/judge.ts";
import { call, result, signalOf as hotelSignal, user } from "../hotel.ts";
import { refusal, votes, withChatServer, type ChatRequest, type Reply } from "./chat-server.ts";

const server = withChatServer();

const signalOf = (next: Parameters<typeof hotelSignal>[1]): Signal =>
  hotelSignal(call("SearchHotel", { city: "Porto", number_of_rooms: "1" }), next);
const REJECTED = signalOf([result('{"count": 3}'), user("No, I want two rooms.")]);

const serverOf = (changes: Partial<JudgeServer> = {}): JudgeServer => ({ url: server.url, model: "judge-1", secret: null, ...changes });
const judgeWith = (options: Partial<LlmOptions> = {}): LlmJudge => new LlmJudge({ environment: {}, ...options });

/** The verdict where the server gives these answers in turn, and the last of them from then on. */
async function judged(answers: readonly Reply[], { asked = 3, ...options }: { asked?: number; timeoutMs?: number } = {}) {
  const before = server.heard.length;
  server.answer = (_, n) => answers[Math.min(n - before, answers.length - 1)] ?? { status: 500 };
  return judgeWith(options).judge(REJECTED, { server: serverOf(), votes: asked, seed: 7 });
}

describe("a server that takes less of the wire", () => {
  it.each([
    { name: "names the parameter", reply: refusal("Invalid parameter", "response_format"), gone: "response_format" },
    { name: "names a part of it", reply: refusal("Unsupported", "response_format.json_schema.strict"), gone: "response_format" },
    { name: "only says what it cannot do", reply: refusal("json_schema is not supported by this model"), gone: "response_format" },
    { name: "says nothing", reply: "bad request", gone: "response_format" },
    { name: "has one temperature", reply: refusal("Only the default (1) value is supported", "temperature"), gone: "temperature" },
    {
      name: "knows max_tokens by its newer name",
      reply: refusal("Use 'max_completion_tokens' instead.", "max_tokens"),
      gone: "max_tokens",
    },
  ] as const)("and $name is asked without it from then on", async ({ reply, gone }) => {
    server.answer = (request) => (request[gone] === undefined ? votes(-1) : { status: 400, body: reply });
    const judge = judgeWith();
    expect(await judge.judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 })).toMatchObject({ reward: -1, poll: { requests: 2 } });
    expect(await judge.judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 })).toMatchObject({ reward: -1, poll: { requests: 1 } });
    if (gone === "max_tokens") expect(server.heard.at(-1)?.request.max_completion_tokens).toBeGreaterThan(0);
  });

  it("and refuses a template's arguments is asked without them from then on, and one that takes them is always given them", async () => {
    const given = serverOf({ templateArguments: { enable_thinking: false } });
    const { heard } = server;
    server.answer = () => votes(-1);
    await judgeWith().judge(REJECTED, { server: given, votes: 1, seed: 0 });
    expect(heard.at(-1)?.request.chat_template_kwargs).toEqual({ enable_thinking: false });
    server.answer = ({ chat_template_kwargs: sent }) =>
      sent === undefined ? votes(-1) : { status: 400, body: refusal("Unknown parameter: 'chat_template_kwargs'", "chat_template_kwargs") };
    expect(await judgeWith().judge(REJECTED, { server: given, votes: 1, seed: 0 })).toMatchObject({ reward: -1, poll: { requests: 2 } });
    expect(heard.at(-1)?.request).toMatchObject({ response_format: { type: "json_schema" } });
  });

  it.each([{ name: "max_tokens" }, { name: "max_completion_tokens" }] as const)(
    "and will not answer at such length is asked for half of it, by $name, and the next time in full",
    async ({ name }) => {
      const tooLarge = `'${name}' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 6500.`;
      const other = name === "max_tokens" ? "max_completion_tokens" : "max_tokens";
      server.answer = (request) => {
        const { [name]: most, [other]: otherwise } = request;
        if (otherwise !== undefined)
          return { status: 400, body: refusal(`Unsupported parameter: '${other}'. Use '${name}' instead.`, other) };
        return most !== undefined && most <= 1_024 ? votes(-1) : { status: 400, body: refusal(tooLarge) };
      };
      const judge = judgeWith();
      const ask = () => judge.judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 });
      expect(await ask()).toMatchObject({ reward: -1 });
      expect(await ask()).toMatchObject({ reward: -1, poll: { requests: 3 } });
      expect(server.heard.slice(-3).map(({ request }) => request[name])).toEqual([4_096, 2_048, 1_024]);
    },
  );

  it("and takes no limit by either name is asked for none without", async () => {
    server.answer = ({ max_tokens: older, max_completion_tokens: newer }) => {
      const sent = older === undefined ? "max_completion_tokens" : "max_tokens";
      return older === undefined && newer === undefined ? votes(1) : { status: 400, body: refusal(`Unknown parameter: '${sent}'`, sent) };
    };
    expect(await judgeWith().judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 })).toMatchObject({
      poll: { failed: { "vote/rejected": 1 }, requests: 2 },
    });
  });

  it("and will not have one request is asked the next one in full again", async () => {
    server.answer = () => ({ status: 400, body: refusal("maximum context length exceeded") });
    const judge = judgeWith();
    const refused = await judge.judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 });
    expect(refused).toMatchObject({ reward: 0, poll: { failed: { "vote/rejected": 1 } }, refused: { code: "judge/unparsable" } });
    server.answer = () => votes(1);
    await judge.judge(REJECTED, { server: serverOf(), votes: 1, seed: 0 });
    expect(server.heard.at(-1)?.request.response_format).toMatchObject({ type: "json_schema" });
  });
});

describe("a server that is away", () => {
  const busy = (headers: Record<string, string> = {}): Reply => ({ status: 429, headers, body: refusal("slow down") });

  it("is asked again, when it says so, as often as is bounded", async () => {
    const verdict = await judged([busy({ "retry-after": "0" }), { status: 503, headers: { "retry-after": "0" } }, votes(1)], { asked: 1 });
    expect(verdict).toMatchObject({ reward: 1, poll: { requests: 3 } });
    await expect(judged([busy({ "retry-after": "0" })], { asked: 1 })).rejects.toMatchObject({
      code: "judge/unavailable",
      retryable: true,
    });
    expect(server.heard).toHaveLength(3 + 3);
  });

  it("and says for how long is left alone until then", async () => {
    let nowMs = 0;
    const judge = judgeWith({ now: () => nowMs });
    const other = signalOf([user("Fine.")]);
    const ask = (signal = REJECTED) => judge.judge(signal, { server: serverOf(), votes: 3, seed: 0 });
    server.answer = () => busy({ "retry-after": "300" });
    await expect(ask()).rejects.toThrow(/an answer expected, got 429/);
    expect(server.heard).toHaveLength(3);
    server.answer = () => votes(1);
    nowMs = 299_000;
    await expect(ask(other)).rejects.toThrow(/asked again in 1 s/);
    expect(server.heard).toHaveLength(3);
    nowMs = 301_000;
    expect(await ask(other)).toMatchObject({ reward: 1 });
    await expect(ask()).rejects.toThrow(/asked again in 3 s/);
    nowMs = 304_000;
    expect(await ask()).toMatchObject({ reward: 1 });
  });

  describe("for one signal alone", () => {
    const BROKEN: Reply = { status: 500, headers: { "retry-after": "0" } };
    const failing = signalOf([user("No, I want three rooms.")]);
    const isOn = ({ messages: [, shown] }: ChatRequest): boolean => shown?.content.includes("three rooms") === true;

    it("and breaks on it whenever it is asked is asked less and less about it, others first, and then no more", async () => {
      let nowMs = 0;
      const judge = judgeWith({ now: () => nowMs });
      const ask = (signal: Signal) => judge.judge(signal, { server: serverOf(), votes: 1, seed: 0 });
      server.answer = (request) => (isOn(request) ? BROKEN : votes(1));
      for (const turnS of [4, 8, 16, 32]) {
        await expect(ask(failing)).rejects.toMatchObject({ code: "judge/unavailable" });
        nowMs += 1_000; // as the server is left alone
        await expect(ask(failing)).rejects.toThrow(`asked again in ${turnS} s`);
        expect(await ask(signalOf([user("Thanks.")]))).toMatchObject({ reward: 1 });
        nowMs += turnS * 1_000;
      }
      const verdict = await ask(failing);
      expect(verdict).toMatchObject({
        reward: 0,
        votes: [],
        poll: { failed: { "vote/unavailable": 1 }, requests: 3 },
        refused: { code: "judge/unavailable", detail: expect.stringMatching(/1 votes readable expected, got 0: vote\/unavailable judge/) },
      });
      expect(server.heard.filter(({ request }) => isOn(request))).toHaveLength(5 * 3);
    });

    it("is away as long as it answers no other, and the signal waits", async () => {
      let nowMs = 0;
      const judge = judgeWith({ now: () => nowMs });
      server.answer = () => BROKEN;
      for (let time = 0; time < 9; time += 1) {
        await expect(judge.judge(failing, { server: serverOf(), votes: 1, seed: 0 })).rejects.toThrow(/got 500/);
        nowMs += 120_000;
      }
      server.answer = () => votes(-1);
      expect(await judge.judge(failing, { server: serverOf(), votes: 1, seed: 0 })).toMatchObject({ reward: -1 });
    });
  });

  it("is left alone for 1 s, and twice as long where it is still away, however many votes find it so", async () => {
    let nowMs = 0;
    const judge = judgeWith({ now: () => nowMs });
    const ask = (asked: number) => judge.judge(signalOf([user("No.")]), { server: serverOf(), votes: asked, seed: 0 });
    server.answer = () => ({ status: 503, headers: { "retry-after": "0" } });
    for (const pauseS of [1, 2, 4]) {
      await expect(ask(9)).rejects.toThrow(/an answer expected, got 503/);
      await expect(ask(1)).rejects.toThrow(`asked again in ${pauseS} s`);
      nowMs += pauseS * 1_000;
    }
    server.answer = () => votes(1);
    expect(await ask(3)).toMatchObject({ reward: 1 });
    server.answer = () => ({ status: 503, headers: { "retry-after": "0" } });
    await expect(ask(3)).rejects.toThrow(/an answer expected, got 503/);
    await expect(ask(1)).rejects.toThrow("asked again in 1 s");
  });

  it.each([
    { name: "does not answer in time", reply: { hangs: true } as const, timeoutMs: 50, why: /nothing within 50 ms/ },
    { name: "knows another key", reply: { status: 401, body: refusal("Incorrect API key provided") }, why: /got 401/ },
    { name: "knows no such model", reply: { status: 404, body: refusal("The model does not exist") }, why: /got 404/ },
    { name: "sends elsewhere", reply: { status: 307, headers: { location: "http://127.0.0.1:9/v1/chat/completions" } }, why: /redirect/ },
  ])("where it $name", async ({ reply, why, timeoutMs = 60_000 }) => {
    await expect(judged([reply], { asked: 1, timeoutMs })).rejects.toMatchObject({
      code: "judge/unavailable",
      message: expect.stringMatching(why),
    });
  });

  it("where nothing listens", async () => {
    const gone = serverOf({ url: "http://127.0.0.1:9/v1" });
    await expect(judgeWith().judge(REJECTED, { server: gone, votes: 1, seed: 0 })).rejects.toMatchObject({ code: "judge/unavailable" });
  });

  it("for fewer than half of the votes leaves the others to decide", async () => {
    const verdict = await judged([{ status: 401, body: refusal("no") }, votes(-1), votes(-1)]);
    expect(verdict).toMatchObject({ reward: -1, votes: [-1, -1], poll: { failed: { "vote/unavailable": 1 } } });
  });
});
