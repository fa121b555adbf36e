/** The versions of a line as a graph: each hangs on the version it was made from, newest to the right. */
import { addressOf, type Line } from "../address.ts";
import { rowsOf, type Node } from "../lineage-rows.ts";
import { Scroll, STATUS_WORDS } from "./shown.tsx";

const STEP = 84;
const ROW = 56;
const RADIUS = 17;
const MARGIN = 30;

export function Lineage({ agent, line, versions }: Line & { versions: readonly Node[] }) {
  const sorted = versions.toSorted((a, b) => a.version - b.version);
  const rows = rowsOf(sorted);
  const column = new Map(sorted.map(({ version }, index) => [version, index]));
  const x = (version: number): number => MARGIN + (column.get(version) ?? 0) * STEP;
  const y = (version: number): number => MARGIN + (rows.get(version) ?? 0) * ROW;
  const width = 2 * MARGIN + Math.max(0, sorted.length - 1) * STEP;
  const height = 2 * MARGIN + Math.max(0, ...rows.values()) * ROW;
  return (
    <Scroll label="Lineage of versions">
      <svg class="lineage" width={width} height={height}>
        {sorted
          .filter(({ version, parent }) => version !== parent && column.has(parent))
          .map(({ version, parent }) => (
            <path
              key={version}
              d={`M${x(parent)} ${y(parent)} C${x(parent) + STEP / 2} ${y(parent)} ${x(version) - STEP / 2} ${y(version)} ${x(version)} ${y(version)}`}
            />
          ))}
        {sorted.map(({ version, status }) => (
          <a
            key={version}
            href={addressOf({ agent, line }, `versions/${version}`)}
            class={status}
            aria-label={`version ${version}, ${STATUS_WORDS[status]}`}
          >
            <circle cx={x(version)} cy={y(version)} r={RADIUS} />
            <text x={x(version)} y={y(version)}>
              {version}
            </text>
          </a>
        ))}
      </svg>
    </Scroll>
  );
}
