/**
 * `npm run bench:dashboard`: what a person at the dashboard waits for, once an agent has had many turns: each list that a view
 * asks for, what the first page weighs, and, where a browser is found, how long until the overview can be used.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../trainer/command-line.ts";
import { gzipSync } from "node:zlib";
import { startEdgeHost, type EdgeHost } from "../cli/edge-host.ts";
import { atMost, type Bar, ifAny, median, report, say } from "./bench.ts";
import { CHROMIUM, launch } from "./browser.ts";
import { openingTurn } from "./sim/logbook.ts";

const AGENT = "busy";
const USERS = 500;
const DAYS = 30;
const CHUNK = 5_000;

const { values: options } = readCommandLine({
  options: {
    turns: { type: "string", default: "100000" },
    tries: { type: "string", default: "15" },
    base: { type: "string", default: "base" },
  },
});

const LISTS: Readonly<Record<string, string>> = {
  turns: "turns",
  "turns, far back": "turns?before=1000",
  "turns of a user": "turns?user=u_0000000000000007",
  "turns that were rejected": "turns?reward=-1",
  "turns that were not judged": "turns?reward=none",
  "turns of a version, rejected": "turns?version=0&reward=-1",
  "turns of a version, far back": "turns?version=0&before=1000",
  "words of few turns": "turns?words=booking77",
  "words of all turns": "turns?words=room delhi",
  "words of all turns, far back": "turns?words=room delhi&before=1000",
  "words of all turns, rejected": "turns?words=room&reward=-1",
  "words of a user": "turns?words=room&user=u_0000000000000007",
  "words in a conversation": `turns?words=room&session=${sessionOf(77)}`,
  "beginnings of words": "turns?words=book",
  "one conversation": `turns?session=${sessionOf(77)}`,
  events: "events?cursor=1000",
  audit: "audit",
  lines: "lines",
  versions: "versions",
  notes: "notes",
  suite: "suite",
  quarantine: "quarantine",
  release: "release",
  "series by hour": "series?step=hour",
  "series by day": "series?step=day",
};

async function main(): Promise<void> {
  const [turns, tries] = [Number(options.turns), Number(options.tries)];
  const folder = await mkdtemp(join(tmpdir(), "nextstate-bench-"));
  const edge = await startEdgeHost({ stateFolder: join(folder, "state"), baseFolder: options.base });
  try {
    await get(edge, "", { method: "PUT", body: "{}" });
    await fill(edge, turns);
    const timed: Record<string, number[]> = Object.fromEntries(Object.keys(LISTS).map((name) => [name, []]));
    for (let round = 0; round <= tries; round += 1)
      for (const [name, path] of Object.entries(LISTS)) {
        const took = await timeOf(() => get(edge, `/${path}`));
        if (round > 0) timed[name]?.push(took); // the first asks for pages that nobody has read yet
      }
    const medians = Object.fromEntries(Object.entries(timed).map(([name, values]) => [name, median(values)]));
    const firstLoadBytes = await bytesOfPage();
    const usable = await timesToOverview(edge, Math.min(tries, 5));
    const bars: Bar[] = [
      ...Object.entries(medians).map(([name, value]) => atMost(`${name}, median`, value, 50, "ms")),
      atMost("first load, gzip", firstLoadBytes, 150_000, "bytes"),
      atMost("overview can be used, median", ifAny(usable, median), 1_000, "ms"),
    ];
    report({
      bench: "dashboard",
      conditions: { turns, tries, users: USERS },
      figures: { lists: medians, firstLoadBytes, overview: usable },
      bars,
    });
  } finally {
    await edge.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function sessionOf(turn: number): string {
  return `s_${turn.toString(16).padStart(32, "0")}`;
}

async function get({ url, keys }: EdgeHost, path: string, init: RequestInit = {}): Promise<string> {
  const headers = { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" };
  const response = await fetch(`${url}/api/agents/${AGENT}${path}`, { headers, ...init });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: 2xx expected, got ${response.status} ${text}`);
  return text;
}

async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

/** Turns with a next state and a judgement each, over the last days, as the edge and a trainer would have logged them. */
async function fill(edge: EdgeHost, turns: number): Promise<void> {
  const db = await edge.getD1();
  const said = { messages: [{ role: "user" as const, content: "A room in Delhi for two, please." }], tools: [] };
  const sampling = { seed: 1, temperature: 0, topP: 1, masked: false };
  const rollout = {
    promptTokens: Array<number>(200).fill(7),
    responseTokens: Array<number>(40).fill(7),
    rolloutLogProbs: Array<number>(40).fill(-0.1),
    sampling,
  };
  const finished = JSON.stringify(openingTurn("chatcmpl-@", { ...said, answer: { role: "assistant", content: "It is booked." }, rollout }));
  const next = JSON.stringify({ kind: "nextState:arrived", completionId: "chatcmpl-@", messages: [{ role: "user", content: "Thanks." }] });
  const judged = JSON.stringify({ kind: "judgement:made", subject: "@/next", reward: 1, votes: [1, 1, 1], judge: "embedded" });
  const insert = `
    WITH RECURSIVE turn(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < ?),
      kinds(suffix, kind, payload) AS (VALUES ('finished', 'turn:finished', ?), ('next', 'nextState:arrived', ?), ('next/judged', 'judgement:made', ?))
    INSERT INTO events (event_id, agent, line, session_id, turn_id, user, kind, payload, created_at)
    SELECT printf('s_%032x/%016x/%s', n, n, suffix), ?, 'shared', printf('s_%032x', n), printf('s_%032x/%016x', n, n), printf('u_%016x', n % ?),
      kind, replace(payload, '@', printf('%032x%016x', n, n)), ? - (? - n) * ?
    FROM turn, kinds ORDER BY n`;
  // As the edge indexes them (edge/db/turn-rows.ts): one turn in fifty was rejected.
  const ended =
    "SELECT seq, turn_id, user, row_number() OVER (ORDER BY seq) + ? - 1 AS n FROM events WHERE agent = ? AND kind = 'turn:finished' AND seq > ?";
  const turnRows = `INSERT INTO turns SELECT seq, turn_id, '${AGENT}', user, 0, iif(n % 50 = 0, -1, 1), 2 FROM (${ended})`;
  const facets = `'a${AGENT} v0 u' || replace(user, '_', char(57344))`;
  const words = `
    INSERT INTO said (rowid, facets, words)
    SELECT seq * 4096, ${facets}, 'A room in Delhi for two, please. It is booked: booking' || n FROM (${ended})
    UNION ALL SELECT seq * 4096 + 1, ${facets}, 'Thanks.' FROM (${ended}) ORDER BY 1`;
  const stepMs = Math.floor((DAYS * 86_400_000) / turns);
  for (let from = 0; from < turns; from += CHUNK) {
    const to = Math.min(turns, from + CHUNK);
    const last = (await db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").first<number>("seq")) ?? 0;
    await db.prepare(insert).bind(from, to, finished, next, judged, AGENT, USERS, Date.now(), turns, stepMs).run();
    const chunk = [from, AGENT, last];
    await db
      .prepare(turnRows)
      .bind(...chunk)
      .run();
    await db
      .prepare(words)
      .bind(...chunk, ...chunk)
      .run();
    if (to % (4 * CHUNK) === 0 || to === turns) say(`${to} of ${turns} turns are in the log`);
  }
}

/** What a browser loads before the first view: page, script and styles, compressed. */
async function bytesOfPage(): Promise<number> {
  const root = new URL("../dashboard/dist/", import.meta.url).pathname;
  const files = ["index.html", "favicon.svg", ...(await readdir(join(root, "assets"))).map((name) => `assets/${name}`)];
  const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(join(root, file))).length));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** ms from an address to the overview with its charts, each in a fresh tab without a cache. */
async function timesToOverview({ url, keys }: EdgeHost, tries: number): Promise<number[]> {
  if (CHROMIUM === undefined) return [];
  const browser = await launch();
  const times: number[] = [];
  for (let round = 0; round < tries; round += 1) {
    const context = await browser.newContext({ baseURL: url });
    const page = await context.newPage();
    await page.request.post("/api/login", { data: { key: keys.admin } });
    times.push(
      await timeOf(async () => {
        await page.goto(`/agents/${AGENT}`);
        await page.locator(".chart canvas").first().waitFor();
      }),
    );
    await context.close();
  }
  await browser.close();
  return times;
}

await main();
