/** What a person types into the dashboard: forms that say what is wrong where it stands, and dialogs that everybody can use. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import type { LoggedEvent } from "../../shared/events.ts";
import { EXAMPLE_INSTRUCTIONS, EXAMPLE_WORDS, GET_WEATHER, RESERVE_TABLE } from "../../shared/example.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";
import { AGENT, furnish } from "./desk.ts";

/** A view may take a while on a machine that does other things. */
const SLOWLY = { timeout: 20_000 };

describe.skipIf(CHROMIUM === undefined)("the dashboard's forms", () => {
  const edge = withEdge();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
    await furnish(edge);
  });
  afterAll(() => browser.close());

  it("makes an agent and its tools, and refuses what is no tool with the edge's words", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name").fill("Front desk");
    await page.getByRole("dialog").getByText("lower-case letters, digits and hyphens expected").waitFor();
    expect(await page.getByRole("button", { name: "Make it" }).isDisabled()).toBe(true);
    await page.getByLabel("Name").fill("front-desk");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Settings of front-desk" }).waitFor();
    const tools = async (): Promise<unknown> => (await call(edge, "admin", "GET /api/agents/front-desk")).body.settings.tools;
    const save = page.getByRole("button", { name: "Save" });
    await page.getByLabel("as OpenAI's JSON").check();
    const json = page.getByLabel("Tools, as in");
    await json.fill('[\n  {"type": "function", "function": {"name": "no spaces"}}\n]');
    expect(await page.getByRole("alert").textContent()).toContain("line 2, column 45: name");
    expect(await save.isDisabled()).toBe(true);
    await page.getByText("It can be saved once this is right above: Tools.").waitFor();
    // What only the edge knows is told where it stands, too.
    await json.fill(JSON.stringify([{ type: "function", function: { name: "Find", parameters: { type: "array" } } }], null, 2));
    await save.click();
    await page.getByRole("alert").getByText("line 6, column").waitFor();
    await json.fill(JSON.stringify({ model: "gpt", tools: [SEARCH] }));
    await save.click();
    await expect.poll(tools, SLOWLY).toEqual([SEARCH]);
    await expect
      .poll(() => page.getByLabel("Name", { exact: true }).count(), SLOWLY)
      .toBe(Object.keys(SEARCH.function.parameters?.["properties"] ?? {}).length);
    await page.getByRole("button", { name: "Add a tool" }).click();
    expect(await save.isDisabled()).toBe(true);
    const made = page.locator("article.tool").last();
    await made.getByLabel("Tool", { exact: true }).fill("Cancel");
    await made.getByRole("button", { name: "Add a parameter" }).click();
    await made.getByLabel("Name", { exact: true }).fill("code");
    await made.getByLabel("Type").selectOption("integer");
    await made.getByLabel("Default").fill("x");
    await made.getByText('"x" is no integer').waitFor();
    await made.getByLabel("Default").fill("7");
    expect(await violationsIn(page)).toEqual([]);
    await save.click();
    const parameters = { type: "object", properties: { code: { type: "integer", default: 7 } } };
    await expect.poll(tools, SLOWLY).toEqual([SEARCH, { type: "function", function: { name: "Cancel", parameters } }]);
    await context.close();
  });

  it("sets who judges, what signals teach and where answers are made, and says which field is wrong", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await putAgent(edge, "set", {});
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/set/settings");
    const settings = async (): Promise<Record<string, unknown>> => (await call(edge, "admin", "GET /api/agents/set")).body.settings;
    const save = page.getByRole("button", { name: "Save" });
    await page.getByLabel("Answers are judged by").selectOption("llm");
    const name = page.getByLabel("Name of its key");
    await name.fill("sk-123");
    await page.getByText("capital letters, digits and _", { exact: false }).waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    await name.fill("JUDGE");
    await save.click();
    // Only the edge knows that the agent's own engine is no server.
    await page.getByRole("alert").getByText("learning.judge.url: a URL expected").waitFor();
    const address = page.getByLabel("Its address, with /v1");
    expect(await address.getAttribute("aria-invalid")).toBe("true");
    await address.fill("https://judge.example/v1");
    await page.getByLabel("Its model").fill("judge-1");
    await page.getByText("What each signal teaches").click();
    await page.getByLabel("A supplied answer teaches").selectOption("both");
    await page.getByLabel("β of a preference").fill("0.5");
    await page.getByLabel("A reward without words teaches").selectOption("steps");
    await page.getByLabel("or seconds that one has waited").fill("1.5");
    await page.getByLabel("Answers are made by").selectOption("openai");
    await page.getByLabel("Kind of server").selectOption("vllm");
    await page.getByLabel("Address, without /v1").fill("http://127.0.0.1:9/");
    await page.getByLabel("Base model, as the server names it").fill("a/model");
    expect(await violationsIn(page)).toEqual([]);
    await save.click();
    const engine = {
      kind: "openai",
      flavour: "vllm",
      url: "http://127.0.0.1:9",
      model: "a/model",
      answerTokens: 1_024,
      timeoutMs: 60_000,
    };
    await expect.poll(settings, SLOWLY).toMatchObject({
      engine,
      learning: {
        maxWaitMs: 1_500,
        judge: { kind: "llm", url: "https://judge.example/v1", model: "judge-1", secret: "JUDGE" },
        signals: { answers: "both", preference: { beta: 0.5, reference: "answered" }, rewards: "steps" },
      },
    });
    // Nothing listens there.
    await page.getByLabel("Engine now").locator(".problem").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("Answers are made by").selectOption("workers-ai");
    await page.getByLabel("Model of the catalogue").fill("@cf/meta/llama-3.2-11b-vision-instruct");
    await page.getByLabel("Account that adapters are uploaded to").fill("0".repeat(32));
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("Answers are made by").selectOption("embedded");
    await save.click();
    await expect.poll(settings, SLOWLY).toMatchObject({ engine: { kind: "embedded" } });
    // The browser reports the one refusal that was asked for.
    expect(problems).toEqual([expect.stringContaining("400")]);
    await context.close();
  });

  it("sets whom a correction teaches, who is trusted, and what a version may cost", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    const agent = "budgeted";
    const { id: gone } = (await call(edge, "admin", "POST /api/keys", { kind: "client", name: "gone" })).body;
    await putAgent(edge, agent, { learning: { trusted: { [gone]: 0.25 } } });
    await call(edge, "admin", `DELETE /api/keys/${gone}`);
    const { id } = (await call(edge, "admin", "POST /api/keys", { kind: "client", name: "the founders" })).body;
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${agent}/settings`);
    const settings = async () => (await call(edge, "admin", `GET /api/agents/${agent}`)).body.settings;
    const save = page.getByRole("button", { name: "Save" });
    const isValid = (label: string): Promise<boolean> => page.getByLabel(label).evaluate((input: HTMLInputElement) => input.validity.valid);

    await page.getByLabel("A correction teaches").selectOption("personal");
    await page.getByLabel("and everybody's policy, once enough users").check();
    await page.getByLabel("Users whose own policies have learned the same").fill("1");
    expect(await isValid("Users whose own policies")).toBe(false);
    await page.getByLabel("Users whose own policies").fill("6");

    await page.getByRole("button", { name: "remove a key that is not there any more" }).click();
    await page.getByLabel("A key to trust").selectOption(id);
    await page.getByRole("button", { name: "Trust it" }).click();
    await page.getByLabel(`the founders (${id})`).fill("1.5");
    expect(await isValid(`the founders (${id})`)).toBe(false);
    await page.getByLabel(`the founders (${id})`).fill("0.5");

    await page.getByLabel("Temperature where a request does not say").fill("2.5");
    expect(await isValid("Temperature where a request")).toBe(false);
    await page.getByLabel("Temperature where a request").fill("0.7");

    await page.getByText("What a version may cost at the gate").click();
    await page.getByLabel("needless questions, share of them").fill("0.4");
    await page.getByLabel("distance from the base, KL in nats").fill("0");
    await page.getByText("When a trial is decided").click();
    await page.getByLabel("Judged conversations of each version").fill("80");
    expect(await violationsIn(page)).toEqual([]);
    // A field that is wrong keeps all from being sent, and is shown where it was folded away.
    await page.getByText("What a version may cost at the gate").click();
    await save.click();
    await expect.poll(() => page.getByLabel("distance from the base, KL in nats").isVisible()).toBe(true);
    expect(await settings()).toMatchObject({ learning: { scope: "shared" } });
    await page.getByLabel("distance from the base, KL in nats").fill("0.5");
    await save.click();
    await page.getByText("Saved.").waitFor(SLOWLY);
    expect(await settings()).toMatchObject({
      sampling: { temperature: 0.7, topP: 1 },
      learning: { scope: "personal", sharedFrom: 6, trusted: { [id]: 0.5 } },
      release: { gate: { budgets: { needlessQuestions: 0.4, klToBaseNats: 0.5 } }, canary: { minSessions: 80 } },
    });
    expect((await settings()).learning.trusted).not.toHaveProperty(gone);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("gives an agent without tools an example's, and what to say to it", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await putAgent(edge, "bare", { maxToolSteps: 3 });
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/bare/playground");
    await page.getByRole("button", { name: "Give it the example's tools" }).click();
    await page.getByText("Ask for something that its tools do: Reserve a table").waitFor(SLOWLY);
    await page.getByRole("region", { name: "Words to try" }).getByRole("button", { name: EXAMPLE_WORDS.again }).click();
    expect(await page.getByLabel("Say").inputValue()).toBe(EXAMPLE_WORDS.again);
    expect(await violationsIn(page)).toEqual([]);
    const { settings } = (await call(edge, "admin", "GET /api/agents/bare")).body;
    expect(settings).toMatchObject({ maxToolSteps: 3, instructions: EXAMPLE_INSTRUCTIONS, tools: [RESERVE_TABLE, GET_WEATHER] });
    expect(problems).toEqual([]);
    await context.close();
  });

  it("offers the one step that leads on, until a correction is given and can be seen to count", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await putAgent(edge, "stepped", { tools: [RESERVE_TABLE, GET_WEATHER] });
    await logIn(page, edge.keys.admin);
    const called = { tool_calls: [{ index: 0, id: "call_1", function: { name: RESERVE_TABLE.function.name, arguments: "{}" } }] };
    const answers = [{ content: "For two?" }, called, { content: "It is reserved." }, called, { content: "It is changed." }];
    await page.route("**/playground", (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const body = `data: ${JSON.stringify({ choices: [{ delta: answers.shift() }] })}\n\ndata: [DONE]\n\n`;
      const headers = { "content-type": "text/event-stream", "x-policy-version": "0", "x-session-id": `s_${"0".repeat(32)}` };
      return route.fulfill({ headers, body });
    });
    await page.goto("/agents/stepped/playground");
    const step = page.getByRole("region", { name: "Words to try" });
    const say = async (words: string): Promise<void> => {
      await step.getByRole("button", { name: words }).click();
      await page.getByRole("button", { name: "Send" }).click();
    };
    const giveResult = async (): Promise<void> => {
      await step.getByText("Give the result").waitFor();
      await page.getByRole("button", { name: "Give the result" }).click();
    };
    await say(EXAMPLE_WORDS.again);
    await say(EXAMPLE_WORDS.yes);
    await giveResult();
    await say(EXAMPLE_WORDS.correction);
    await giveResult();
    expect(await violationsIn(page)).toEqual([]);
    await step.getByRole("button", { name: `New conversation: ${EXAMPLE_WORDS.request}` }).click();
    expect(await page.locator(".talk .message").count()).toBe(0);
    expect(await page.getByLabel("Say").inputValue()).toBe(EXAMPLE_WORDS.request);
    expect(answers).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("warns before a key goes that trainers use", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto("/keys");
    await page
      .getByRole("row")
      .filter({ has: page.getByRole("cell", { name: "trainer", exact: true }) })
      .getByRole("button", { name: "Revoke" })
      .click();
    await page.getByRole("dialog").getByText("A trainer that uses it stops").waitFor();
    await context.close();
  });

  it("makes a key that ends by itself, on the day that is named", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("guest");
    await dialog.getByLabel("Last day on which it is good").fill("2999-12-31");
    await dialog.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("row").filter({ hasText: "guest" }).getByText("Dec 31, 2999").waitFor(SLOWLY);
    await context.close();
  });

  it("takes the answer as it should have been, and shows it with the turn", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/conversations`);
    const turn = page.locator("article.turn").filter({ hasText: "Two rooms, please." }).last();
    await turn.getByRole("button", { name: "Correct or score" }).click();
    const dialog = page.getByRole("dialog", { name: "Correct or score this answer" });
    await dialog.getByLabel("How").selectOption("answer");
    await dialog.getByLabel("The reply").fill("");
    const give = dialog.getByRole("button", { name: "Give it" });
    expect(await give.isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Add a call" }).click();
    await dialog.getByLabel("Tool").fill("SearchHotel");
    await dialog.getByLabel("Arguments, as JSON").fill("{rooms: 2}");
    await dialog.getByText("JSON expected").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    expect(await give.isDisabled()).toBe(true);
    await dialog.getByLabel("Arguments, as JSON").fill('{"number_of_rooms": "2"}');
    await give.click();
    const supplied = turn.locator(".supplied");
    await supplied.getByText("as it should have been").waitFor(SLOWLY);
    expect(await supplied.locator(".call").textContent()).toContain("SearchHotel");
    const { turns } = (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body as { turns: { feedback: object[] }[] };
    const args = '{"number_of_rooms":"2"}';
    expect(turns.flatMap(({ feedback }) => feedback)).toMatchObject([
      {
        answer: { content: null, tool_calls: [{ function: { name: "SearchHotel", arguments: args } }] },
        by: expect.stringMatching(/^admin:/),
      },
    ]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("has dialogs that everybody can use, and that say what is wrong before they ask for it", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    const dialog = page.getByRole("dialog");
    const opens = async (path: string, button: string): Promise<void> => {
      await page.goto(path);
      await page.getByRole("button", { name: button, exact: true }).first().click();
      await dialog.waitFor();
      expect([button, ...(await violationsIn(page, "dialog"))]).toEqual([button]);
    };
    await opens("/", "New agent");
    // Making it again would put its settings back.
    await dialog.getByLabel("Name").fill(AGENT);
    await dialog.getByText(`There is an agent ${AGENT} already`).waitFor();
    expect(await dialog.getByRole("button", { name: "Make it" }).isDisabled()).toBe(true);
    await opens("/keys", "New key");
    await opens("/keys", "Rotate");
    await opens("/keys", "Revoke");
    await opens(`/agents/${AGENT}/versions`, "Roll back to 0");
    await opens(`/agents/${AGENT}/suite`, "Add a case");
    await dialog.getByLabel("Tool that has to be called").fill("SearchHotel");
    await dialog.getByLabel("Arguments that it has to have").fill("{rooms}");
    await dialog.getByText("JSON expected").waitFor();
    expect(await violationsIn(page, "dialog")).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("keeps from being learned what a person bars, and lets it back in", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/audit`);
    await page.getByText("Nothing is kept from being learned.").waitFor();
    const { events } = (await call(edge, "admin", `GET /api/agents/${AGENT}/events`)).body as { events: LoggedEvent[] };
    const followed = events.find(({ payload }) => payload.kind === "nextState:arrived")?.eventId;
    const barred = await call(edge, "admin", `POST /api/agents/${AGENT}/quarantine`, { events: [followed], reason: "a test" });
    expect(barred.status).toBe(200);
    const row = page.getByRole("row").filter({ hasText: "a test" }).filter({ hasText: "what was said in this conversation" });
    await row.waitFor(SLOWLY);
    expect(await violationsIn(page)).toEqual([]);
    await row.getByRole("button", { name: "let back in" }).click();
    await page.getByText("Nothing is kept from being learned.").waitFor(SLOWLY);
    expect((await call(edge, "admin", `GET /api/agents/${AGENT}/quarantine`)).body.events).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
