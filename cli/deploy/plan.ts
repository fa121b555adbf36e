/** What a deployment changes on an account that has none of it: the text of `npm run deploy -- --dry-run` (pure). */
import type { Base } from "../base-files.ts";
import * as commands from "./commands.ts";
import type { Target } from "./target.ts";

export type Plan = {
  readonly target: Target;
  readonly base: Base;
  readonly migrations: readonly string[];
  /** How large the Worker is, against what is allowed. */
  readonly size: string;
  /** Paths of the dashboard's files. */
  readonly assets: readonly string[];
  readonly secretsFile: string | undefined;
  /** Names of the secrets in that file. */
  readonly secrets: readonly string[];
};

/** `commands` are wrangler's, in the order in which they are run, or one request. */
type Change = { what: string; details?: readonly string[]; commands: readonly (readonly string[])[] | string };

export function describePlan(plan: Plan): string {
  const changes = changesOf(plan).map(({ what, details = [], commands: run }, index) => {
    const lines = typeof run === "string" ? [run] : run.map((command) => `$ wrangler ${command.map(quoted).join(" ")}`);
    return [`  ${index + 1}. ${what}`, ...details.map((detail) => `       ${detail}`), ...lines.map((line) => `     ${line}`)].join("\n");
  });
  return [
    "Nothing is changed now. On an account that has none of it, `npm run deploy` makes these changes;",
    "what it finds there already it leaves as it is, and uploads the Worker again.",
    "",
    ...changes,
    "",
  ].join("\n");
}

function changesOf({ target, base, migrations, size, assets, secretsFile, secrets }: Plan): Change[] {
  const config = `${target.folder}/wrangler.json`;
  const files = Object.entries(base.manifest.files);
  const bytes = files.reduce((sum, [, digest]) => sum + (base.files.get(digest)?.length ?? 0), 0);
  return [
    { what: `D1 database ${target.name}`, commands: [commands.createDatabase(target)] },
    { what: `tables, by ${migrations.length} migrations`, details: migrations, commands: [commands.applyMigrations(target, config)] },
    {
      what: `one key each for clients, people and trainers: plain in ${target.folder}/keys.json, hashed in the database`,
      commands: [commands.runSql(target, config, "INSERT OR IGNORE INTO keys …")],
    },
    { what: `R2 bucket ${target.bucket}`, commands: [commands.createBucket(target)] },
    {
      what: `base ${base.manifest.name}, ${files.length} files of ${(bytes / 1e6).toFixed(1)} MB, each under its SHA-256, and their manifest`,
      details: [...files.map(([name, digest]) => `files/${digest}  ${name}`), `files/${base.digest}  manifest`],
      commands: [commands.uploadFiles(target, "<list of the files>"), commands.uploadManifest(target, "<the manifest>")],
    },
    {
      what: `Worker ${target.name}, ${size}`,
      details: [`dashboard: ${assets.join(", ")}`, ...(secrets.length === 0 ? [] : [`secrets: ${secrets.join(", ")}`])],
      commands: [commands.deployWorker(config, secretsFile)],
    },
    { what: "agent assistant, where there is none", commands: "PUT <endpoint>/api/agents/assistant" },
  ];
}

function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word}'`;
}
