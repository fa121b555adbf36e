/** Shares and means of what was looked at, and shares as people read them. */

/** 1 where there is nothing to share: an absent test refuses nobody. */
export function share(outcomes: readonly boolean[]): number {
  return outcomes.length === 0 ? 1 : outcomes.filter(Boolean).length / outcomes.length;
}

const FEW = 4;

/** The part that a single one of so many contexts is, 1/4 at most: of four or more one that is lost says little, of fewer it is one too many. */
export function oneOf(contexts: number): number {
  return 1 / Math.max(contexts, FEW);
}

/** 0 where there is nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
