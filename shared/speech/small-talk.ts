/** Whether somebody only greets, thanks or parts: no call is due then. Words are matched, never interpreted; whatever else is said makes it a request. */
import { wordsOf } from "./words.ts";

const GREETINGS = [
  "hello(?: there)?|hi(?: there)?|hey(?: there)?|hiya|hullo|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|morning|evening|welcome",
  "how are you(?: doing)?(?: today)?|how's it going|how is it going|how do you do|what's up|(?:nice|pleased) to meet you|long time no see",
];
const THANKS = [
  "(?:thanks|thank you)(?: (?:(?:so|very) much|a (?:lot|bunch|million)|kindly|again))?(?: for (?:your|the|all your) (?:help|assistance|support|time|service))?",
  "thx|ty|cheers|ta|many thanks|much appreciated|i appreciate it|you(?:'re| are) (?:the best|a star|a lifesaver)|you've been (?:so |very |really )?(?:helpful|great|kind)",
];
const PARTINGS = [
  "(?:bye(?: bye)?|good ?bye)(?: for now)?|good night|farewell|see you(?: (?:later|soon|tomorrow|around|then))?|see ya|talk to you (?:later|soon)|take care|ciao|cya|until next time",
  "have a (?:very )?(?:nice|good|great|lovely|wonderful|pleasant) (?:day|evening|night|weekend|one|time|afternoon|week)",
  "no(?:thing)?,? (?:thanks|thank you)|i'm (?:done|good|all set)(?: here| for (?:now|today))?",
];
const NO_MORE = [
  "(?:that's|that is|that'll be|that will be) (?:all|everything|it)(?: (?:for (?:now|today)|thanks|i need(?:ed)?|then))?|nothing (?:else|more)",
];
// Beside them: words that may agree to a question, and words that say nothing.
const AGREEING = new Set("ok okay great perfect lovely wonderful awesome nice good alright right please".split(" "));
const IDLE = new Set(
  "and so then again oh well everyone all there friend mate buddy dear sir madam assistant bot today very much a lot indeed really just".split(
    " ",
  ),
);

const whole = (words: readonly string[]): RegExp => new RegExp(`(?<![\\p{L}\\p{N}'])(?:${words.join("|")})(?![\\p{L}\\p{N}'])`, "giu");
const TALK = whole([...NO_MORE, ...PARTINGS, ...THANKS, ...GREETINGS]);
const LEAVES = whole(PARTINGS);
const LEAVES_OR_ENDS = whole([...NO_MORE, ...PARTINGS]);
const LONGEST = 120; // characters

/**
 * @param options.asked whether the assistant has just asked something: then thanks may be a yes, and only who leaves says none
 * @param options.due whether what the user has asked for is still to be done: then who has nothing to add to it waits for it
 */
export function isSmallTalk(words: string, { asked, due = false }: { asked: boolean; due?: boolean }): boolean {
  if (words.length > LONGEST) return false;
  const text = words.replaceAll("’", "'").replace(/\s+/g, " ");
  const beside = wordsOf(text.replace(TALK, " "));
  if (text.search(TALK) < 0 || !beside.every((word) => AGREEING.has(word) || IDLE.has(word))) return false;
  return !asked || (text.search(due ? LEAVES : LEAVES_OR_ENDS) >= 0 && !beside.some((word) => AGREEING.has(word)));
}
