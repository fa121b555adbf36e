/** Lines over time, with the versions' beginnings drawn in (uPlot). A table beside it says the same to those who do not see it. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const TIME_PX = 75; // a time of day, with room around it
const MARK_PX = 30;

export type Line = { readonly label: string; readonly values: readonly (number | null)[]; readonly color: string; readonly bars?: boolean };
export type Mark = { readonly at: number; readonly label: string };

type Drawn = {
  label: string;
  /** Seconds since 1970. */
  times: readonly number[];
  lines: readonly Line[];
  marks: readonly Mark[];
  range?: readonly [number, number];
  height?: number;
};

export function Chart({ label, times, lines, marks, range, height = 220 }: Drawn) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = useRef(marks);
  shown.current = marks;
  const shape = JSON.stringify([lines.map(({ label: name, color, bars }) => [name, color, bars]), range, height]);
  useEffect(() => {
    const host = element.current;
    if (host === null) return;
    const made = new uPlot(
      optionsOf({ lines, range, height, width: host.clientWidth, marks: () => shown.current }),
      dataOf(times, lines),
      host,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height }));
    sized.observe(host);
    return () => {
      sized.disconnect();
      made.destroy();
    };
    // Lines are made anew only where there are others; their values go into the plot that is there.
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines, marks]);
  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      <div ref={element} role="img" aria-label={`${label}. The table below has the same figures.`} />
    </figure>
  );
}

function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}

function optionsOf({
  lines,
  range,
  height,
  width,
  marks,
}: Pick<Drawn, "lines" | "range"> & { height: number; width: number; marks: () => readonly Mark[] }): uPlot.Options {
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--pico-color").trim();
  const faint = getComputedStyle(document.documentElement).getPropertyValue("--pico-muted-border-color").trim();
  const axis: uPlot.Axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  return {
    width,
    height,
    scales: {
      // A version that was made since the last interval began is drawn too.
      x: { time: true, range: (_, min, max) => [min, Math.max(max, ...marks().map(({ at }) => at))] },
      ...(range === undefined ? {} : { y: { range: [range[0], range[1]] } }),
    },
    axes: [{ ...axis, space: TIME_PX }, axis],
    cursor: { points: { size: 7 } },
    series: [
      {},
      ...lines.map(({ label, color, bars = false }): uPlot.Series => {
        const bar = uPlot.paths.bars?.({ size: [0.6, 40] });
        return {
          label,
          stroke: color,
          width: 2,
          spanGaps: true,
          points: { show: !bars, size: 7, fill: color },
          ...(bars ? { fill: color, ...(bar === undefined ? {} : { paths: bar }) } : {}),
        };
      }),
    ],
    hooks: { draw: [(drawn) => drawMarks(drawn, marks(), ink)] },
  };
}

/** A dashed line where a version was made, with its number. */
function drawMarks(plot: uPlot, marks: readonly Mark[], ink: string): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales["x"] ?? {};
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.6;
  ctx.setLineDash([4, 4]);
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  for (const { at, label } of marks) {
    if (typeof min !== "number" || typeof max !== "number" || at < min || at > max) continue;
    const x = Math.round(plot.valToPos(at, "x", true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    // The newest stands at the edge, where its number has no room behind it.
    const isLast = x + MARK_PX * devicePixelRatio > bbox.left + bbox.width;
    ctx.textAlign = isLast ? "right" : "left";
    ctx.fillText(label, isLast ? x - 4 : x + 4, bbox.top + 12 * devicePixelRatio);
  }
  ctx.restore();
}
