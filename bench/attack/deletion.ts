/** The end of a user: nothing that was said, and nothing that was made from it, is still there to be found. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { atLeast, atMost, say } from "../bench.ts";
import { correct } from "../sim/user.ts";
import type { Preference } from "../sim/preferences.ts";
import type { Person } from "./person.ts";
import { sayTogether, unmet, type Outcome, type Stage } from "./scenario.ts";

const MARK = "Zanzibarovich"; // a name that nobody else says
const SAID = 4; // conversations of the one who leaves: a judge this small misses some wordings
const FILE_TRIES = 30;
const FILE_WAIT_MS = 1_000;
const LIVE = ["stable", "canary", "candidate"];

const Tables = z.array(z.object({ name: z.string() }));

export async function deletion(stage: Stage): Promise<Outcome> {
  const { town, residents, wishes } = stage;
  const [leaver] = residents;
  if (leaver === undefined) throw new Error("a resident expected");
  const user = await town.userId(leaver);
  for await (const wish of unmet(stage, wishes.toReversed())) {
    await teachBeside(stage, wish, leaver);
    if ((await dependent(stage, user)).live > 0) break;
  }
  const before = { mentions: await mentions(stage, [MARK]), ...(await dependent(stage, user)) };
  const asked = performance.now();
  await town.admin("DELETE", `/api/users/${user}`);
  await town.learn();
  const seconds = (performance.now() - asked) / 1_000;
  // Files go a little after the versions that named them.
  for (let tries = 0; tries < FILE_TRIES && (await dependent(stage, user)).files > 0; tries += 1) await sleep(FILE_WAIT_MS);
  const after = { mentions: await mentions(stage, [MARK]), ...(await dependent(stage, user)) };
  say(`  deletion: ${JSON.stringify(before)} → ${JSON.stringify(after)} in ${Math.round(seconds)} s`);
  return {
    figures: { before, after, seconds: Math.round(seconds) },
    bars: [
      atLeast("deletion: places that held the user's words before", before.mentions.length, 1, "places"),
      atLeast("deletion: live versions made with the user before", before.live, 1, "versions"),
      atMost("deletion: places that hold the user's words", after.mentions.length, 0, "places"),
      atMost("deletion: live versions made with the user", after.live, 0, "versions"),
      atMost("deletion: adapter files of versions made with the user", after.files, 0, "files"),
    ],
  };
}

/** The one who leaves voices a wish among others who do. */
async function teachBeside(stage: Stage, wish: Preference, leaver: Person): Promise<void> {
  const { town, random } = stage;
  for (const request of wish.silent.slice(0, SAID)) {
    const said = correct(wish, random);
    await town.converse(leaver, request, { role: "user", content: `${said.content ?? ""} Yours, ${MARK}.` });
  }
  await sayTogether(stage, wish);
  await town.learn();
}

/** Every row of every D1 table and every object of the bucket that holds one of the words, and what the API shows of the agent. */
async function mentions({ town }: Stage, words: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const holds = (text: string): boolean => words.some((word) => text.includes(word));
  const db = await town.edge.getD1();
  const { results } = await db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'")
    .all();
  for (const { name } of Tables.parse(results)) {
    const { results: rows } = await db.prepare(`SELECT * FROM "${name}"`).all();
    if (rows.some((row) => holds(JSON.stringify(row)))) found.push(`D1 ${name}`);
  }
  const bucket = await town.edge.getR2();
  for (let cursor: string | undefined; ;) {
    const page = await bucket.list(cursor === undefined ? {} : { cursor });
    for (const { key } of page.objects) if (holds((await (await bucket.get(key))?.text()) ?? "")) found.push(`R2 ${key}`);
    if (!page.truncated) break;
    cursor = page.cursor;
  }
  for (const part of ["versions", "notes", "suite", "audit", "events"])
    if (holds(JSON.stringify(await town.admin("GET", `/api/agents/${town.agent}/${part}`)))) found.push(`API ${part}`);
  return found;
}

/** Versions that may answer and were made with the user, and adapter files that are still stored of any that were. */
async function dependent({ town }: Stage, user: string): Promise<{ live: number; files: number }> {
  const versions = await town.versions();
  const made = versions.filter(({ events }) => events.some((event) => event.user === user));
  const bucket = await town.edge.getR2();
  let files = 0;
  const filesOf = ({ adapter }: (typeof versions)[number]): string[] =>
    adapter === null ? [] : [adapter.weightsDigest, adapter.configDigest];
  // Files are named by what is in them: a configuration that a version of others has too says nothing of the user.
  const others = new Set(versions.filter((version) => !made.includes(version)).flatMap(filesOf));
  for (const digest of new Set(made.flatMap(filesOf)))
    if (!others.has(digest)) files += Number((await bucket.head(`files/${digest}`)) !== null);
  return { live: made.filter(({ status }) => LIVE.includes(status)).length, files };
}
