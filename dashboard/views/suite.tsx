/** What every version must still do: what corrections have taught, and what people write down. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Message } from "../parts/messages.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More } from "../parts/table.tsx";
import { VersionLinks } from "../parts/version-links.tsx";
import { type Paging, usePages } from "../pages.ts";
import { argumentsProblem } from "../supplied-answer.ts";

const PAGING: Paging<{ cases: SuiteCase[] }, SuiteCase> = {
  itemsOf: ({ cases }) => cases,
  idOf: ({ caseId }) => caseId,
  after: ({ caseId }) => ({ after: caseId }),
  size: 100,
};

export function Suite({ agent, line, live }: AgentView) {
  const suite = usePages(API.cases.at({ agent }, { line }), PAGING, live.head?.latest ?? 0);
  const [adding, setAdding] = useState(false);
  const [going, setGoing] = useState<SuiteCase>();
  // What people have written is asked of everybody's line, wherever it is shown.
  const drop = async ({ caseId, source }: SuiteCase): Promise<void> => {
    await send(API.deleteCase.at({ agent, case: caseId }, source === "person" ? {} : { line }));
    suite.reload();
  };
  return (
    <section>
      <header class="row">
        <h1>Suite</h1>
        <button type="button" onClick={() => setAdding(true)}>
          Add a case
        </button>
      </header>
      <p>A version that loses more of these than its budget allows is refused before anybody meets it.</p>
      <Loaded from={suite}>
        {() => (
          <>
            {suite.items.length === 0 && <Empty>No case yet. Every correction that a version learns becomes one.</Empty>}
            {suite.items.map((each) => (
              <article key={each.caseId}>
                <header class="row">
                  <h2>{each.name}</h2>
                  <button type="button" class="small secondary" onClick={() => setGoing(each)}>
                    Delete
                  </button>
                </header>
                {asked(each.messages).map((message, index) => (
                  <Message key={index} message={message} />
                ))}
                <p>
                  expects <Expected expect={each.expect} />
                </p>
                <p class="note">
                  {each.source === "person" ? (
                    "written by a person"
                  ) : each.version === null ? (
                    "a correction that a version learned"
                  ) : (
                    <>
                      a correction that <VersionLinks agent={agent} line={line} versions={[each.version]} /> learned first
                    </>
                  )}
                </p>
              </article>
            ))}
          </>
        )}
      </Loaded>
      <More what="cases" pages={suite} />
      {going !== undefined && (
        <Dialog
          title="Delete this case?"
          verb="Delete it"
          keep="Change nothing"
          danger
          onConfirm={() => drop(going)}
          onClose={() => setGoing(undefined)}
        >
          <p>
            <strong>{going.name}</strong> Versions to come are no longer asked it; those that there are stay as they are.
          </p>
        </Dialog>
      )}
      {adding && <NewCase agent={agent} onMade={suite.reload} onClose={() => setAdding(false)} />}
    </section>
  );
}

/** What the user asks for and is asked back, since anything was called: the last word may be a mere yes. */
function asked(messages: SuiteCase["messages"]): SuiteCase["messages"] {
  const last = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(messages.slice(0, last).findLastIndex(({ role }) => role === "tool" || role === "system") + 1);
}

function Expected({ expect }: { expect: SuiteCase["expect"] }) {
  if (!("tool" in expect)) {
    const { contains } = expect.reply;
    return (
      <>
        a reply{contains.length > 0 && " with "}
        {contains.map((text) => (
          <code key={text}>{text}</code>
        ))}
      </>
    );
  }
  return (
    <>
      a call of <code>{expect.tool}</code>
      {Object.entries(expect.arguments).map(([name, value], at) => (
        <Fragment key={name}>
          {at === 0 ? " with " : ", "}
          <code>
            {name} = {JSON.stringify(value)}
          </code>
        </Fragment>
      ))}
    </>
  );
}

function NewCase({ agent, onMade, onClose }: { agent: string; onMade: () => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [said, setSaid] = useState("");
  const [tool, setTool] = useState("");
  const [args, setArgs] = useState("{}");
  const [contains, setContains] = useState("");
  const problem = tool === "" ? undefined : argumentsProblem(args);
  const add = async (): Promise<void> => {
    const expect =
      tool === "" ? { reply: { contains: contains === "" ? [] : [contains] } } : { tool, arguments: JSON.parse(args) as unknown };
    await send(API.addCase.at({ agent }), { name, messages: [{ role: "user", content: said }], expect });
    onMade();
  };
  return (
    <Dialog title="Add a case" verb="Add" disabled={name === "" || said === "" || problem !== undefined} onConfirm={add} onClose={onClose}>
      <label>
        Name
        <input required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </label>
      <label>
        The user says
        <textarea required value={said} onInput={({ currentTarget }) => setSaid(currentTarget.value)} />
      </label>
      <label>
        Tool that has to be called; empty for a reply
        <input value={tool} onInput={({ currentTarget }) => setTool(currentTarget.value)} />
      </label>
      {tool === "" ? (
        <label>
          Text that the reply has to hold
          <input value={contains} onInput={({ currentTarget }) => setContains(currentTarget.value)} />
        </label>
      ) : (
        <Field label="Arguments that it has to have, as JSON; others are free" problem={problem}>
          {(told) => <textarea {...told} class="code" value={args} onInput={({ currentTarget }) => setArgs(currentTarget.value)} />}
        </Field>
      )}
    </Dialog>
  );
}
