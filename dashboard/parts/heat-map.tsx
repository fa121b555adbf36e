/** An answer as the versions that learned from it saw it: each token in the colour of its advantage, and the same as a list. */
import type { TrainedOn } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf } from "../address.ts";
import { decimals } from "../format.ts";
import { Table } from "./table.tsx";

const LEVELS = 4;
const LEAST = 0.01; // what is moved less is noise, and has no colour

export function HeatMaps({ agent, trained }: { agent: string; trained: readonly TrainedOn[] }) {
  return (
    <>
      {trained.map((each) => (
        <HeatMap key={`${each.line}/${each.version}/${each.eventId}`} agent={agent} trained={each} />
      ))}
    </>
  );
}

function HeatMap({ agent, trained: { line, version, pieces } }: { agent: string; trained: TrainedOn }) {
  const most = Math.max(0, ...pieces.map(([, advantage]) => Math.abs(advantage)));
  const moved = pieces.filter(isMoved);
  return (
    <figure class="heat">
      <figcaption>
        <a href={addressOf({ agent, line }, `versions/${version}`)}>Version {version}</a>
        {line !== SHARED_LINE && " of the user's own"} learned from it:{" "}
        {moved.length === 0 ? "no token of it was moved noticeably; it was taught by examples made from the correction" : <Legend />}
      </figcaption>
      <pre>
        {pieces.map((piece, place) => {
          const [text, advantage] = piece;
          if (!isMoved(piece)) return <span key={place}>{text}</span>;
          return (
            <mark key={place} class={heatOf(advantage, most)} title={`advantage ${decimals(advantage)}`}>
              {text}
            </mark>
          );
        })}
      </pre>
      {moved.length > 0 && (
        <details>
          <summary>Advantage per token</summary>
          <Table label={`Advantage per token, version ${version}`} columns={["token", "advantage"]}>
            {moved.map(([text, advantage], place) => (
              <tr key={place}>
                <td>
                  <code>{text}</code>
                </td>
                <td>{decimals(advantage)}</td>
              </tr>
            ))}
          </Table>
        </details>
      )}
    </figure>
  );
}

function Legend() {
  return (
    <>
      <mark class="down4">made less likely</mark> <mark class="up4">made more likely</mark>
    </>
  );
}

function isMoved([, advantage]: TrainedOn["pieces"][number]): boolean {
  return Math.abs(advantage) >= LEAST;
}

function heatOf(advantage: number, most: number): string {
  const level = Math.max(1, Math.ceil((LEVELS * Math.abs(advantage)) / most));
  return `${advantage < 0 ? "down" : "up"}${level}`;
}
