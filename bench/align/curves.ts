/** Learning curves as an SVG: the share of preferences that are met by each session, one panel for each way of sharing a policy. Pure. */

export type Curve = { readonly name: string; /** By session, from the first, 0 to 1. */ readonly shares: readonly number[] };
export type Panel = { readonly title: string; readonly curves: readonly Curve[] };

const PANEL = { width: 420, height: 260, left: 46, top: 34, gap: 30 } as const;
const LEGEND_ROW = 18;
// Okabe and Ito: told apart by the colour-blind, too; after them the same again, dashed.
const COLOURS = ["#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"] as const;
const TICKS = [0, 0.25, 0.5, 0.75, 1] as const;
const SESSION_TICK = 5;

export function curvesSvg(panels: readonly Panel[]): string {
  const names = [...new Set(panels.flatMap(({ curves }) => curves.map(({ name }) => name)))];
  const width = PANEL.left + panels.length * (PANEL.width + PANEL.gap);
  const legendTop = PANEL.top + PANEL.height + 44;
  const height = legendTop + Math.ceil(names.length / 2) * LEGEND_ROW + 10;
  const body = panels.flatMap((panel, index) => drawPanel(panel, { x: PANEL.left + index * (PANEL.width + PANEL.gap), names }));
  const legend = names.flatMap((name, index) => {
    const [x, y] = [PANEL.left + (index % 2) * (width / 2 - PANEL.left), legendTop + Math.floor(index / 2) * LEGEND_ROW];
    return [`<path d="M${x} ${y}h24" ${stroke(index)}/>`, `<text x="${x + 30}" y="${y + 4}">${escaped(name)}</text>`];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>Share of preferences met, by session</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...body,
    ...legend,
    "</svg>\n",
  ].join("\n");
}

function drawPanel({ title, curves }: Panel, { x, names }: { x: number; names: readonly string[] }): string[] {
  const { width, height, top } = PANEL;
  const sessions = Math.max(1, ...curves.map(({ shares }) => shares.length));
  const across = (session: number): number => round(x + (session / sessions) * width);
  const up = (share: number): number => round(top + (1 - share) * height);
  const ticks = TICKS.flatMap((share) => [
    `<path d="M${x} ${up(share)}h${width}" stroke="#dddddd"/>`,
    `<text x="${x - 6}" y="${up(share) + 4}" text-anchor="end">${100 * share} %</text>`,
  ]);
  const below = Array.from({ length: Math.floor(sessions / SESSION_TICK) }, (_, index) => (index + 1) * SESSION_TICK);
  return [
    `<text x="${x}" y="${top - 14}" font-weight="bold">${escaped(title)}</text>`,
    ...ticks,
    ...below.map((session) => `<text x="${across(session)}" y="${top + height + 16}" text-anchor="middle">${session}</text>`),
    `<text x="${x + width / 2}" y="${top + height + 32}" text-anchor="middle">sessions</text>`,
    ...curves.map(({ name, shares }) => `<path d="${steps(shares, { across, up })}" ${stroke(names.indexOf(name))}/>`),
  ];
}

/** A share holds from the end of its session to the end of the next. */
function steps(shares: readonly number[], { across, up }: { across: (session: number) => number; up: (share: number) => number }): string {
  return `M${across(0)} ${up(0)}${shares.map((share, index) => `H${across(index + 1)}V${up(share)}`).join("")}`;
}

function stroke(index: number): string {
  const dashed = index < COLOURS.length ? "" : ' stroke-dasharray="5 3"';
  return `fill="none" stroke="${COLOURS[index % COLOURS.length] ?? ""}" stroke-width="2"${dashed}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
