/** Shares and means of what was looked at, and shares as people read them. */

/** 1 where there is nothing to share: an absent test refuses nobody. */
export function share(outcomes: readonly boolean[]): number {
  return outcomes.length === 0 ? 1 : outcomes.filter(Boolean).length / outcomes.length;
}

/** 0 where there is nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
