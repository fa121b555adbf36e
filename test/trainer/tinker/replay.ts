/** A server that answers as Tinker's service does, in the published shapes, and the archives that it gives. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

type Body = Record<string, unknown>;
type Asked = { path: string; key: string | undefined; body: Body };

/**
 * Answers as the SDK's types say the service does (github.com/thinking-machines-lab/tinker, src/tinker/types at 0.22): a future for every
 * request, "try_again" once for each, or 408, which is the same (src/tinker/lib/api_future_impl.py), then its result; ln π of a token is −1 − its id / 100.
 */
export class Replay {
  asked: Asked[] = [];
  archive = new Uint8Array();
  /** How often the archive is not packed yet. */
  packing = 0;
  /** Heartbeats, apart: when they come depends on the clock. */
  beats: Body[] = [];
  beatStatus = 200;
  /** Statuses that come instead of a look at a future. */
  notYet: number[] = [];
  /** Bodies that come with a 200 instead of a look at a future, and instead of another answer; `breaks off` is one that ends early. */
  garbled: string[] = [];
  garbledPosts: string[] = [];
  /** Statuses that come before anything else. */
  trouble: number[] = [];
  readonly #futures = new Map<string, { looks: number; answer: unknown }>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(parts).toString() || "{}") as Body;
        const path = request.url ?? "";
        if (path === "/api/v1/session_heartbeat") {
          this.beats.push(body);
          return void response.writeHead(this.beatStatus).end(JSON.stringify({ type: "session_heartbeat" }));
        }
        const status = this.trouble.shift();
        if (status !== undefined) return void response.writeHead(status).end("later");
        const notYet = path === "/api/v1/retrieve_future" ? this.notYet.shift() : undefined;
        if (notYet !== undefined) return void response.writeHead(notYet).end(JSON.stringify({ queue_state: "paused_capacity" }));
        const garbled = (path === "/api/v1/retrieve_future" ? this.garbled : this.garbledPosts).shift();
        if (garbled === "breaks off") {
          response.writeHead(200, { "content-length": 100 }).write('{"type": ');
          return void setImmediate(() => response.destroy());
        }
        if (garbled !== undefined) return void response.writeHead(200).end(garbled);
        if (path.endsWith("/archive") && (this.packing -= 1) >= 0) return void response.writeHead(503).end("creating archive");
        if (path.endsWith("/archive")) return void response.writeHead(302, { location: `${this.url}/signed` }).end();
        if (path === "/signed") return void response.end(this.archive);
        const key = request.headers["x-api-key"];
        if (path !== "/api/v1/retrieve_future") this.asked.push({ path, key: key === undefined ? undefined : String(key), body });
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(this.#answer(path, body)));
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  stop(): void {
    this.#server.close();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #answer(path: string, body: Body): unknown {
    if (path === "/api/v1/create_session") return { type: "create_session", session_id: "s-1" };
    if (path !== "/api/v1/retrieve_future") {
      const id = `r-${this.#futures.size}`;
      this.#futures.set(id, { looks: 0, answer: resultOf(path, body) });
      return { request_id: id, model_id: body["model_id"] };
    }
    const future = this.#futures.get(String(body["request_id"]));
    if (future === undefined) return { error: "no such request", category: "user" };
    return (future.looks += 1) === 1 ? { type: "try_again", request_id: body["request_id"], queue_state: "active" } : future.answer;
  }
}

function resultOf(path: string, body: Body): unknown {
  const kind = path.slice("/api/v1/".length);
  if (kind === "create_model") return { type: "create_model", model_id: "m-1" };
  if (kind === "optim_step") return { metrics: { "unclipped_grad_l2_norm:mean": 0.5 } };
  if (kind === "save_weights_for_sampler") return { type: kind, path: `tinker://m-1/sampler_weights/${String(body["path"])}` };
  if (kind === "save_weights") return { type: kind, path: `tinker://m-1/weights/${String(body["path"])}` };
  if (kind === "load_weights") return { type: kind, path: body["path"] };
  if (kind === "asample") return { type: "sample", sequences: [{ tokens: [7, 2], logprobs: [-0.5, -0.25], stop_reason: "stop" }] };
  if (kind === "unload_model") return { type: kind, model_id: "m-1" };
  const input = body[`${kind}_input`] as { data: { loss_fn_inputs: { target_tokens: { data: number[] } } }[]; loss_fn: string };
  if (input.loss_fn === "fails") return { error: "unknown loss", category: "user" };
  const outputs = input.data.map(({ loss_fn_inputs: { target_tokens } }) => ({
    logprobs: { data: target_tokens.data.map((token) => -1 - token / 100), dtype: "float32", shape: [target_tokens.data.length] },
  }));
  return { loss_fn_output_type: "ArrayRecord", loss_fn_outputs: outputs, metrics: { "loss:sum": 1 } };
}

/** A tar archive, as GNU tar writes plain files. */
export function tar(files: Record<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name);
    header.write(content.length.toString(8).padStart(11, "0"), 124);
    header.write("0", 156);
    return [header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return new Uint8Array(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
