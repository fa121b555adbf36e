/** llama.cpp's server with adapters that come and go: who answers what during a takeover, and what is left of one that fails. */
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ggufOf } from "../../../cli/llama/converter.ts";
import { describeProcess } from "../../../trainer/host.ts";
import { BesideLlama, nameOf, openStream, until } from "./beside-llama.ts";

let beside: BesideLlama;
beforeEach(async () => void (beside = await BesideLlama.prepare()));
afterEach(() => beside.remove());

const placed = async (): Promise<string[]> => (await readdir(beside.adapters)).filter((name) => !name.startsWith("."));
const isUp = async (port: number): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)) !== undefined;

it("answers 503 as OpenAI does until its first server is up, and starts that with what it was told", async () => {
  await beside.hold();
  const starting = beside.start();
  await until(() => beside.starts().length === 1);
  for (const path of ["/health", "/v1/chat/completions"]) {
    const refused = await beside.ask(path, { method: path === "/health" ? "GET" : "POST" });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { type: "server_error", code: "engine/closed", param: null } },
    ]);
  }
  await beside.release();
  await starting;
  expect((await beside.ask("/health")).status).toBe(200);
  const { argv, port } = await beside.startedWith();
  const own = ["--model", beside.standIns.model, "--jinja", "--host", "127.0.0.1", "--port", `${port}`, "--lora-init-without-apply"];
  expect(argv).toEqual(["-c", "4096", ...own]);
});

it("passes status, headers and bodies on as they are", async () => {
  await beside.start();
  const headers = { authorization: "Bearer key of the server", "x-request-id": "7" };
  const response = await beside.ask("/echo", { method: "PUT", headers, body: "a body" });
  expect([response.status, response.statusText, response.headers.get("x-twice"), response.headers.get("date")]).toEqual([
    418,
    "Short and stout",
    "1, 2",
    expect.any(String), // the server's own
  ]);
  expect(await response.json()).toMatchObject({ method: "PUT", headers, body: "a body" });
});

it("has a new adapter answer from a second server while the first finishes what it was answering", async () => {
  await beside.start();
  const { port: first } = await beside.startedWith();
  const stream = await openStream(beside);
  expect(stream.port).toBe(first);
  expect(await beside.place("a")).toEqual({ status: 200, text: JSON.stringify({ path: join(beside.adapters, nameOf("a")) }) });
  const { port: second } = await beside.startedWith();
  expect([second === first, await beside.listed()]).toEqual([false, "a"]);
  expect(await readFile(ggufOf(beside.adapters, nameOf("a")), "utf8")).toBe("weights of a");
  expect(await isUp(first)).toBe(true);
  await fetch(`http://127.0.0.1:${first}/finish`);
  expect(await stream.rest()).toBe("data: [DONE]\n\n");
  await until(async () => !(await isUp(first)));
  await until(() => beside.said.some((line) => line.includes(`port ${first} drained`)));
  expect((await beside.startedWith()).port).toBe(second);
});

it("cuts off what a server has not finished at the limit, and says how much", async () => {
  await beside.start({ drainMs: 1 });
  const stream = await openStream(beside);
  const cut = expect(stream.rest()).rejects.toThrow();
  await beside.place("a");
  await cut;
  await until(() => beside.said.some((line) => line.endsWith("stopped, 1 request cut off")));
});

it("lets the server know that a reader has left, in the middle of an answer or before its beginning", async () => {
  await beside.start();
  const leaving = new AbortController();
  await openStream(beside, leaving.signal);
  const unanswered = expect(beside.ask("/silent", { signal: leaving.signal })).rejects.toThrow();
  await until(() => beside.ask("/waiting").then(async (response) => (await response.text()) === "1"));
  leaving.abort();
  await unanswered;
  await until(async () => (await (await beside.ask("/left")).text()) === "2");
});

it("does nothing for an adapter that is there, and asks for a takeover once where two place it", async () => {
  await beside.start();
  expect((await Promise.all([beside.place("a"), beside.place("a")])).map(({ status }) => status)).toEqual([200, 200]);
  const { pid } = await beside.startedWith();
  expect((await beside.place("a")).status).toBe(200);
  expect([beside.starts().length, (await beside.startedWith()).pid]).toEqual([2, pid]);
  expect((await readFile(`${beside.standIns.convert}.ran`, "utf8")).trim().split("\n")).toHaveLength(1);
});

it("has one that waits for tokens converted with those that llama.cpp is to wait for, and keeps what the edge placed", async () => {
  await beside.start();
  const placed = { alora_invocation_tokens: [1, 310, 17] };
  expect((await beside.place("a", undefined, placed)).status).toBe(200);
  const config = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));
  expect(await config(`${beside.standIns.convert}.config`)).toMatchObject({ r: 4, alora_invocation_tokens: [310, 17] });
  const folder = join(beside.adapters, nameOf("a"));
  expect(await config(join(folder, "adapter_config.json"))).toMatchObject(placed);
  expect((await readdir(folder)).sort()).toEqual(["adapter_config.json", "adapter_model.safetensors", `${nameOf("a")}.gguf`]);
});

