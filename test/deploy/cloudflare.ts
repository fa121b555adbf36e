/**
 * Cloudflare's API over HTTP, as far as `npm run deploy` needs it: real databases and buckets, and whatever Worker is uploaded runs
 * in workerd. Shapes are those of https://developers.cloudflare.com/api/; a call that is not listed here is a 404, and is remembered.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { CloudflareWorker, readUpload, type Upload } from "./cloudflare-worker.ts";

export const ACCOUNT = { id: "0123456789abcdef0123456789abcdef", name: "Example Ltd" };
export const TOKEN = "a-token-of-the-account";

type Account = { id: string; name: string };

/** Which calls fail, by `METHOD /path` below the account and body; before they have changed anything, or with the change made and its answer lost. */
export type Fault = { readonly when: "before" | "after"; readonly hits: (called: string, body: string) => boolean };

type Call = { path: string; params: readonly string[]; request: Request };
type Handler = (call: Call) => unknown;

/** An error in the API's own form. */
class ApiError extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Bytes instead of JSON. */
class Bytes {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

const Named = z.object({ name: z.string() });
const Query = z.object({ sql: z.string(), params: z.array(z.string()).optional() });
const Deployment = z.object({ strategy: z.literal("percentage"), versions: z.tuple([z.object({ percentage: z.literal(100) })]) });
const Manifest = z.object({ manifest: z.record(z.string(), z.object({ hash: z.string(), size: z.number() })) });

export class Cloudflare {
  /** Calls that changed something, `METHOD /path` below the account, in order. */
  readonly changes: string[] = [];
  /** Calls that this server does not speak. */
  readonly unknown: string[] = [];
  readonly databases = new Map<string, string>();
  readonly buckets = new Set<string>();
  readonly secrets = new Map<string, string>();
  readonly uploads: Upload[] = [];
  /** What wrangler takes as CLOUDFLARE_API_BASE_URL. */
  apiUrl = "";
  fault: Fault | undefined;
  /** Those that the token reaches. */
  accounts: readonly Account[] = [ACCOUNT];
  /** Whether the token may ask whose it is and list accounts, which one that is made for a deployment need not. */
  tells = true;
  readonly #worker: CloudflareWorker;
  readonly #assets = new Map<string, Uint8Array>();
  #manifest: z.infer<typeof Manifest>["manifest"] = {};
  #server: Server | undefined;

  private constructor(worker: CloudflareWorker) {
    this.#worker = worker;
  }

