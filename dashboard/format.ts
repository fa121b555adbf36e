/** Numbers, times and names as people read them. */
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const NUMBER = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const DECIMALS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 });
const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

export function time(iso: string): string {
  return TIME.format(new Date(iso));
}

export function number(value: number): string {
  return NUMBER.format(value);
}

/** To three places, however small it is. */
export function decimals(value: number): string {
  return DECIMALS.format(value);
}

export function percent(share: number): string {
  return PERCENT.format(share);
}

export function seconds(value: number): string {
  return value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`;
}

/** JSON on several lines where it is JSON, as it is where it is not. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
