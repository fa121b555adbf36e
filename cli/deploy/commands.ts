/** Wrangler's arguments for each change that a deployment makes: what is run, and what `--dry-run` shows (pure). */
import type { Target } from "./target.ts";

type Command = readonly string[];

export const createDatabase = ({ name }: Target): Command => ["d1", "create", name];

export const createBucket = ({ bucket }: Target): Command => ["r2", "bucket", "create", bucket];

/** `list` is a file of `{key, file}`. */
export const uploadFiles = ({ bucket }: Target, list: string): Command => ["r2", "bulk", "put", bucket, "--filename", list, "--remote"];

/** After the files, so that a manifest that is found means that they are there. */
export const uploadManifest = ({ bucket, baseDigest }: Target, file: string): Command => [
  "r2",
  "object",
  "put",
  `${bucket}/files/${baseDigest}`,
  "--file",
  file,
  "--remote",
];

export const applyMigrations = ({ name }: Target, config: string): Command => [
  "d1",
  "migrations",
  "apply",
  name,
  "--remote",
  "--config",
  config,
];

export const runSql = ({ name }: Target, config: string, sql: string): Command => [
  "d1",
  "execute",
  name,
  "--remote",
  "--config",
  config,
  "--command",
  sql,
];

export const deployWorker = (config: string, secretsFile: string | undefined): Command => [
  "deploy",
  "--config",
  config,
  ...(secretsFile === undefined ? [] : ["--secrets-file", secretsFile]),
];
