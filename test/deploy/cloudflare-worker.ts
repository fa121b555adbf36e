/** What Cloudflare does with an uploaded Worker: its databases and buckets exist before it, and it runs on them once it is there. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";
import { unstable_splitSqlQuery as splitSql } from "wrangler";
import { z } from "zod";

const Binding = z.discriminatedUnion("type", [
  z.object({ type: z.literal("plain_text"), name: z.string(), text: z.string() }),
  z.object({ type: z.literal("secret_text"), name: z.string(), text: z.string() }),
  z.object({ type: z.literal("d1"), name: z.string(), id: z.string() }),
  z.object({ type: z.literal("r2_bucket"), name: z.string(), bucket_name: z.string() }),
  z.object({ type: z.literal("durable_object_namespace"), name: z.string(), class_name: z.string() }),
  z.object({ type: z.literal("assets"), name: z.string() }),
  z.object({ type: z.literal("inherit"), name: z.string() }),
]);

/** The `metadata` part: https://developers.cloudflare.com/workers/configuration/multipart-upload-metadata/ */
const Metadata = z.object({
  main_module: z.string(),
  compatibility_date: z.string(),
  bindings: z.array(Binding),
  migrations: z
    .object({ old_tag: z.string().optional(), new_tag: z.string(), steps: z.array(z.object({ new_sqlite_classes: z.array(z.string()) })) })
    .optional(),
  assets: z.object({
    jwt: z.string(),
    config: z.object({ not_found_handling: z.string(), run_worker_first: z.array(z.string()) }),
  }),
});

type Module = { type: "ESModule" | "CompiledWasm"; path: string; contents: string | Uint8Array<ArrayBuffer> };

export type Upload = {
  readonly name: string;
  /** Of the last migration of Durable Object classes that was applied. */
  readonly tag: string | undefined;
  readonly classes: readonly string[];
  readonly metadata: z.infer<typeof Metadata>;
  readonly modules: readonly Module[];
  readonly secrets: ReadonlyMap<string, string>;
  readonly assetsJwt: string;
};

/** @throws where the parts are not those of the reference, or a binding's class was never migrated */
export async function readUpload(name: string, form: FormData, before: Upload | undefined): Promise<Upload> {
  const part = form.get("metadata");
  const metadata = Metadata.parse(JSON.parse(typeof part === "string" ? part : ((await part?.text()) ?? "")));
  const modules: Module[] = [];
  for (const [path, file] of form) {
    if (typeof file === "string" || path === "metadata" || file.type === "application/source-map") continue;
    const wasm = file.type === "application/wasm";
    modules.push({
      type: wasm ? "CompiledWasm" : "ESModule",
      path: file.name,
      contents: wasm ? new Uint8Array(await file.arrayBuffer()) : await file.text(),
    });
  }
  // The entry stands first.
  modules.sort((a, b) => Number(b.path === metadata.main_module) - Number(a.path === metadata.main_module));
  const { migrations, bindings } = metadata;
  if (migrations !== undefined && migrations.old_tag !== before?.tag)
    throw new Error(`migration ${migrations.new_tag}: old_tag ${before?.tag} expected, got ${migrations.old_tag}`);
  const classes = [...(before?.classes ?? []), ...(migrations?.steps.flatMap((step) => step.new_sqlite_classes) ?? [])];
  for (const binding of bindings)
    if (binding.type === "durable_object_namespace" && !classes.includes(binding.class_name))
      throw new Error(`class ${binding.class_name}: one of ${classes.join(", ")} expected`);
  const secrets = bindings.flatMap((binding) => (binding.type === "secret_text" ? [[binding.name, binding.text] as const] : []));
  const tag = migrations?.new_tag ?? before?.tag;
  return { name, tag, classes, metadata, modules, secrets: new Map(secrets), assetsJwt: metadata.assets.jwt };
}

const EMPTY: V4WorkerOptions = {
  name: "storage",
  modules: [{ type: "ESModule", path: "index.mjs", contents: "export default { fetch: () => new Response(null, { status: 404 }) }" }],
  compatibilityDate: "2026-06-11",
};

