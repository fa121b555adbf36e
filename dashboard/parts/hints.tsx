/** What should have been different by the user's words, each with the tool whose argument it is about. */
import { Fragment } from "preact";
import { parseAspect } from "../../shared/aspects.ts";
import { hintsOf, type JudgementMade } from "../../shared/events.ts";

export function Hints({ judged }: { judged: Omit<JudgementMade, "kind"> }) {
  return (
    <>
      {hintsOf(judged).map(({ hintId, hint, tool }, at) => (
        <Fragment key={hintId}>
          {at > 0 && " "}
          <strong>{hint}</strong>
          {tool !== undefined && parseAspect(hint) === undefined && <OfTool tool={tool} />}
        </Fragment>
      ))}
    </>
  );
}

/** Behind words that name an argument and no tool. */
export function OfTool({ tool }: { tool: string }) {
  return (
    <>
      {" "}
      <small>
        in calls of <code>{tool}</code>
      </small>
    </>
  );
}
