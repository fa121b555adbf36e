/**
 * Numbers within bounds, digit by digit: whether what is written of a number can still become one of the range. Counted in
 * whole units of the last decimal place that is ever written, so that nothing is rounded and no beginning leads nowhere.
 */

/** From `low` to `high` in units of 10^-places, both inside, by steps of so many units from 0; nothing where low > high. */
export type NumberRange = { readonly places: number; readonly low: bigint; readonly high: bigint; readonly step: bigint };

export type Bounds = {
  readonly integer: boolean;
  readonly min: number;
  /** The bound itself is outside. */
  readonly minOpen: boolean;
  readonly max: number;
  readonly maxOpen: boolean;
  /** What all are multiples of; undefined where any will do. */
  readonly step?: Step | undefined;
};

/** units · 10^-places, above 0. */
export type Step = { readonly units: bigint; readonly places: number };

/** Ids of twenty digits are numbers to some; a number that no double holds is none to anybody. */
export const MOST_DIGITS = 24;

// What is written beyond the decimals of the bounds, as far as a double tells numbers of their size apart.
const MORE_PLACES = 3;
const FEWEST_PLACES = 6;
const DOUBLE_DIGITS = 15;
// Where one side is open, numbers have as many decimals as the shortest text of a double between 0.1 and 1.
const OPEN_PLACES = 17;

// Multiples are written as far as a double holds every one, and is read from its shortest text as it was written.
const FARTHEST_MULTIPLE = 10n ** BigInt(DOUBLE_DIGITS) - 1n;

/** The range that bounds leave; undefined where there are none. Where one is missing the range ends where numbers do, or beyond the other. */
export function rangeWithin(all: Bounds): NumberRange | undefined {
  const { integer, min, minOpen, max, maxOpen, step } = all;
  if (step !== undefined) return multiplesWithin(all, step);
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
    step: 1n,
  };
}

function multiplesWithin({ integer, min, minOpen, max, maxOpen }: Bounds, step: Step): NumberRange {
  const scale = 10n ** BigInt(step.places);
  // The multiples that are whole numbers are those of the least one, and are written without decimals.
  const [units, places] = integer ? [step.units / divisorOf(step.units, scale), 0] : [step.units, step.places];
  const low = Number.isFinite(min) ? unitsOf(min, { places, up: true }) : { units: -FARTHEST_MULTIPLE, exact: false };
  const high = Number.isFinite(max) ? unitsOf(max, { places, up: false }) : { units: FARTHEST_MULTIPLE, exact: false };
  const first = low.units + (minOpen && low.exact ? 1n : 0n);
  const last = high.units - (maxOpen && high.exact ? 1n : 0n);
  return {
    places,
    low: -multipleBelow(first < -FARTHEST_MULTIPLE ? FARTHEST_MULTIPLE : -first, units),
    high: multipleBelow(last > FARTHEST_MULTIPLE ? FARTHEST_MULTIPLE : last, units),
    step: units,
  };
}

/** The step of what is a multiple of both. */
export function commonStep(left: Step, right: Step): Step {
  const places = Math.max(left.places, right.places);
  const [one, other] = [left, right].map((step) => step.units * 10n ** BigInt(places - step.places));
  return { units: ((one ?? 1n) * (other ?? 1n)) / divisorOf(one ?? 1n, other ?? 1n), places };
}

/** A number as a step; undefined where so few of its multiples are doubles that it means something else than it says. */
export function stepOf(value: number): Step | undefined {
  const { digits: units, places } = decimalOf(value);
  return isStep({ units, places }) ? { units, places } : undefined;
}

/** Whether some multiples of it are written exactly. */
export function isStep({ units, places }: Step): boolean {
  return units > 0n && units <= MOST_STEP_UNITS && places <= DOUBLE_DIGITS;
}

const MOST_STEP_UNITS = 10n ** 12n; // a thousand multiples on either side of 0 at least

function divisorOf(left: bigint, right: bigint): bigint {
  let [one, other] = [left, right];
  while (other !== 0n) [one, other] = [other, one % other];
  return one;
}

/** The greatest multiple that is no greater. */
function multipleBelow(value: bigint, step: bigint): bigint {
  const past = ((value % step) + step) % step;
  return value - past;
}

/** Whether any number is in it. */
export function holdsAny({ low, high }: NumberRange): boolean {
  return low <= high;
}

/** Whether a whole number text, without an exponent, is in it. */
export function holds({ places, low, high, step }: NumberRange, text: string): boolean {
  const { sign, digits, fraction } = parse(text);
  const units = sign * BigInt(`${digits}${fraction.padEnd(places, "0")}`);
  return units >= low && units <= high && units % step === 0n;
}

/** Whether a text that begins a number, without an exponent, may go on to one that is in it. */
export function mayReach({ places, low, high, step }: NumberRange, text: string): boolean {
  const { sign, digits, point, fraction } = parse(text);
  if (fraction.length > places || (point && places === 0)) return false;
  /** Whether any of `count` units from `from` is in the range, or of their negatives. */
  const meets = (from: bigint, count: bigint): boolean => {
    const [first, last] = sign < 0n ? [-(from + count - 1n), -from] : [from, from + count - 1n];
    return multipleBelow(last < high ? last : high, step) >= (first > low ? first : low);
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
