/** What there is to ask an agent in the playground, and with the example's tools each step that leads to something learned. */
import type { AgentSettings } from "../../shared/agent.ts";
import { API } from "../../shared/api-routes.ts";
import { EXAMPLE_INSTRUCTIONS, EXAMPLE_WORDS, GET_WEATHER, RESERVE_TABLE } from "../../shared/example.ts";
import { send } from "../api.ts";
import type { Said } from "../chat.ts";
import { useAction } from "../resource.ts";
import { openCalls } from "../talk.ts";
import { Empty, Problem } from "./shown.tsx";

const EXAMPLE_TOOLS = [RESERVE_TABLE, GET_WEATHER];

/** What there is to ask for, before anything is said. */
export function Begin({ agent, settings, onGiven }: { agent: string; settings: AgentSettings; onGiven: () => void }) {
  const { run, busy, error } = useAction();
  const { tools, mcpServers } = settings;
  const give = (): void =>
    run(async () => {
      const instructions = settings.instructions === "" ? EXAMPLE_INSTRUCTIONS : settings.instructions;
      await send(API.patchAgent.at({ agent }), { instructions, tools: EXAMPLE_TOOLS });
      onGiven();
    });
  if (tools.length + mcpServers.length === 0)
    return (
      <>
        <Empty>
          This agent has no tools yet, and what a correction names is an argument of a tool&#39;s call. Give it{" "}
          <a href={`/agents/${agent}/settings`}>tools of your own</a>, or, to see it learn, two that reserve a table and tell the weather.
        </Empty>
        <button type="button" class="small" disabled={busy} aria-busy={busy} onClick={give}>
          Give it the example&#39;s tools
        </button>
        <Problem error={error} />
      </>
    );
  const does = tools.map(({ function: { name, description = name } }) => description);
  return <Empty>Ask for something that its tools do{does.length === 0 ? "" : `: ${does.join("; ")}`}.</Empty>;
}

/** What to do next with the example, so that it learns; the words are put where one writes. */
export function NextStep({
  messages,
  said,
  onSay,
  onAnew,
}: {
  messages: readonly Said[];
  /** What stands where one writes. */ said: string;
  onSay: (words: string) => void;
  onAnew: (words: string) => void;
}) {
  const step = nextStep(messages, said);
  if (step === undefined) return null;
  return (
    <section class="note try" aria-label="Words to try">
      {step.does === "give" ? (
        <span>
          Next: <strong>Give the result</strong>, with the button above.
        </span>
      ) : (
        <>
          {step.does === "say" ? "Try:" : "See whether it was learned, in a"}{" "}
          <button
            type="button"
            class="small secondary outline"
            onClick={() => (step.does === "say" ? onSay(step.words) : onAnew(step.words))}
          >
            {step.does === "say" ? step.words : `New conversation: ${step.words}`}
          </button>
        </>
      )}
    </section>
  );
}

type Step = { readonly does: "say" | "anew"; readonly words: string } | { readonly does: "give" } | undefined;

// The shipped base asks back once about the first, twice about the other.
const [FIRST, LATER] = [EXAMPLE_WORDS.again, EXAMPLE_WORDS.request];

/** The one step that leads on from here: asked, agreed to, with its result, put right, and asked anew. */
function nextStep(messages: readonly Said[], said: string): Step {
  const last = messages.at(-1);
  if (last === undefined) return { does: "say", words: said === LATER ? LATER : FIRST };
  if (openCalls(messages).length > 0) return { does: "give" };
  if (last.role !== "assistant") return undefined;
  const result = messages.findIndex(({ role }) => role === "tool");
  if (result < 0)
    return [FIRST, LATER].some((words) => words === messages[0]?.content) ? { does: "say", words: EXAMPLE_WORDS.yes } : undefined;
  if (messages[0]?.content === LATER) return undefined;
  const isPutRight = messages.slice(result).some(({ role }) => role === "user");
  return isPutRight ? { does: "anew", words: LATER } : { does: "say", words: EXAMPLE_WORDS.correction };
}

export function isExample(tools: AgentSettings["tools"]): boolean {
  return tools.some(({ function: { name } }) => name === RESERVE_TABLE.function.name);
}
