/** Which temperature and top_p an answer is drawn with. */
import { describe, expect, it } from "vitest";
import { AgentSettings } from "../../shared/agent.ts";
import { drawnBy } from "../../shared/sampling.ts";

const server = { kind: "openai", flavour: "generic", url: "http://127.0.0.1:8000", model: "m" };
const drawn = (settings: object, asked: { temperature?: number; topP?: number } = {}) => drawnBy(asked, AgentSettings.parse(settings));

describe("an answer is drawn", () => {
  it("as the request says, whatever the agent has", () =>
    expect(drawn({ sampling: { temperature: 0.3, topP: 0.5 } }, { temperature: 0, topP: 1 })).toEqual({ temperature: 0, topP: 1 }));

  it("as the agent says where the request does not", () =>
    expect(drawn({ sampling: { temperature: 0.3, topP: 0.5 } })).toEqual({ temperature: 0.3, topP: 0.5 }));

  it("at 0 by the embedded policy and at 1 elsewhere where nobody says", () => {
    expect(drawn({})).toEqual({ temperature: 0, topP: 1 });
    expect(drawn({ engine: server })).toEqual({ temperature: 1, topP: 1 });
  });

  it.each([[{ temperature: 2.1 }], [{ temperature: 1e-7 }], [{ topP: 0 }]])("never by settings of %j", (sampling) =>
    expect(AgentSettings.safeParse({ sampling }).success).toBe(false),
  );
});
