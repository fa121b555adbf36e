/** What the judge heard of what a person said, in a browser: a correction that it took for none is seen, given by hand, and taken out. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import type { ListedTurn } from "../../shared/api.ts";
import type { JudgementMade } from "../../shared/events.ts";
import { call, judgement, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";

const AGENT = "listener";
const SLOWLY = { timeout: 20_000 };
const COMPLAINT = "That is not what I meant.";
const BY_HAND = "number_of_rooms should be 2.";

describe.skipIf(CHROMIUM === undefined)("what was heard", () => {
  const edge = withEdge();
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
    // Without tools the random base can only talk.
    await putAgent(edge, AGENT);
  });
  afterAll(() => browser.close());

  const turns = async (): Promise<ListedTurn[]> => (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body.turns;

  /** Judges the event that some turn has of a kind, as a trainer would. */
  async function judge(kind: "next" | "feedback", said: Partial<JudgementMade>, at = 0): Promise<void> {
    const turn = await vi.waitFor(async () => {
      const found = (await turns()).find((each) => each[kind].length > at);
      if (found === undefined) throw new Error(`a turn with ${kind} expected`);
      return found;
    }, SLOWLY);
    const { turnId, user } = turn;
    const subject = turn[kind][at]?.eventId ?? "";
    const { payload, ...made } = judgement(AGENT, turnId);
    const judged = { ...made, eventId: `${subject}/judged`, user, payload: { ...payload, ...said, subject } };
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] })).status).toBe(200);
  }

  async function say(page: Page, words: string): Promise<void> {
    await page.getByLabel("Say").fill(words);
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator("form.say button[aria-busy=true]").count(), { timeout: 60_000 }).toBe(0);
  }

  it("is told in the playground, with a way to say by hand what was not heard", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    // The random base never ends by itself.
    await page.route("**/playground", (route) => {
      const asked = route.request();
      if (asked.method() !== "POST") return route.continue();
      return route.continue({ postData: JSON.stringify({ ...asked.postDataJSON(), max_tokens: 4 }) });
    });
    await page.goto(`/agents/${AGENT}/playground`);
    await say(page, "A hotel in Porto.");
    const heard = page.getByLabel("What was heard");
    await heard.getByText("Nobody has said anything to an answer yet.").waitFor(SLOWLY);
    await say(page, COMPLAINT);
    const first = heard.getByRole("listitem").filter({ hasText: COMPLAINT });
    await first.getByText("not judged yet").waitFor(SLOWLY);
    await judge("next", { refused: { code: "hint/none", detail: 'no hint in ["none"]' } });
    await first
      .getByText("heard as: a complaint. No note: nothing has been called yet that this could correct; say it again after the call.")
      .waitFor(SLOWLY);

    await first.getByRole("button", { name: "correct it by hand" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("a sentence that names the argument and its value").waitFor();
    await dialog.getByRole("textbox", { name: "What should have been different" }).fill(BY_HAND);
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Give it" }).click();
    const second = heard.getByRole("listitem").filter({ hasText: BY_HAND });
    await second.getByText("not judged yet").waitFor(SLOWLY);
    await judge("feedback", { judge: "feedback", hint: BY_HAND, tool: "SearchHotel", held: "1" });
    await second.getByText(`answer wrong heard as: ${BY_HAND} in calls of SearchHotel`).waitFor(SLOWLY);
    const note = second.getByRole("link", { name: "note in force" });
    await note.waitFor(SLOWLY);
    expect(await note.getAttribute("href")).toBe(`/agents/${AGENT}/notes`);
    expect(await second.getByRole("button").count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("is told on the overview and beside the turn, too, and says which tool a note is about", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}`);
    const heard = page.getByLabel("What was heard").getByRole("listitem");
    await heard.filter({ hasText: COMPLAINT }).getByText("heard as: a complaint").waitFor(SLOWLY);
    await heard.filter({ hasText: BY_HAND }).getByRole("link", { name: BY_HAND }).click();
    const judged = page.locator("article.turn footer");
    await judged.getByText(`by the feedback judge: ${BY_HAND} in calls of SearchHotel`).waitFor(SLOWLY);
    await judged.getByText("no hint: nothing has been called yet that this could correct").waitFor();
    await judged.getByRole("button", { name: "keep from being learned" }).first().click();
    await judged.getByText("In quarantine: nothing is learned from it.").waitFor(SLOWLY);
    await page.reload();
    await judged.getByText("In quarantine: nothing is learned from it.").waitFor(SLOWLY);
    await judged.getByRole("button", { name: "let back in" }).click();
    await expect.poll(() => judged.getByText("In quarantine").count(), SLOWLY).toBe(0);
    expect((await call(edge, "admin", `GET /api/agents/${AGENT}/quarantine`)).body.events).toEqual([]);
    await page.goto(`/agents/${AGENT}/audit`);
    const moves = page.getByLabel("Moves, newest first").locator("tbody tr");
    await moves.filter({ hasText: "1 event let back in" }).getByText("let back in: versions may learn from it").waitFor(SLOWLY);
    await moves.filter({ hasText: "1 event barred" }).getByText("put in quarantine: no version learns from it").waitFor(SLOWLY);
    await page.goto(`/agents/${AGENT}/notes`);
    await page.getByRole("row").getByText(`${BY_HAND} in calls of SearchHotel`).waitFor(SLOWLY);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("is not drowned by agreement on the overview, which is there all the same", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    const completionId = (await turns()).find(({ feedback }) => feedback.length > 0)?.completionId;
    const given = { completion_id: completionId, correction: "It is fine like that." };
    await call(edge, "admin", `POST /api/agents/${AGENT}/feedback`, given);
    await judge("feedback", { judge: "feedback", reward: 1, votes: [1] }, 1);
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}`);
    const heard = page.getByLabel("What was heard");
    await heard.getByText(COMPLAINT).waitFor(SLOWLY);
    const agreed = heard.getByText("It is fine like that.");
    expect(await agreed.isVisible()).toBe(false);
    await heard.getByText("Said last, and heard as no correction").click();
    await agreed.waitFor();
    await context.close();
  });

  it("is told apart where something had been called before", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    // No random base makes a call that can be read.
    const called = [{ id: "call_1", type: "function", function: { name: "SearchHotel", arguments: "{}" } }];
    await (
      await edge.getD1()
    )
      .prepare("UPDATE events SET payload = json_set(payload, '$.answer.tool_calls', json(?)) WHERE agent = ? AND kind = 'turn:finished'")
      .bind(JSON.stringify(called), AGENT)
      .run();
    await logIn(page, edge.keys.admin);
    const why = "no argument of the call was found that these words put right";
    await page.goto(`/agents/${AGENT}`);
    const complaint = page.getByLabel("What was heard").getByRole("listitem").filter({ hasText: COMPLAINT });
    await complaint.getByText(`No note: ${why}.`).waitFor(SLOWLY);
    await complaint.getByRole("link").click();
    await page.locator("article.turn footer").getByText(`no hint: ${why}`).waitFor(SLOWLY);
    await context.close();
  });
});
