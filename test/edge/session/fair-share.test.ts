/** One key's flood and another key's request, in real workerd: by the order in which answers end, never by the clock. */
import { beforeAll, expect, it } from "vitest";
import { MOST_OF_KEY, MOST_RUNNING } from "../../../edge/policy/turns.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const AGENT = "shared";
/** Greedy, the random base never ends by itself. */
const LONG = { max_tokens: 300, temperature: 0 };

let flooding: string;
let other: string;

beforeAll(async () => {
  await putAgent(edge, AGENT);
  const make = async (name: string): Promise<string> => (await call(edge, "admin", "POST /api/keys", { kind: "client", name })).body.key;
  [flooding, other] = [await make("flooding"), await make("other")];
  await ask(other, "wakes the edge", { max_tokens: 1 });
});

type Answered = { status: number; body: { error?: { code: string; type: string; message: string } }; retryAfter: string | null };

async function ask(
  key: string,
  words: string,
  extra: object = LONG,
  { signal, session }: { signal?: AbortSignal; session?: string } = {},
): Promise<Answered> {
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...bearer(key), ...(session === undefined ? {} : { "x-session-id": session }) },
    body: JSON.stringify({ model: AGENT, messages: [{ role: "user", content: words }], ...extra }),
    ...(signal === undefined ? {} : { signal }),
  });
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const body = (streams ? {} : await response.json()) as Answered["body"];
  return { status: response.status, body, retryAfter: response.headers.get("retry-after") };
}

it("serves another key's request in its turn, and not behind the flood", async () => {
  const ended: string[] = [];
  const flood = Array.from({ length: 60 }, async (_, index) => {
    const { status } = await ask(flooding, `flood ${index}`);
    ended.push("flood");
    return status;
  });
  await Promise.race(flood);
  const before = ended.length;
  expect((await ask(other, "one request")).status).toBe(200);
  const meanwhile = ended.length - before;
  // Those that were being made when it came, and those that took their places while it was made.
  expect(meanwhile).toBeLessThanOrEqual(4 * MOST_RUNNING);
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]));
});

it("refuses at once what is over a key's bound, in OpenAI's form, and nobody else; whoever leaves frees their places", async () => {
  const leaving = new AbortController();
  let refused: Answered | undefined;
  const flood = Array.from({ length: MOST_OF_KEY + 3 * MOST_RUNNING + 20 }, async (_, index) => {
    const answered = await ask(flooding, `over ${index}`, { max_tokens: 1_500, temperature: 0, stream: true }, { signal: leaving.signal });
    if (answered?.status === 429) refused = answered;
  });
  await expect.poll(() => refused?.status, { timeout: 30_000 }).toBe(429);
  expect(refused?.body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limit_exceeded" });
  expect(refused?.body.error?.message).toMatch(
    /^at most 100 answers of one key expected that wait, got one more while \d+ are being made; try again in \d+ s$/,
  );
  expect(Number(refused?.retryAfter)).toBeGreaterThan(0);
  expect((await ask(other, "not the one who floods", { max_tokens: 5 })).status).toBe(200);
  leaving.abort();
  await Promise.allSettled(flood);
  // None of those who left is answered first: there were more than could be made in the time.
  const again = async (): Promise<number[]> =>
    (await Promise.all(Array.from({ length: 20 }, (_, index) => ask(flooding, `after ${index}`, { max_tokens: 5 })))).map(
      ({ status }) => status,
    );
  await expect.poll(async () => new Set(await again()), { timeout: 30_000 }).toEqual(new Set([200]));
});

it("refuses at once what is over a session's bound, and no other session of the key", async () => {
  const leaving = new AbortController();
  let refused: Answered | undefined;
  const flood = Array.from({ length: 120 }, async (_, index) => {
    const options = { signal: leaving.signal, session: "flooded" };
    const answered = await ask(other, `in order ${index}`, { max_tokens: 1_500, temperature: 0, stream: true }, options);
    if (answered.status === 429) refused = answered;
  });
  await expect.poll(() => refused?.status, { timeout: 30_000 }).toBe(429);
  expect(refused?.body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limit_exceeded" });
  expect(refused?.body.error?.message).toMatch(/^at most 100 answers of one session expected that wait, got one more; try again in 10 s/);
  expect(refused?.retryAfter).toBe("10");
  expect((await ask(other, "elsewhere", { max_tokens: 5 }, { session: "another" })).status).toBe(200);
  leaving.abort();
  await Promise.allSettled(flood);
});