  static async start(): Promise<Cloudflare> {
    const cloudflare = new Cloudflare(await CloudflareWorker.start());
    const server = createServer((request, response) => void cloudflare.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cloudflare.#server = server;
    cloudflare.apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`;
    return cloudflare;
  }

  /** Where the uploaded Worker answers. */
  get workerUrl(): string {
    return this.#worker.url;
  }

  /** What a bucket holds, by its keys. */
  async objects(bucket: string): Promise<string[]> {
    const { objects } = await (await this.#worker.bucket(bucket)).list();
    return objects.map(({ key }) => key);
  }

  /** The only database. */
  async database() {
    return this.#worker.database([...this.databases.values()][0] ?? "");
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
    await this.#worker.close();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("content-type", "application/json");
    try {
      const result = await this.#route(await toRequest(incoming));
      if (result instanceof Bytes) {
        response.setHeader("content-type", "application/octet-stream");
        response.end(result.bytes);
        return;
      }
      const items = Array.isArray(result) ? result.length : 1;
      const result_info = { page: 1, per_page: Math.max(items, 1), count: items, total_count: items };
      response.end(JSON.stringify({ success: true, errors: [], messages: [], result, result_info }));
    } catch (error) {
      const { status, code } = error instanceof ApiError ? error : { status: 500, code: 10_001 };
      response.statusCode = status;
      response.end(JSON.stringify({ success: false, errors: [{ code, message: String(error) }], messages: [], result: null }));
    }
  }

  async #route(request: Request): Promise<unknown> {
    const { pathname } = new URL(request.url);
    const path = pathname.replace(/^\/client\/v4/, "");
    const authorization = request.headers.get("authorization");
    // An upload of assets carries the session's token instead.
    const uploads = path.endsWith("/workers/assets/upload") && authorization === `Bearer ${SESSION}`;
    if (authorization !== `Bearer ${TOKEN}` && !uploads) throw new ApiError(401, 10_000, "Authentication error");
    const [, account, below] = /^\/accounts\/([^/]+)(\/.*)$/.exec(path) ?? [];
    if (account !== undefined && !this.accounts.some(({ id }) => id === account)) throw new ApiError(403, 10_000, "Authentication error");
    const called = `${request.method} ${below ?? path}`;
    if (!this.tells && /^GET \/(user|accounts|memberships)$/.test(called))
      throw new ApiError(403, 9_109, "Unauthorized to access requested resource");
    for (const [pattern, handler] of this.#routes) {
      const match = pattern.exec(called);
      if (match === null) continue;
      if (request.method !== "GET" && below !== undefined) this.changes.push(called);
      const body = await request.clone().text();
      const fails = (when: Fault["when"]): boolean => this.fault?.when === when && this.fault.hits(called, body);
      if (fails("before")) throw new ApiError(500, 10_001, "internal error");
      const result = await handler({ path: below ?? path, params: match.slice(1).map(decodeURIComponent), request });
      if (fails("after")) throw new ApiError(500, 10_001, "internal error");
      return result;
    }
    this.unknown.push(called);
    throw new ApiError(404, 7_003, `no route for ${called}`);
  }

  /** Of one account; a name in capitals is the section of the API's reference. */
  readonly #routes: readonly (readonly [RegExp, Handler])[] = [
    // USER, ACCOUNTS
    [/^GET \/user\/tokens\/verify$/, () => ({ id: "token", status: "active" })],
    [/^GET \/user$/, () => ({ id: "user", email: "somebody@example.com" })],
    [/^GET \/accounts$/, () => this.accounts],
    [/^GET \/memberships$/, () => this.accounts.map((account) => ({ id: `m-${account.id}`, account }))],
    // What a bucket holds; GraphQL answers without the envelope.
    [/^POST \/graphql$/, () => new Bytes(Buffer.from('{"data":{"viewer":{"accounts":[{"r2StorageAdaptiveGroups":[]}]}},"errors":null}'))],
    // D1
    [/^GET \/d1\/database$/, () => [...this.databases].map(([name, uuid]) => ({ name, uuid }))],
    [/^POST \/d1\/database$/, (call) => this.#createDatabase(call)],
    [/^GET \/d1\/database\/([^/]+)$/, ({ params: [uuid = ""] }) => ({ uuid, name: this.#nameOf(uuid), version: "production" })],
    [/^POST \/d1\/database\/([^/]+)\/query$/, (call) => this.#query(call)],
    // R2
    [/^GET \/r2\/buckets\/([^/]+)$/, ({ params: [name = ""] }) => ({ name: this.#bucket(name) })],
    [/^POST \/r2\/buckets$/, (call) => this.#createBucket(call)],
    [/^PUT \/r2\/buckets\/([^/]+)\/objects\/(.+)$/, (call) => this.#putObject(call)],
    [/^GET \/r2\/buckets\/([^/]+)\/objects\/(.+)$/, (call) => this.#getObject(call)],
    // WORKERS
    [/^GET \/workers\/subdomain$/, () => ({ subdomain: "example" })],
    [/^GET \/workers\/services\/([^/]+)$/, ({ params: [name = ""] }) => this.#service(name)],
    [/^GET \/workers\/scripts\/[^/]+\/deployments$/, () => ({ deployments: [] })],
    [/^GET \/workers\/workers\/([^/]+)$/, ({ params: [name] }) => ({ id: name, name, subdomain: SUBDOMAIN })],
    [/^GET \/workers\/scripts\/([^/]+)\/settings$/, ({ params: [name = ""] }) => this.#settings(name)],
    [/^GET \/workers\/scripts\/[^/]+\/secrets$/, () => [...this.secrets.keys()].map((name) => ({ name, type: "secret_text" }))],
    [/^POST \/workers\/scripts\/[^/]+\/assets-upload-session$/, (call) => this.#openAssets(call)],
    [/^POST \/workers\/assets\/upload$/, (call) => this.#uploadAssets(call)],
    [/^PUT \/workers\/scripts\/([^/]+)$/, (call) => this.#upload(call)],
    // Once the Worker is there: a version, and then a deployment that sends all requests to it.
    [/^POST \/workers\/scripts\/([^/]+)\/versions$/, (call) => this.#upload(call)],
    [/^POST \/workers\/scripts\/[^/]+\/deployments$/, async ({ request }) => Deployment.parse(await request.json())],
    [/^PATCH \/workers\/scripts\/[^/]+\/script-settings$/, ({ request }) => request.json()],
    [/^POST \/workers\/scripts\/[^/]+\/subdomain$/, () => SUBDOMAIN],
  ];

  async #createDatabase({ request }: Call): Promise<unknown> {
    const { name } = Named.parse(await request.json());
    if (this.databases.has(name)) throw new ApiError(400, 7_502, `Database with name '${name}' already exists`);
    this.databases.set(name, randomUUID());
    await this.#worker.provide([...this.databases.values()], [...this.buckets]);
    return { name, uuid: this.databases.get(name) };
  }

  #nameOf(uuid: string): string {
    const [name] = [...this.databases].find(([, id]) => id === uuid) ?? [];
    if (name === undefined) throw new ApiError(404, 7_404, "database not found");
    return name;
  }

  async #query({ params: [uuid = ""], request }: Call): Promise<unknown> {
    this.#nameOf(uuid);
    const { sql, params = [] } = Query.parse(await request.json());
    try {
      return await this.#worker.query(uuid, sql, params);
    } catch (error) {
      throw new ApiError(400, 7_500, String(error));
    }
  }

  #bucket(name: string): string {
    if (!this.buckets.has(name)) throw new ApiError(404, 10_006, "The specified bucket does not exist.");
    return name;
  }

  async #createBucket({ request }: Call): Promise<unknown> {
    const { name } = Named.parse(await request.json());
    if (this.buckets.has(name)) throw new ApiError(409, 10_004, "The bucket you tried to create already exists");
    this.buckets.add(name);
    await this.#worker.provide([...this.databases.values()], [...this.buckets]);
    return {};
  }

  async #putObject({ params: [bucket = "", key = ""], request }: Call): Promise<unknown> {
    const r2 = await this.#worker.bucket(this.#bucket(bucket));
    await r2.put(key, await request.arrayBuffer());
    return { key };
  }

  async #getObject({ params: [bucket = "", key = ""] }: Call): Promise<Bytes> {
    const object = await (await this.#worker.bucket(this.#bucket(bucket))).get(key);
    if (object === null) throw new ApiError(404, 10_007, "The specified key does not exist.");
    return new Bytes(new Uint8Array(await object.arrayBuffer()));
  }

  #service(name: string): unknown {
    const last = this.uploads.at(-1);
    if (last?.name !== name) throw new ApiError(404, 10_090, "This Worker does not exist on your account.");
    const script = { id: name, migration_tag: last.tag, last_deployed_from: "wrangler" };
    return { id: name, default_environment: { environment: "production", script } };
  }

  #settings(name: string): unknown {
    const last = this.uploads.at(-1);
    if (last?.name !== name) throw new ApiError(404, 10_007, "This Worker does not exist on your account.");
    const { bindings, compatibility_date } = last.metadata;
    return { bindings: bindings.filter(({ type }) => type !== "inherit"), compatibility_date };
  }

  /** https://developers.cloudflare.com/workers/static-assets/direct-upload/ */
  async #openAssets({ request }: Call): Promise<unknown> {
    this.#manifest = Manifest.parse(await request.json()).manifest;
    const missing = Object.values(this.#manifest)
      .map(({ hash }) => hash)
      .filter((hash) => !this.#assets.has(hash));
    return { jwt: missing.length === 0 ? COMPLETION : SESSION, buckets: missing.length === 0 ? [] : [missing] };
  }

  async #uploadAssets({ request }: Call): Promise<unknown> {
    for (const [hash, file] of await request.formData())
      if (typeof file !== "string") this.#assets.set(hash, Buffer.from(await file.text(), "base64"));
    return { jwt: COMPLETION };
  }

  async #upload({ params: [name = ""], request }: Call): Promise<unknown> {
    const upload = await readUpload(name, await request.formData(), this.uploads.at(-1));
    if (upload.assetsJwt !== COMPLETION) throw new ApiError(400, 10_021, "assets: a completion token expected");
    for (const [key, text] of upload.secrets) this.secrets.set(key, text);
    const files = Object.entries(this.#manifest).map(([path, { hash }]) => [path, this.#assets.get(hash) ?? new Uint8Array()] as const);
    await this.#worker.run({ upload, secrets: this.secrets, files: new Map(files) });
    this.uploads.push(upload);
    const resources = { script: { etag: "etag" }, script_runtime: {} };
    return { id: randomUUID(), deployment_id: randomUUID(), startup_time_ms: 1, etag: "etag", resources };
  }
}

const SUBDOMAIN = { enabled: true, previews_enabled: true };
const COMPLETION = "completed";
const SESSION = jwt({ purpose: "session" });

/** wrangler reads the claims of the session's token, and nothing checks its signature. */
function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.unsigned`;
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  const { method = "GET", url = "/" } = incoming;
  return new Request(`http://127.0.0.1${url}`, { method, headers, ...(chunks.length > 0 && { body: Buffer.concat(chunks) }) });
}
