/**
 * How a user wants replies to a tool's results worded, from their words: these are matched, never interpreted. Each kind is known by words that hardly stand in
 * anything else that is said after a reply: a shorter flight and the name for a booking are none of it.
 */
import { COUNT_TOLD, NO_QUESTION, type ReplyAspect, wordsIn } from "../../shared/wording.ts";
import { ordersAsking } from "./asking-ordered.ts";
import { wishfulWords } from "../../shared/correction/wishful.ts";
import { ADDRESSES, CALLS, COUNTS, HAS_QUESTION, LENGTHENS, SHORTENS, UNASKS, WANTS_ASKED } from "./wording-words.ts";

type Rule = { readonly parameter: ReplyAspect; readonly value: string };

const NUMBERS =
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const LEAST_WORDS = 3;
const MOST_SAID = 1_000; // characters: who says more is about something else, and the patterns take time with the square of it

/** What is said of the reply, or undefined where nothing is. @param options.reply that is to be worded otherwise */
export function wordingSaid(words: string, { reply }: { reply: string }): Rule | undefined {
  if (words.length > MOST_SAID) return undefined;
  const said = words.replaceAll("’", "'").replace(/\bdont\b/gi, "don't");
  // Who asks what there is, or tells what somebody else said, says no name and no length.
  const wished = wishfulWords(said);
  const isOf = (kind: readonly RegExp[], text = said): boolean => kind.some((each) => each.test(text));
  const name = isOf(ADDRESSES, wished) && !CALLS.test(wished) ? nameSaid(wished) : undefined;
  if (name !== undefined) return { parameter: "@name", value: name };
  if (isOf(COUNTS)) return { parameter: "@count", value: COUNT_TOLD };
  if (reply.includes("?") && isOf(UNASKS) && !isOf([HAS_QUESTION, WANTS_ASKED]) && !ordersAsking(said))
    return { parameter: "@question", value: NO_QUESTION };
  if (LENGTHENS.test(said)) return undefined;
  const most = mostWords(said);
  if (most === undefined && !isOf(SHORTENS, wished)) return undefined;
  return { parameter: "@length", value: String(most ?? Math.max(LEAST_WORDS, Math.floor(wordsIn(reply) / 2))) };
}

/** "at most eight words"; who names no number gets replies half as long as the one that was too long. */
function mostWords(said: string): number | undefined {
  const [, number = ""] = new RegExp(`\\b(\\d{1,3}|${NUMBERS.join("|")})[- ]words?\\b`, "i").exec(said) ?? [];
  const words = /^\d/.test(number) ? Number(number) : NUMBERS.indexOf(number.toLowerCase()) + 1;
  return words > 0 ? words : undefined;
}

// Capitalised words that begin sentences and are no names.
const NO_NAMES =
  "I|I'm|I'd|I've|I'll|OK|Okay|Yes|No|Not|Please|Hey|Hi|Hello|The|My|You|Your|It|It's|Why|What|Can|Could|Would|Do|Don't|Just|That|That's|This|Oh|Well|Sorry|By|Use|Say|Put|And|But|So|Call|Remember|Mention|Include|Start|Begin|Nobody|Everybody|Very|Good|Great|Nice|Perfect|Thanks|Thank|Awesome|Excellent";
const TITLE = "(?:(?:Mrs?|Ms|Miss|Dr|Prof|Professor|Sir|Madam|Captain)\\.? )";
const NAME = `(?!(?:${NO_NAMES})(?![\\p{L}'-]))${TITLE}?\\p{Lu}[\\p{L}\\p{M}'-]*(?: \\p{Lu}[\\p{L}\\p{M}'-]+)?`;
// After these a name follows, and after the first ones whatever follows is one: "call me boss". Not after "don't".
const CALLED = new RegExp(
  `(?<!\\b(?:[Dd]on't|[Dd]o not|[Nn]ever|[Nn]ot|[Ss]top|[Qq]uit) )\\b(?:call(?:s|ed|ing)? (?:to )?me|go by|called|known as|(?:(?:ad?dress|greet)(?:ed|ing)?|refer(?:red|ring)? to) (?:me )?(?:as|with)) (?:just |simply )?["“']?(${NAME}|\\p{Ll}+(?=\\W*$|[,.;!?]| (?:please|from|next|in|when|instead|lol)\\b))`,
  "gu",
);
const CUED = new RegExp(
  `\\b(?:[Nn]ame(?:'s| is|,|:)?|I'm|I am|[Ii]t's|[Ss]ay|as|with|[Pp]ut|to|prefer|[Jj]ust|[Tt]hat's|[Tt]his is) ["“']?(${NAME})`,
  "u",
);
// Before what was said until then: "you addressed me as Bob, my name is Rob".
const OWN = new RegExp(`\\b[Mm]y name(?:'s| is) ["“']?(${NAME})`, "u");
// Who is not to be called so says no name.
const UNCALLED = /\b(?:don't|do not|never|not|stop|quit) (?:call|address|greet|refer)/i;
const ANY = new RegExp(NAME, "gu");
const NOBODY =
  /^(?:that|this|it|again|back|by|what|when|my|the|a|an|please|something|anything|names?|me|you|us|him|her|them|cab|taxi|asap|early|first|later|now|once|soon|today|tonight|tomorrow|yesterday)$/;

function nameSaid(said: string): string | undefined {
  const own = OWN.exec(said);
  const called = [...said.matchAll(CALLED)].findLast(([, name = ""]) => !NOBODY.test(name));
  const [, last] = own !== null && (called === undefined || called.index < own.index) ? own : (called ?? []);
  if (last !== undefined) return trimmed(last);
  if (UNCALLED.test(said)) return undefined;
  const [, cued] = CUED.exec(said) ?? [];
  if (cued !== undefined) return trimmed(cued);
  const others = [...said.matchAll(ANY)];
  const [within, ...more] = others.filter(({ index }) => index > 0 && !/[.!?]\s*$/.test(said.slice(0, index)));
  const [only, ...rest] = others;
  const found = within !== undefined && more.length === 0 ? within : rest.length === 0 ? only : undefined;
  return found === undefined ? undefined : trimmed(found[0]);
}

function trimmed(name: string): string {
  return name.replace(/'s$|['-]+$/u, "");
}

const SPOKEN: Readonly<Record<ReplyAspect, RegExp>> = {
  "@length": /\b(?:brief|chat|concise|length|less|line|long|much|point|read|sentence|short|succinct|sum|talk|text|word)/i,
  "@question": /\?|\b(?:ask|question|statement|tell)/i,
  "@name": /./,
  "@count": /\b(?:amount|count|how many|many|number|total)/i,
};

/** Whether the user's words can mean the rule: a name stands in them, of the others a word of their kind. */
export function isSpokenWording({ parameter, value }: { parameter: ReplyAspect; value: string }, words: string): boolean {
  return parameter === "@name" ? words.toLowerCase().includes(value.toLowerCase()) : SPOKEN[parameter].test(words);
}
