/** Kills workerd with SIGKILL around the last event of a streamed response: once that was sent the response is kept, and not before it is kept it is sent. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startEdgeHost, type EdgeHost } from "../../cli/edge-host.ts";
import { talkTo, turnsOf } from "../edge/session/talk.ts";
import { putAgent } from "../helpers/call.ts";
import { writeRandomBase } from "../helpers/random-base.ts";

const MODEL = "assistant";
const PATIENCE_MS = 300_000; // a machine of two busy cores starts an edge in a minute rather than a second
const asked = { model: MODEL, input: "Hello", temperature: 0, max_output_tokens: 6 };

let folder = "";
let baseFolder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-crash-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const clientOf = ({ url, keys }: EdgeHost) => new OpenAI({ apiKey: keys.client, baseURL: `${url}/v1`, maxRetries: 0 });

type Event = OpenAI.Responses.ResponseStreamEvent;

/** What a client has seen of a streamed response when workerd, at the point, is killed; the client has seen an event of the type by then. */
async function seenUntilKilled(stateFolder: string, point: string, type: Event["type"]): Promise<Event[]> {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let see = (): void => undefined;
  const shown = new Promise<void>((resolve) => (see = resolve));
  const onLog = (line: string): void => void (line.includes(`fault ${point}`) && reach());
  const edge = await startEdgeHost({ stateFolder, baseFolder, vars: { FAULT: point }, onLog });
  await putAgent(edge, MODEL);
  const seen: Event[] = [];
  const read = async (): Promise<void> => {
    for await (const event of await clientOf(edge).responses.create({ ...asked, stream: true })) {
      seen.push(event);
      if (event.type === type) see();
    }
  };
  const cut = read().catch(() => undefined); // broken off, as is the point
  await Promise.all([reached, shown]);
  process.kill(edge.workerdPid() ?? 0, "SIGKILL");
  await cut;
  await edge.close();
  return seen;
}

it("a response whose last event was sent is read and continued by its id afterwards", { timeout: PATIENCE_MS }, async () => {
  const stateFolder = join(folder, "sent");
  const last = (await seenUntilKilled(stateFolder, "turn:delivered", "response.incomplete")).at(-1);
  if (last?.type !== "response.incomplete") throw new Error(`the last event expected, got ${last?.type}`);
  const edge = await startEdgeHost({ stateFolder, baseFolder });
  try {
    const client = clientOf(edge);
    expect(await client.responses.retrieve(last.response.id)).toMatchObject(last.response);
    await client.responses.create({ ...asked, input: "And now?", previous_response_id: last.response.id });
    const turns = turnsOf(await talkTo(edge, MODEL).logged("turn:finished", 2));
    expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation"]);
  } finally {
    await edge.close();
  }
});

it("a response that is not kept yet has no last event, and the client's retry gets one that is", { timeout: PATIENCE_MS }, async () => {
  const stateFolder = join(folder, "unsent");
  const seen = await seenUntilKilled(stateFolder, "turn:sampled", "response.output_text.delta");
  expect(seen.filter(({ type }) => /completed|incomplete|failed|\.done$/.test(type))).toEqual([]);
  const edge = await startEdgeHost({ stateFolder, baseFolder });
  try {
    const headers = { "x-stainless-retry-count": "1" };
    const { id } = await clientOf(edge).responses.create(asked, { headers });
    const [turn, ...others] = turnsOf(await talkTo(edge, MODEL).logged("turn:finished", 1));
    expect([turn?.completionId, others]).toEqual([id.replace("resp_", "chatcmpl-"), []]);
  } finally {
    await edge.close();
  }
});
