/** /api/agents/:agent/suite: what every version must still do. */
import { z } from "zod";
import { ChatMessage } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { Expectation, type SuiteCase } from "../../shared/suite.ts";
import { agentOf } from "../agent/port.ts";
import { checkExpectation, longestOf } from "../agent/suite-check.ts";
import { caseIdOf } from "../agent/suite.ts";
import { MOST_CASES, MOST_CHARACTERS } from "../agent/suite-store.ts";
import { checkRoom } from "../engine/prompt-checks.ts";
import type { App } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { checkDepth } from "../openai/depth.ts";
import { checkConversation } from "../openai/messages.ts";
import { AnyTools, checkTools } from "../openai/tools.ts";
import { withInstructions } from "../session/prepare.ts";
import { definitionOf } from "../tools/offer.ts";
import { actorOf, agentParam, found, lineQuery, LineQuery, pageAfterItem, PageLimit, queryOf, titleOf } from "./params.ts";

export const CaseRequest = z.strictObject({
  name: z.string().min(1).max(200),
  messages: z.array(ChatMessage).min(1).max(100),
  /** The agent's where left out. */
  tools: AnyTools.optional(),
  expect: Expectation,
});
export const CasePage = LineQuery.extend({ after: z.string().max(100).optional(), limit: PageLimit });

export function mountSuite(app: App): void {
  app.get("/api/agents/:agent/suite", async (context) => {
    const name = agentParam(context);
    const { line, after, limit } = queryOf(context, CasePage);
    const cases = found(await agentOf(context.env, name).suite(line), titleOf(name, line));
    return context.json({ cases: pageAfterItem(cases, { idOf: ({ caseId }) => caseId, param: "after", from: after, limit }) });
  });

  app.post("/api/agents/:agent/suite", async (context) => {
    const name = agentParam(context);
    const request = await parseJson(context.req.raw, CaseRequest);
    const agent = found(await agentOf(context.env, name).read(), `agent ${name}`);
    const tools = request.tools ?? agent.settings.tools.map(definitionOf);
    checkDepth(request);
    checkTools(tools);
    checkConversation(request.messages);
    checkExpectation(request.expect, tools);
    const { instructions, engine } = agent.settings;
    const asked = { messages: withInstructions(instructions, request.messages), tools, expect: request.expect };
    if (engine.kind === "embedded") await checkRoom(context.env, { ...asked, least: longestOf(request.expect) });
    const suiteCase: SuiteCase = {
      ...asked,
      caseId: await caseIdOf(asked),
      source: "person",
      name: request.name,
      ...{ user: null, eventId: null, version: null, createdAt: new Date().toISOString() },
    };
    const status = await agentOf(context.env, name).addCase(SHARED_LINE, suiteCase, actorOf(context));
    if (status === "full")
      throw new AppError("input/invalid", `suite: at most ${MOST_CASES} cases expected, got one more; delete one that says little`);
    if (status === "long")
      throw new AppError(
        "input/invalid",
        `suite: at most ${MOST_CHARACTERS} characters of JSON in all cases together expected, got more with this one; delete one that says little`,
      );
    return context.json(suiteCase, 201);
  });

  app.delete("/api/agents/:agent/suite/:case", async (context) => {
    const [name, line] = [agentParam(context), lineQuery(context)];
    const { case: caseId } = parseWith(z.object({ case: z.string().min(1).max(100) }), context.req.param());
    const dropped = await agentOf(context.env, name).dropCase(line, caseId, actorOf(context));
    if (dropped !== true) found(undefined, `case ${caseId} of ${titleOf(name, line)}`);
    return context.json({ status: "deleted", caseId });
  });
}
