/** A release after storage has lost files: traffic goes to no version that could answer nobody, and what answers already says what it lacks. */
import { expect, it } from "vitest";
import { BaseManifest } from "../../../shared/policy.ts";
import { publishAdapter, putAdapter, readStored } from "../../helpers/adapters.ts";
import { call, manifestOf, putAgent, putFile, type Answer } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

const admin = (route: string, body?: unknown): Promise<Answer> => {
  const [method, path] = route.split(" ");
  return call(edge, "admin", `${method} /api/agents/${path}`, body);
};
const lose = async (digest: string): Promise<void> => (await edge.getR2()).delete(`files/${digest}`);
const chat = (model: string): Promise<Answer> =>
  call(edge, "client", "POST /v1/chat/completions", { model, messages: [{ role: "user", content: "Hello" }], max_tokens: 2 });
const lostText = (version: number, file: string, digest: string): string =>
  `version ${version}: ${file} as it was stored expected under ${digest}, got nothing; PUT /trainer/v1/files/${digest} with a trainer key stores it again`;

it("refuses a rollback to a version whose file is gone, names both, and leaves traffic where it was, until the file is back", async () => {
  await putAgent(edge, "lost", { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, "lost");
  const bytes = await readStored(edge, adapter.weightsDigest);
  await publishAdapter(edge, "lost", adapter);
  await admin("POST lost/rollback", { to: 0 });
  await lose(adapter.weightsDigest);
  const refused = await admin("POST lost/rollback", { to: 1 });
  const lost = lostText(1, "adapter_model.safetensors", adapter.weightsDigest);
  expect([refused.status, refused.body.error]).toEqual([
    409,
    {
      message: `to: a version whose files are stored expected; ${lost}; nothing was changed`,
      type: "invalid_request_error",
      param: "to",
      code: "policy/missing",
    },
  ]);
  expect((await admin("GET lost/release")).body).toMatchObject({ stable: 0, faults: [] });
  expect((await chat("lost")).status).toBe(200);
  await putFile(edge, bytes);
  expect((await admin("POST lost/rollback", { to: 1 })).body).toMatchObject({ status: "rolledBack", to: 1 });
});

it("refuses bytes that are others than were stored, with and without a checksum of storage's own", async () => {
  await putAgent(edge, "other", { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, "other");
  const bytes = await readStored(edge, adapter.weightsDigest);
  await publishAdapter(edge, "other", adapter);
  await admin("POST other/rollback", { to: 0 });
  const said = async (): Promise<string> => (await admin("POST other/rollback", { to: 1 })).body.error.message;
  const r2 = await edge.getR2();
  await r2.put(`files/${adapter.weightsDigest}`, bytes.slice(0, 100));
  expect(await said()).toMatch(/version 1: file \w{64}: SHA-256 of its 100 bytes is \w{64}; nothing was changed$/);
  const [short, digest] = [bytes.slice(0, 50), await crypto.subtle.digest("SHA-256", bytes.slice(0, 50))];
  await r2.put(`files/${adapter.weightsDigest}`, short, { sha256: digest });
  expect(await said()).toMatch(/adapter_model.safetensors as it was stored expected under \w{64}, got 50 bytes of SHA-256 \w{64};/);
  expect((await admin("GET other/release")).body.stable).toBe(0);
});

it("promotes neither a canary whose file is gone nor one behind which such a version would be tried next", async () => {
  await putAgent(edge, "tried", { release: { canary: { mode: "on" } } });
  const [first, second] = [await putAdapter(edge, "tried 1"), await putAdapter(edge, "tried 2")];
  await publishAdapter(edge, "tried", first);
  const { cursor, parent } = (await call(edge, "trainer", "GET /trainer/v1/agents/tried/lines/shared/head")).body;
  expect([cursor, parent]).toEqual([0, 1]);
  const manifest = manifestOf({ agent: "tried", baseDigest: edge.baseDigest, parent, adapter: second });
  await call(edge, "trainer", "POST /trainer/v1/agents/tried/lines/shared/versions", { parent, manifest });
  const bytes = await readStored(edge, second.configDigest);
  const weights = await readStored(edge, second.weightsDigest);
  await lose(second.weightsDigest);
  const refused = await admin("POST tried/promote", { version: 1 });
  expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
    409,
    "policy/missing",
    expect.stringContaining(`version 2: adapter_model.safetensors as it was stored expected under ${second.weightsDigest}`),
  ]);
  expect((await admin("GET tried/release")).body).toMatchObject({ stable: 0, canary: { version: 1 }, waiting: [2], faults: [] });
  await putFile(edge, weights);
  await putFile(edge, bytes);
  await lose(first.weightsDigest);
  expect((await admin("POST tried/promote", { version: 1 })).body.error.message).toContain("version 1: adapter_model.safetensors");
  expect((await admin("POST tried/promote", { version: 2 })).body).toEqual({ status: "promoted", from: 0, to: 2 });
});

it("says what a version lacks that answers already: to its clients, and to people before they ask it", async () => {
  await putAgent(edge, "serving", { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, "serving");
  await publishAdapter(edge, "serving", adapter);
  await lose(adapter.weightsDigest);
  expect((await admin("GET serving/release")).body.faults).toEqual([lostText(1, "adapter_model.safetensors", adapter.weightsDigest)]);
  await expect.poll(async () => (await chat("serving")).status, { timeout: 20_000 }).toBe(502);
  const { error } = (await chat("serving")).body;
  expect([error.code, error.message]).toEqual(["upstream/failed", `file ${adapter.weightsDigest}: stored bytes expected, got none`]);
  expect((await admin("POST serving/rollback", { to: 0 })).body).toMatchObject({ status: "rolledBack", to: 0 });
  await expect.poll(async () => (await chat("serving")).status, { timeout: 20_000 }).toBe(200);
});

it("counts the base among a version's files", async () => {
  await putAgent(edge, "based", { release: { canary: { mode: "off" } } });
  await publishAdapter(edge, "based", await putAdapter(edge, "based"));
  const { files } = BaseManifest.parse(JSON.parse(new TextDecoder().decode(await readStored(edge, edge.baseDigest))));
  await lose(files["model.safetensors"] ?? "");
  const refused = await admin("POST based/rollback", { to: 0 });
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("version 0: the base's model.safetensors")]);
});
