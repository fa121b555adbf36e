/** The adapter host with llama.cpp's stand-in behind it, as a test sees both: over HTTP, and by what was said. */
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { type AdapterHost, startAdapterHost } from "../../../cli/adapter-host.ts";
import { type LlamaHost, type LlamaHostOptions, startLlamaHost } from "../../../cli/llama/llama-host.ts";
import { freePort } from "../../../cli/port.ts";
import { sha256 } from "../../../shared/digest.ts";
import { utf8 } from "../../helpers/call.ts";
import { type StandIns, writeStandIns } from "./stand-ins.ts";

const HOST_KEY = "secret";
const CONFIG = { peft_type: "LORA", r: 4, lora_alpha: 8 };
const StartedWith = z.object({ pid: z.number(), port: z.number(), argv: z.array(z.string()) });
const Listed = z.array(z.object({ id: z.number(), path: z.string() }));

export const nameOf = (letter: string): string => `nextstate-${letter.repeat(64)}`;

export class BesideLlama {
  readonly said: string[] = [];
  readonly folder: string;
  readonly adapters: string;
  readonly standIns: StandIns;
  readonly port: number;
  #llama: LlamaHost | undefined;
  #host: AdapterHost | undefined;

  private constructor(folder: string, standIns: StandIns, port: number) {
    this.folder = folder;
    this.adapters = join(folder, "adapters");
    this.standIns = standIns;
    this.port = port;
  }

  /** Nothing is started yet. */
  static async prepare(): Promise<BesideLlama> {
    const folder = await mkdtemp(join(tmpdir(), "nextstate-llama-"));
    return new BesideLlama(folder, await writeStandIns(join(folder, "llama")), await freePort());
  }

  async start(changes: Partial<LlamaHostOptions> = {}): Promise<this> {
    const say = (line: string): void => void this.said.push(line);
    const where = { folder: this.adapters, host: "127.0.0.1", port: this.port };
    const llama = await startLlamaHost({ ...this.standIns, ...where, more: ["-c", "4096"], say, ...changes });
    this.#llama = llama;
    this.#host = await startAdapterHost({ folder: this.adapters, key: HOST_KEY, place: (name) => llama.place(name) });
    return this;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#llama?.close(), this.#host?.close()]);
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** What the servers' one address answers. */
  ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, init);
  }

  async startedWith(): Promise<z.infer<typeof StartedWith>> {
    return StartedWith.parse(await (await this.ask("/started-with")).json());
  }

  /** Letters of the adapters that the server which is current lists, by their numbers. */
  async listed(): Promise<string> {
    const listed = Listed.parse(await (await this.ask("/lora-adapters")).json());
    return listed.map(({ path }) => /nextstate-(.)\1{63}\.gguf$/.exec(path)?.[1] ?? path).join("");
  }

  /** As the edge places one. @param more of its config */
  async place(letter: string, weights = `weights of ${letter}`, more: object = {}): Promise<{ status: number; text: string }> {
    const [config, bytes] = [utf8(JSON.stringify({ ...CONFIG, ...more })), utf8(weights)];
    const files = { "adapter_config.json": await sha256(config), "adapter_model.safetensors": await sha256(bytes) };
    await this.#call("PUT", `/files/${files["adapter_config.json"]}`, config);
    await this.#call("PUT", `/files/${files["adapter_model.safetensors"]}`, bytes);
    const response = await this.#call("POST", `/adapters/${nameOf(letter)}`, JSON.stringify({ files }));
    return { status: response.status, text: await response.text() };
  }

  async delete(letter: string): Promise<void> {
    await this.#call("DELETE", `/adapters/${nameOf(letter)}`);
  }

  /** Servers that are started from now on are not healthy until `release`. */
  hold(): Promise<void> {
    return appendFile(join(this.folder, "llama", "hold"), "");
  }

  release(): Promise<void> {
    return rm(join(this.folder, "llama", "hold"));
  }

  starts(): string[] {
    return this.said.filter((line) => line.includes(" starts with "));
  }

  #call(method: string, path: string, body?: BodyInit): Promise<Response> {
    const headers = { authorization: `Bearer ${HOST_KEY}` };
    return fetch(`${this.#host?.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  }
}

/** Waits for as long as a test may take. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(20);
}

/** An answer that streams: the port of the server that gives it, and the rest once it has ended. */
export async function openStream(beside: BesideLlama, signal?: AbortSignal): Promise<{ port: number; rest(): Promise<string> }> {
  const response = await beside.ask("/v1/chat/completions", { method: "POST", body: "{}", ...(signal === undefined ? {} : { signal }) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  const rest = async (): Promise<string> => {
    let text = "";
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) text += next.value;
    return text;
  };
  return { port: Number(/data: (\d+)/.exec(first?.value ?? "")?.[1]), rest };
}
