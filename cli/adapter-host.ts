/**
 * Puts adapter files where an engine on this machine reads them: the edge sends what it lacks, by digest, and every file is checked before it
 * has a name. What an adapter's folder is called holds its digest; a folder is there whole or not at all.
 *
 *     PUT    /files/<sha256>      the bytes of a file
 *     POST   /adapters/<name>     {"files": {"adapter_config.json": "<sha256>", …}} → {"path": …} or {"missing": […]}
 *     DELETE /adapters/<name>
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { AppError, toErrorRecord } from "../shared/errors.ts";
import { DIGEST } from "../shared/digest.ts";
import { MOST_ADAPTER_BYTES } from "../shared/policy.ts";

export type AdapterHostOptions = {
  readonly folder: string;
  /** Where the engine sees the folder, if not under the same path. */
  readonly engineFolder?: string | undefined;
  readonly key: string;
  readonly port?: number;
  readonly host?: string;
  /** Run with an adapter's folder once it is there; the adapter is in place when it ends well. */
  readonly hook?: string | undefined;
  /** Called with an adapter's name once its folder is there; the adapter is in place when it resolves. */
  readonly place?: ((name: string) => Promise<void>) | undefined;
};
export type AdapterHost = { readonly url: string; close(): Promise<void> };

const MAX_JSON_BYTES = 10_000;
const HOOK_MS = 600_000;
/** What was sent this long ago and is in no adapter is not waiting to be placed. */
const UNPLACED_MS = 600_000;

const Name = z.string().regex(/^nextstate-[0-9a-f]{64}$/, "nextstate-<policy digest> expected");
const Digest = z.string().regex(DIGEST, "a lower-case hex SHA-256 expected");
const Placing = z.object({ files: z.strictObject({ "adapter_config.json": Digest, "adapter_model.safetensors": Digest }) });

/** Listens and resolves with its address. @throws for a folder that cannot be made */
export async function startAdapterHost(options: AdapterHostOptions): Promise<AdapterHost> {
  const { host = "127.0.0.1", port = 0 } = options;
  const folder = resolve(options.folder);
  await mkdir(join(folder, ".files"), { recursive: true });
  const shelf = new Shelf({ ...options, folder });
  const server = createServer((request, response) => void answer(shelf, options.key, request, response));
  await new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new AppError("internal", "internal: a port expected of the adapter host");
  const close = (): Promise<void> => new Promise((done) => (server.close(() => done()), server.closeAllConnections()));
  return { url: `http://${host}:${address.port}`, close };
}

async function answer(shelf: Shelf, key: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  try {
    if (!isKey(request, key)) throw new AppError("auth/missing", "authorization: the adapter host's key as a bearer token expected");
    send(200, await route(shelf, request));
  } catch (thrown) {
    request.resume();
    const { message } = toErrorRecord(thrown);
    send(thrown instanceof AppError ? thrown.status : 500, { error: { message } });
  }
}

async function route(shelf: Shelf, request: IncomingMessage): Promise<unknown> {
  const [, kind, name = ""] = (request.url ?? "").split("/");
  const called = `${request.method} ${kind}`;
  if (called === "PUT files") return shelf.store(parse(Digest, name), request);
  if (called === "POST adapters") return shelf.place(parse(Name, name), parse(Placing, await readJson(request)).files);
  if (called === "DELETE adapters") return shelf.remove(parse(Name, name));
  throw new AppError("input/notFound", `no route ${request.method} ${request.url}`);
}

class Shelf {
  readonly #folder: string;
  readonly #engineFolder: string;
  readonly #hook: string | undefined;
  readonly #place: (name: string) => Promise<void>;

  constructor({ folder, engineFolder, hook, place }: Pick<AdapterHostOptions, "folder" | "engineFolder" | "hook" | "place">) {
    this.#folder = folder;
    this.#engineFolder = engineFolder ?? folder;
    this.#hook = hook;
    this.#place = place ?? (() => Promise.resolve());
  }

  /** @throws {policy/digest} for bytes that are not what they are called */
  async store(digest: string, bytes: AsyncIterable<Buffer>): Promise<object> {
    const draft = join(this.#folder, ".files", randomUUID());
    const hash = createHash("sha256");
    let length = 0;
    async function* checked(): AsyncGenerator<Buffer, void, void> {
      for await (const chunk of bytes) {
        length += chunk.length;
        if (length > MOST_ADAPTER_BYTES)
          throw new AppError("input/tooLarge", `file ${digest}: at most ${MOST_ADAPTER_BYTES} bytes expected`);
        hash.update(chunk);
        yield chunk;
      }
    }
    try {
      await pipeline(checked, createWriteStream(draft));
      const actual = hash.digest("hex");
      if (actual !== digest) throw new AppError("policy/digest", `file ${digest}: SHA-256 of its ${length} bytes is ${actual}`);
      await rename(draft, this.#fileOf(digest));
      return { digest, bytes: length };
    } finally {
      await rm(draft, { force: true });
    }
  }

  async place(name: string, files: Readonly<Record<string, string>>): Promise<object> {
    const target = join(this.#folder, name);
    if (!existsSync(target)) {
      const missing = Object.values(files).filter((digest) => !existsSync(this.#fileOf(digest)));
      if (missing.length > 0) return { missing };
      const draft = join(this.#folder, `.draft-${randomUUID()}`);
      await mkdir(draft);
      for (const [file, digest] of Object.entries(files)) await link(this.#fileOf(digest), join(draft, file));
      // Another call may have been faster with the very same bytes.
      await rename(draft, target).catch(() => rm(draft, { recursive: true }));
    }
    if (this.#hook !== undefined) await promisify(execFile)(this.#hook, [target], { timeout: HOOK_MS });
    await this.#place(name);
    return { path: join(this.#engineFolder, name) };
  }

  /** Takes the folder away, and files that no folder links to. */
  async remove(name: string): Promise<object> {
    await rm(join(this.#folder, name), { recursive: true, force: true });
    for (const file of await readdir(join(this.#folder, ".files"))) {
      const { nlink, mtimeMs } = await stat(this.#fileOf(file));
      if (nlink === 1 && Date.now() - mtimeMs > UNPLACED_MS) await rm(this.#fileOf(file), { force: true });
    }
    return { removed: name };
  }

  #fileOf(digest: string): string {
    return join(this.#folder, ".files", digest);
  }
}

function isKey({ headers: { authorization = "" } }: IncomingMessage, key: string): boolean {
  const [given, expected] = [authorization, `Bearer ${key}`].map((text) => createHash("sha256").update(text).digest());
  return given !== undefined && expected !== undefined && timingSafeEqual(given, expected);
}

function parse<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError("input/invalid", z.prettifyError(parsed.error));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > MAX_JSON_BYTES) throw new AppError("input/tooLarge", `body: at most ${MAX_JSON_BYTES} bytes expected`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("input/invalid", "body: JSON expected", { cause });
  }
}
