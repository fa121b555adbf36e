/** Numbers that take more than one word, in digits: "forty-five" is 45, "two dozen" are 24, "six and a half" is 6.5. */
import { unspelled } from "./spoken.ts";

const TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety";
const ONES = "one|two|three|four|five|six|seven|eight|nine";
const SMALL = `(?:${TENS})[ -](?:${ONES})|${TENS}|${ONES}|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen`;
const COMPOUND = new RegExp(
  `\\b(?:(?<tens>${TENS})[ -](?<ones>${ONES})|(?<many>an?|half a|${SMALL}|\\d+) (?<group>dozen|hundred|thousand)(?: (?:and )?(?<rest>${SMALL}))?)\\b`,
  "gi",
);
const TEENS = "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen";
const HUNDREDS = new RegExp(`\\b(${TEENS}) (hundred|${TENS})\\b`, "gi"); // "thirteen fifty" is 1350
const HALF = new RegExp(`\\b(${SMALL}|\\d+) and a half\\b`, "gi");
const GROUPS: Readonly<Record<string, number>> = { dozen: 12, hundred: 100, thousand: 1_000 };

export function withDigits(text: string): string {
  const hundreds = text.replaceAll(HUNDREDS, (_, many: string, rest: string) => String((small(many) ?? 0) * 100 + (small(rest) ?? 0)));
  const whole = hundreds.replaceAll(COMPOUND, (said: string, ...rest: unknown[]) => {
    const { tens, ones, many = "", group = "", rest: more } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (tens !== undefined) return String(small(`${tens} ${ones ?? ""}`) ?? said);
    const count = /^an?$/i.test(many) ? 1 : /^half/i.test(many) ? 0.5 : (small(many) ?? Number(many));
    return String(count * (GROUPS[group.toLowerCase()] ?? 1) + (more === undefined ? 0 : (small(more) ?? 0)));
  });
  return whole.replaceAll(HALF, (_, number: string) => `${small(number) ?? number}.5`);
}

/** Below a hundred, in one word or two. */
function small(words: string): number | undefined {
  const [first = "", second] = words.trim().split(/[ -]/);
  const [tens, ones] = [unspelled(first), second === undefined ? 0 : unspelled(second)];
  return tens === undefined || ones === undefined ? undefined : tens + ones;
}