type Running = { upload: Upload; secrets: ReadonlyMap<string, string>; files: ReadonlyMap<string, Uint8Array> };

export class CloudflareWorker {
  readonly #folder = mkdtempSync(join(tmpdir(), "nextstate-cloudflare-"));
  readonly #miniflare: Miniflare;
  #url = "";
  #worker: V4WorkerOptions = EMPTY;
  #port = 0;

  private constructor() {
    this.#miniflare = new Miniflare(this.#options());
  }

  static async start(): Promise<CloudflareWorker> {
    const worker = new CloudflareWorker();
    worker.#url = (await worker.#miniflare.ready).origin;
    worker.#port = Number(new URL(worker.#url).port);
    return worker;
  }

  get url(): string {
    return this.#url;
  }

  /** Databases and buckets by their ids, for the API's own calls; the Worker has them under the names of its bindings. */
  async provide(databases: readonly string[], buckets: readonly string[]): Promise<void> {
    const byId = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, { id }]));
    this.#worker = { ...this.#worker, d1Databases: byId(databases), r2Buckets: byId(buckets) };
    await this.#miniflare.setOptions(this.#options());
  }

  async run({ upload, secrets, files }: Running): Promise<void> {
    const assets = join(this.#folder, `assets-${Date.now()}`);
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(assets, path)), { recursive: true });
      writeFileSync(join(assets, path), bytes);
    }
    const { metadata, modules } = upload;
    const { d1Databases, r2Buckets } = this.#worker;
    const d1: Record<string, { id: string }> = { ...(d1Databases as Record<string, { id: string }>) };
    const r2: Record<string, { id: string }> = { ...(r2Buckets as Record<string, { id: string }>) };
    const bindings: Record<string, string> = Object.fromEntries(secrets);
    const durableObjects: Record<string, { className: string; useSQLite: boolean }> = {};
    for (const binding of metadata.bindings) {
      if (binding.type === "plain_text") bindings[binding.name] = binding.text;
      if (binding.type === "d1") d1[binding.name] = { id: binding.id };
      if (binding.type === "r2_bucket") r2[binding.name] = { id: binding.bucket_name };
      if (binding.type === "durable_object_namespace") durableObjects[binding.name] = { className: binding.class_name, useSQLite: true };
    }
    const { config } = metadata.assets;
    this.#worker = {
      name: upload.name,
      modules: [...modules],
      compatibilityDate: metadata.compatibility_date,
      bindings,
      d1Databases: d1,
      r2Buckets: r2,
      durableObjects,
      assets: {
        directory: assets,
        binding: metadata.bindings.find(({ type }) => type === "assets")?.name,
        routerConfig: { has_user_worker: true, static_routing: staticRouting(config.run_worker_first) },
        assetConfig: { not_found_handling: config.not_found_handling, compatibility_date: metadata.compatibility_date },
      },
    } as V4WorkerOptions;
    await this.#miniflare.setOptions(this.#options());
  }

  database(id: string) {
    return this.#miniflare.getD1Database(id);
  }

  bucket(name: string) {
    return this.#miniflare.getR2Bucket(name);
  }

  /** One result for each statement, as D1's API has it; all of them or none. */
  async query(id: string, sql: string, params: readonly string[]) {
    const database = await this.database(id);
    const statements = splitSql(sql).map((statement) =>
      params.length > 0 ? database.prepare(statement).bind(...params) : database.prepare(statement),
    );
    return database.batch(statements);
  }

  async close(): Promise<void> {
    await this.#miniflare.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #options() {
    return convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: this.#port,
      log: new Log(LogLevel.ERROR),
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: join(this.#folder, "storage"),
      workers: [this.#worker],
    });
  }
}

/** `run_worker_first` as the asset router takes it: what begins with ! goes to the assets. */
function staticRouting(rules: readonly string[]) {
  const assets = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
  return { asset_worker: assets, user_worker: rules.filter((rule) => !rule.startsWith("!")) };
}