it.for([
  {
    what: "a conversion",
    weights: "unconvertible",
    why: /could not be converted \(code 3\): KeyError: 'no such tensor'\\nINFO: loading it/,
  },
  { what: "a server", weights: "unloadable", why: /llama-server did not start \(code 1\): error: failed to apply lora adapter/ },
])("says why $what failed, leaves nothing of its adapter, and goes on as before", async ({ weights, why }) => {
  await beside.start();
  await beside.place("a");
  const { pid } = await beside.startedWith();
  const starts = beside.starts().length;
  for (const { status, text } of await Promise.all([beside.place("b", weights), beside.place("b", weights)]))
    expect([status, text]).toEqual([422, expect.stringMatching(why)]);
  expect(beside.starts().length - starts).toBe(weights === "unloadable" ? 1 : 0);
  expect([await beside.listed(), (await beside.startedWith()).pid, await placed()]).toEqual(["a", pid, [nameOf("a")]]);
  expect((await beside.place("b")).status).toBe(200);
  expect(await beside.listed()).toBe("ab");
});

it("takes up those that wait together, and one that fails takes none of them along", async () => {
  await beside.start();
  await beside.hold();
  const first = beside.place("a");
  await until(() => beside.starts().length === 2);
  const others = ["b", "c"].map((letter) => beside.place(letter));
  await until(() => ["b", "c"].every((letter) => existsSync(ggufOf(beside.adapters, nameOf(letter)))));
  await beside.release();
  for (const { status } of await Promise.all([first, ...others])) expect(status).toBe(200);
  expect([beside.starts().length, (await beside.listed()).split("").sort().join("")]).toEqual([3, "abc"]);

  await beside.hold();
  const held = beside.place("d");
  await until(() => beside.starts().length === 4);
  const [good, bad] = [beside.place("e"), beside.place("f", "unloadable")];
  await until(() => ["e", "f"].every((letter) => existsSync(ggufOf(beside.adapters, nameOf(letter)))));
  await beside.release();
  expect((await Promise.all([held, good, bad])).map(({ status }) => status)).toEqual([200, 200, 422]);
  expect((await beside.listed()).split("").sort().join("")).toBe("abcde");
});

it("starts a server that died again, with what is there by then, and says so of its health", async () => {
  await beside.start();
  for (const letter of ["a", "b"]) await beside.place(letter);
  const { pid, port } = await beside.startedWith();
  await beside.delete("a");
  await beside.hold();
  const broken = await beside.ask("/die");
  expect([broken.status, await broken.json()]).toMatchObject([502, { error: { code: "upstream/failed" } }]);
  await until(() => beside.said.some((line) => line.includes(`port ${port} ended (code 7)`)));
  expect((await beside.ask("/health")).status).toBe(503);
  await beside.release();
  await until(() => beside.said.some((line) => line.includes(`port ${port} answers again`)));
  expect((await beside.startedWith()).pid).not.toBe(pid);
  // Nobody has taken the number of the one that is gone, and the other keeps its own.
  expect(await beside.listed()).toBe("bb");
});

it("deletes an adapter's files at once, has the next server do without it, and moves no other's number", async () => {
  await beside.start();
  for (const letter of ["a", "b"]) await beside.place(letter);
  await beside.delete("a");
  expect([await placed(), await beside.listed()]).toEqual([[nameOf("b")], "ab"]);
  await beside.place("c");
  expect(await beside.listed()).toBe("cb");
});

it("has everything that was placed when it is started again, and converts what is not", async () => {
  const conversions = async (): Promise<number> => (await readFile(`${beside.standIns.convert}.ran`, "utf8")).trim().split("\n").length;
  await beside.start();
  for (const letter of ["a", "b"]) await beside.place(letter);
  await beside.stop();
  await rm(ggufOf(beside.adapters, nameOf("b")));
  expect(await conversions()).toBe(2);
  await beside.start();
  expect([await beside.listed(), await conversions()]).toEqual(["ab", 3]);
});

it.for([
  { what: "ends", changes: { more: ["--lora", "nowhere.gguf"] }, why: /llama-server did not start \(code 1\)[^]*nowhere/ },
  { what: "is not up in time", changes: { startMs: 4_000 }, why: /llama-server did not start \(no answer after 4 s\): loading 0 adapters/ },
])("does not start over a server that $what, and says why", async ({ changes, why }) => {
  await beside.hold();
  await expect(beside.start(changes)).rejects.toThrow(why);
  expect(await isUp(beside.port)).toBe(false);
});

it("ends every server when it is stopped, and one that was about to take over", async () => {
  await beside.start();
  const { pid } = await beside.startedWith();
  const stream = await openStream(beside);
  const cut = expect(stream.rest()).rejects.toThrow();
  await beside.hold();
  const refused = expect(beside.place("a")).rejects.toThrow();
  await until(() => beside.starts().length === 2);
  const [, port = ""] = /port (\d+) starts/.exec(beside.starts().at(-1) ?? "") ?? [];
  await beside.stop();
  await Promise.all([cut, refused]);
  expect([describeProcess(pid), await isUp(Number(port)), await isUp(beside.port), await placed()]).toEqual([undefined, false, false, []]);
});
