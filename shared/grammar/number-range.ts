/**
 * Numbers within bounds, digit by digit: whether what is written of a number can still become one of the range. Counted in
 * whole units of the last decimal place that is ever written, so that nothing is rounded and no beginning leads nowhere.
 */

/** From `low` to `high` in units of 10^-places, both inside; nothing where low > high. */
export type NumberRange = { readonly places: number; readonly low: bigint; readonly high: bigint };

export type Bounds = {
  readonly integer: boolean;
  readonly min: number;
  /** The bound itself is outside. */
  readonly minOpen: boolean;
  readonly max: number;
  readonly maxOpen: boolean;
};

/** Ids of twenty digits are numbers to some; a number that no double holds is none to anybody. */
export const MOST_DIGITS = 24;

// What is written beyond the decimals of the bounds, as far as a double tells numbers of their size apart.
const MORE_PLACES = 3;
const FEWEST_PLACES = 6;
const DOUBLE_DIGITS = 15;
// Where one side is open, numbers have as many decimals as the shortest text of a double between 0.1 and 1.
const OPEN_PLACES = 17;

/** The range that bounds leave; undefined where there are none. Where one is missing the range ends where numbers do, or beyond the other. */
export function rangeWithin({ integer, min, minOpen, max, maxOpen }: Bounds): NumberRange | undefined {
  const bounds = [min, max].filter(Number.isFinite).map(decimalOf);
  if (bounds.length === 0) return undefined;
  const own = Math.max(...bounds.map(({ places }) => places));
  const whole = Math.max(...bounds.map(({ digits, places }) => String(digits).replace("-", "").length - places));
  const room = Math.max(own, Math.min(Math.max(own + MORE_PLACES, FEWEST_PLACES), DOUBLE_DIGITS - whole));
  const places = integer ? 0 : bounds.length === 1 ? Math.max(own, OPEN_PLACES) : room;
  const far = 10n ** BigInt(Math.max(MOST_DIGITS, whole + 1) + places) - 1n;
  const low = Number.isFinite(min) ? unitsOf(min, { places, up: true }) : { units: -far, exact: false };
  const high = Number.isFinite(max) ? unitsOf(max, { places, up: false }) : { units: far, exact: false };
  return {
    places,
    low: low.units + (minOpen && low.exact ? 1n : 0n),
    high: high.units - (maxOpen && high.exact ? 1n : 0n),
  };
}

/** Whether any number is in it. */
export function holdsAny({ low, high }: NumberRange): boolean {
  return low <= high;
}

/** Whether a whole number text, without an exponent, is in it. */
export function holds({ places, low, high }: NumberRange, text: string): boolean {
  const { sign, digits, fraction } = parse(text);
  const units = sign * BigInt(`${digits}${fraction.padEnd(places, "0")}`);
  return units >= low && units <= high;
}

/** Whether a text that begins a number, without an exponent, may go on to one that is in it. */
export function mayReach({ places, low, high }: NumberRange, text: string): boolean {
  const { sign, digits, point, fraction } = parse(text);
  if (fraction.length > places || (point && places === 0)) return false;
  /** Whether any of `count` units from `from` is in the range, or of their negatives. */
  const meets = (from: bigint, count: bigint): boolean => {
    const [first, last] = sign < 0n ? [-(from + count - 1n), -from] : [from, from + count - 1n];
    return first <= high && last >= low;
  };
  const ends = 10n ** BigInt(places - fraction.length);
  if (digits === "") return sign < 0n ? low <= 0n : low <= high;
  const from = BigInt(`${digits}${fraction}`) * ends;
  if (point) return meets(from, ends);
  if (digits === "0") return meets(from, ends); // a zero stands alone
  // Any other number may have digits to come, each ten times as many numbers.
  const farthest = -low > high ? -low : high;
  for (let scale = 1n; from * scale <= farthest; scale *= 10n) if (meets(from * scale, ends * scale)) return true;
  return false;
}

function parse(text: string): { sign: bigint; digits: string; point: boolean; fraction: string } {
  const [, sign = "", digits = "", point = "", fraction = ""] = /^(-?)(\d*)(\.?)(\d*)$/.exec(text) ?? [];
  return { sign: sign === "-" ? -1n : 1n, digits, point: point !== "", fraction };
}

/** A double as the shortest decimal that means it: digits · 10^-places. */
function decimalOf(value: number): { digits: bigint; places: number } {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${whole}${fraction}`);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

/** The bound in units, rounded into the range where it lies between two. */
function unitsOf(value: number, { places, up }: { places: number; up: boolean }): { units: bigint; exact: boolean } {
  const { digits, places: own } = decimalOf(value);
  if (own <= places) return { units: digits * 10n ** BigInt(places - own), exact: true };
  const unit = 10n ** BigInt(own - places);
  const down = digits / unit - (digits % unit < 0n ? 1n : 0n);
  const exact = digits % unit === 0n;
  return { units: exact || !up ? down : down + 1n, exact };
}
