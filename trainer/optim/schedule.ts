/** Learning-rate factor over a run: linear warm-up, stable, linear decay to `floor` (warmup–stable–decay, arXiv:2404.06395). */
export type Schedule = {
  readonly totalSteps: number;
  readonly warmupSteps: number;
  readonly decaySteps: number;
  /** Factor at the end. */
  readonly floor?: number;
};

/** The factor for `step` in [0, totalSteps). */
export function scheduleFactor(step: number, { totalSteps, warmupSteps, decaySteps, floor = 0 }: Schedule): number {
  if (step < warmupSteps) return (step + 1) / warmupSteps;
  const left = totalSteps - step;
  return left >= decaySteps ? 1 : floor + ((1 - floor) * left) / decaySteps;
}
