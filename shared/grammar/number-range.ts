/** Numbers within bounds, digit by digit: whether what is written of a number can still become one of the range. */

/** `open`: the bound itself is outside. Infinite where there is no bound. */
export type NumberRange = {
  readonly integer: boolean;
  readonly min: number;
  readonly minOpen: boolean;
  readonly max: number;
  readonly maxOpen: boolean;
};

type Interval = Omit<NumberRange, "integer">;

// What a double tells apart; a number that is still outside by then stays there.
const MOST_DIGITS = 17;

export function isBounded({ min, max }: NumberRange): boolean {
  return min > -Infinity || max < Infinity;
}

/** Whether any number is in it. */
export function holdsAny(range: NumberRange): boolean {
  if (!range.integer) return range.min < range.max || (range.min === range.max && !range.minOpen && !range.maxOpen);
  const first = range.minOpen ? Math.floor(range.min) + 1 : Math.ceil(range.min);
  const last = range.maxOpen ? Math.ceil(range.max) - 1 : Math.floor(range.max);
  return first <= last;
}

/** Whether a whole number text, without an exponent, is in it. */
export function holds({ min, minOpen, max, maxOpen }: Interval, text: string): boolean {
  const value = Number(text);
  return (minOpen ? value > min : value >= min) && (maxOpen ? value < max : value <= max);
}

/** Whether a text that begins a number, without an exponent, may go on to one that is in it. */
export function mayReach(range: NumberRange, text: string): boolean {
  const [, sign = "", whole = "", point = "", fraction = ""] = /^(-?)(\d*)(\.?)(\d*)$/.exec(text) ?? [];
  if (whole.length + fraction.length > MOST_DIGITS) return false;
  const within = (from: number, size: number): boolean => overlaps(range, signed(sign === "-", { from, size, integer: range.integer }));
  if (whole === "") return sign === "" ? holdsAny(range) : within(0, Infinity);
  const value = Number(`${whole}.${fraction === "" ? "0" : fraction}`);
  if (point !== "") return within(value, 10 ** -fraction.length);
  // A zero stands alone; any other number may have digits to come, each ten times as many numbers.
  const further = whole === "0" ? 0 : MOST_DIGITS - whole.length;
  return Array.from({ length: further + 1 }, (_, digits) => 10 ** digits).some((scale) => within(value * scale, scale));
}

/** The numbers from `from` up to, without it, `from + size`, or their negatives; of whole ones the last is the bound. */
function signed(negative: boolean, { from, size, integer }: { from: number; size: number; integer: boolean }): Interval {
  const [to, open] = integer ? [from + size - 1, false] : [from + size, true];
  return negative ? { min: -to, minOpen: open, max: -from, maxOpen: false } : { min: from, minOpen: false, max: to, maxOpen: open };
}

function overlaps(a: Interval, b: Interval): boolean {
  const reaches = (low: Interval, high: Interval): boolean => low.max > high.min || (low.max === high.min && !low.maxOpen && !high.minOpen);
  return reaches(a, b) && reaches(b, a);
}
