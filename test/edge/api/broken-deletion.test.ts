/** The end of a user, broken off by the end of workerd: it is called done only where nothing is left, and is taken up again. */
import { beforeAll, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo } from "../session/talk.ts";

const edge = withEdge();
const AGENT = "forgetful";
const SOON = { timeout: 30_000 };
const LONG_AGO_MS = 61_000; // nobody is at it any more
const OTHER = "forgetful-too";

beforeAll(async () => {
  for (const agent of [AGENT, OTHER]) await putAgent(edge, agent);
});

/** So many conversations of somebody, of one turn each; returns who that is to the log. */
async function converse(who: string, times: number, agent = AGENT): Promise<string> {
  const { ask, events } = talkTo(edge, agent);
  const words = Array.from({ length: times }, (_, index) => `${who} said ${index}`);
  for (const said of words) expect((await ask([says(said)], { extra: { user: who } })).status).toBe(200);
  const own = async () => (await events()).filter(({ payload }) => JSON.stringify(payload).includes(`${who} said`));
  await expect.poll(async () => (await own()).length, SOON).toBe(times);
  return (await own())[0]?.user ?? "";
}

const run = async (query: string, ...values: unknown[]) =>
  (await edge.getD1())
    .prepare(query)
    .bind(...values)
    .run();
/** Of each agent. */
const statesOf = async (user: string): Promise<string[]> =>
  (await call(edge, "admin", `GET /api/users/${user}/deletion`)).body.agents.map(({ state }: { state: string }) => state);
const words = async (agent = AGENT): Promise<string> => JSON.stringify(await talkTo(edge, agent).events());

/** As the end of the process leaves it at the first moment: asked for, and nothing done. */
async function askOnly(user: string): Promise<void> {
  const asked = Date.now() - LONG_AGO_MS;
  await run("UPDATE events SET created_at = ?1 WHERE user = ?2", asked, user);
  await run("INSERT INTO deletions (agent, user, requested_at, actor) VALUES (?1, ?2, ?3, 'admin:k')", AGENT, user, asked);
}

it("goes on when somebody asks whether it is done", async () => {
  const user = await converse("broken", 2);
  await askOnly(user);
  expect(await words()).toContain("broken said");
  expect(await statesOf(user)).toEqual(["erasing"]);
  await expect.poll(() => statesOf(user), SOON).toEqual(["done"]);
  expect(await words()).not.toContain("broken said");
});

it("goes on when a trainer looks at the line, in the name of who asked for it", async () => {
  const user = await converse("halved", 2);
  await askOnly(user);
  await call(edge, "trainer", `GET /trainer/v1/agents/${AGENT}/lines/shared/head`);
  await expect.poll(() => words(), SOON).not.toContain("halved said");
  await expect.poll(() => statesOf(user), SOON).toEqual(["done"]);
  const { audit } = (await call(edge, "admin", `GET /api/agents/${AGENT}/audit`)).body;
  expect(audit).toContainEqual(expect.objectContaining({ actor: "admin:k", reason: `user ${user} deleted` }));
});

it("leaves nothing where it fails between two steps and workerd dies, with any agent", async () => {
  const user = await converse("killed", 2);
  expect(await converse("killed", 2, OTHER)).toBe(user);
  await run("CREATE TRIGGER unwilling BEFORE UPDATE OF kind ON events BEGIN SELECT RAISE(ABORT, 'unwilling'); END");
  expect((await call(edge, "admin", `DELETE /api/users/${user}`)).status).toBe(500);
  const pid = edge.workerdPid();
  process.kill(pid ?? 0, "SIGKILL");
  await expect.poll(() => edge.workerdPid(), SOON).not.toBe(pid);
  await expect.poll(() => statesOf(user).catch(() => []), SOON).toEqual(["erasing", "erasing"]);
  await run("DROP TRIGGER unwilling");
  await run("UPDATE deletions SET requested_at = requested_at - ?1 WHERE user = ?2", LONG_AGO_MS, user);
  await expect.poll(() => statesOf(user), SOON).toEqual(["done", "done"]);
  for (const agent of [AGENT, OTHER]) expect(await words(agent)).not.toContain("killed said");
});
