/** Verbs that orders open with: "Prefer Lufthansa as my airline" is about Lufthansa. What somebody wants is told without the verb that says that they want it. */
import { escapeRegExp } from "../regexp.ts";

const VERBS =
  "add assign book bring buy call choose do drive favor favour find fly get give go have hire keep leave like look love make need order pick play prefer put rent reserve ride search select send set show start stay stick switch take try use want wish";

/** Verbs of wishing, ordering and using, in lower case. */
export const ORDER_VERBS: ReadonlySet<string> = new Set(VERBS.split(" "));

// Where sentences begin, and within them where an order may, its verb in small letters then: "No, take Take That".
const BEGINS = "(?<begin>^|[.!?\\n]\\s*)";
const WITHIN =
  "[,;–—]\\s*|\\b(?:please|always|just|and|but|so|then|rather|no|now|again|also|only|maybe|to|ok|okay|you|better|let's|time|on|hey|instead|I|we|I'd|I'll)\\s+";
// "Book Nook is my shop": the verb is a part of the name.
const GOES_ON = "(?!\\s+(?:is|are|was|were|should|shall|must|has|have|had|will|would|can|could)\\b)";

/** A value without the verb that the order opens with of which it is: `Prefer Lufthansa` → `Lufthansa`; as it is where it does not open one. */
export function withoutOrder(words: string, value: string): string {
  const [verb = "", ...rest] = value.trim().split(/\s+/);
  if (rest.length === 0 || !ORDER_VERBS.has(verb.toLowerCase())) return value;
  const told = [verb, ...rest].map(escapeRegExp).join("\\s+");
  const said = [
    ...words.matchAll(
      new RegExp(
        `(?:${BEGINS}|${WITHIN})(?<verb>${escapeRegExp(verb)})(?=${told.slice(escapeRegExp(verb).length)}(?![\\p{L}\\p{N}])${GOES_ON})`,
        "giu",
      ),
    ),
  ];
  const opens = said.some(({ groups }) => groups?.["begin"] !== undefined || groups?.["verb"] === verb.toLowerCase());
  return opens ? rest.join(" ") : value;
}
