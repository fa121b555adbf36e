/** What is deployed under which names, and the configuration that wrangler gets for it: `wrangler.toml` with the account's own ids. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";

export type Target = {
  /** Of the Worker and the database; `<name>-artifacts` is the bucket. */
  readonly name: string;
  readonly bucket: string;
  /** Holds the keys in plain and wrangler's configuration; never in the repository's history. */
  readonly folder: string;
  readonly baseDigest: string;
};

/** Names that D1, R2 and workers.dev all take. */
export const TargetName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{1,40}[a-z0-9]$/, "3 to 42 lower-case letters, digits and hyphens, from a letter to no hyphen");

/** What this project's wrangler.toml must have for a deployment; everything else of it is passed on as it stands. */
const Configured = z.looseObject({
  main: z.string(),
  account_id: z.string().optional(),
  build: z.looseObject({ command: z.string() }),
  assets: z.looseObject({ directory: z.string() }),
  d1_databases: z.tuple([z.looseObject({ binding: z.string(), migrations_dir: z.string() })]),
  r2_buckets: z.tuple([z.looseObject({ binding: z.string() })]),
  vars: z.record(z.string(), z.unknown()),
});
export type Configured = z.infer<typeof Configured>;

/** @throws {input/invalid} naming what wrangler.toml lacks */
export function readConfigured(root: string): Configured {
  const file = join(root, "wrangler.toml");
  const parsed = Configured.safeParse(readRawConfig({ config: file }).rawConfig);
  if (parsed.success) return parsed.data;
  throw new AppError("input/invalid", `${file}: ${z.prettifyError(parsed.error)}`);
}

/** The configuration of one account (pure): paths are absolute, because the file lies elsewhere. */
export function accountConfig(configured: Configured, target: Target, { root, databaseId }: { root: string; databaseId: string }): object {
  const { name, bucket, baseDigest } = target;
  const { account_id: _, vars: localVars, ...rest } = configured; // the account comes from whoever is logged in
  const { FAULT: __, ...vars } = localVars; // names a place to stall at, for tests
  const [database] = configured.d1_databases;
  const [artifacts] = configured.r2_buckets;
  return {
    ...rest,
    name,
    main: join(root, configured.main),
    build: { ...configured.build, cwd: root },
    assets: { ...configured.assets, directory: join(root, configured.assets.directory) },
    d1_databases: [{ ...database, database_name: name, database_id: databaseId, migrations_dir: join(root, database.migrations_dir) }],
    r2_buckets: [{ ...artifacts, bucket_name: bucket }],
    vars: { ...vars, BASE_DIGEST: baseDigest },
  };
}

/** Writes the configuration into the target's folder; `npx wrangler tail --config` and its like take it, too. */
export async function writeAccountConfig(folder: string, config: object): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "wrangler.json");
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`);
  return file;
}
