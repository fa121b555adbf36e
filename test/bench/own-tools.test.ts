/** Cases about tools of one's own: what each line promises, and that training has none of these agents. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OWN_TOOLS, OwnAgent } from "../../bench/eval/own-tools.ts";
import { readCommandServices } from "../../trainer/pretrain/command-services.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";

const agents = readJsonLines(OWN_TOOLS, OwnAgent);
const Schema = z.object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())), required: z.array(z.string()).default([]) });

describe("own-tools.jsonl", () => {
  it("wants calls that the agent's schemas allow, with what they require", () => {
    for (const { agent, tools, cases } of agents)
      for (const each of cases) {
        if (!("call" in each)) continue;
        const tool = tools.find(({ function: { name } }) => name === each.call.name)?.function;
        const { properties, required } = Schema.parse(tool?.parameters);
        const given = { ...properties, ...each.call.arguments };
        expect({ agent, call: each.call, known: Object.keys(given).length }).toEqual({
          agent,
          call: each.call,
          known: Object.keys(properties).length,
        });
        for (const name of required) expect(Object.keys(each.call.arguments)).toContain(name);
        const accepted = z.fromJSONSchema({ ...tool?.parameters }).safeParse(each.call.arguments);
        expect({ agent, call: each.call, accepted: accepted.success }).toEqual({ agent, call: each.call, accepted: true });
      }
  });

  it("has agents that training has not, and no request of its own", () => {
    const services = readCommandServices();
    const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, "");
    const domains = new Set(services.map(({ domain }) => plain(domain)));
    const said = new Set(services.flatMap(({ requests }) => requests.map((request) => plain(request.said))));
    expect(agents.filter(({ agent }) => domains.has(plain(agent)))).toEqual([]);
    const asked = agents.flatMap(({ cases }) => cases.map(({ messages }) => String(messages.at(-1)?.content)));
    expect(asked.filter((text) => said.has(plain(text)) && plain(text).length > 12)).toEqual([]);
  });
});
