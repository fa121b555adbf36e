/**
 * Which of a user's sentences can wish for something: none that asks what there is ("Why economy?"), tells what others like or said, what would be if, or
 * what was last year.
 */
import { TITLES } from "../speech/words.ts";
import { withoutRepairedNumbers } from "./repaired.ts";

// "Is there anything but Standard?" asks what there is; "anything but Standard, ok?" does not, and "what about Thai?" proposes.
const ASKS_WHAT =
  /^\W*(?:and |or |so |but |hmm,? |wait,? )?(?:(?:is|are|do|does|did|have|has|was|were|what|which|who|how|when|where|why)\b(?!['’]| (?:about|not)\b)|would (?!you\b|I\b|we\b)[\p{L}\p{N}-]{1,40} (?:have|cost|be (?:cheaper|better|faster|safer|enough))\b)/iu;
const WISHES_ALL_THE_SAME =
  /\bnot\b|n['’]t\b|\bI (?:want|need|said|told|asked|always|never|prefer|fly|meant)\b|\bplease\b|\bdo I have to\b|\bkeep \w+ing\b|\bforg[eo]t\b|,? (?:ok|okay)\?/i;
const QUOTED = /"[^"\n]*"|“[^“”\n]*”/g;
const OTHERS =
  "(?:he|she|they|(?:my|his|her|their|our) (?:boss|wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|children|(?:mother|father|sister|brother)(?:-in-law)?|grandma|grandpa|granny|mom|mum|dad|parents|friends?|colleagues?|competitors?|mentor|coach|trainer|bookkeeper|accountant|neighbou?rs?|landlord|clerk|roommate|doctor|teacher|cousin|aunt|uncle|family)|an? (?:friend|neighbou?r|colleague) of mine|grandma|grandpa|granny)";
const DO =
  "(?:says?|said|thinks?|thought|reckons?|reckoned|told|tells|claims?|suggests?|suggested|learns?|learned|likes?|loves?|hates?|prefers?|wants?|wanted|flies|flew|stays?|stayed|takes?|took|uses?|used|rides?|drives?|allows?|marks?|makes?|made|gets?|got|does|did|needs?|needed|plays?|pays?|paid|drinks?|buys?|bought|sends?|sent|keeps?|kept|eats?|books?|booked|orders?|ordered|goes|went|has|had|complains?|complained|writes?|wrote|texts?|texted|mails?|mailed|e-?mailed|messaged|replies|replied|answers?|answered|asks?|asked|insists?|insisted|swears?|swore|recommends?|recommended|mentions?|mentioned|believes?|believed|posted|chooses?|chose|picks?|picked|enjoys?|enjoyed|travels?|travell?ed|feels?|felt|advises?|advised|shout(?:s|ed)|yell(?:s|ed)|polish(?:es)? off)";
// "My wife would set it to 26", "she'll call in 5 minutes"; who says what somebody would like says it for them.
const MAY = "(?:'ll|'d| will| would| might)(?! (?:like|love|prefer|need))";
const OF_OTHERS = new RegExp(
  `^\\W*(?:and |but |well |oh )*${OTHERS}(?: (?:(?:always|usually|often|never|only|once|also|really|just) )?${DO}|${MAY})\\b`,
  "i",
);
// "Coach Dean does 90 minutes every day": nobody's name is a sentence's first word and another one's beginning but somebody's.
const OF_SOMEBODY = new RegExp(
  `^\\W*\\p{Lu}\\p{Ll}+ \\p{Lu}\\p{Ll}+ ${DO}\\b|^\\W*(?!(?:That|This|It|What|Who|Which|You|We|Everything|Anything|Nothing|Something|Better|Best|Preferably|Business|Economy)\\b)\\p{Lu}\\p{Ll}+ (?:would|could|might) (?:do|take|have|eat|drink|run|ride|drive|fly|pay|buy|order|book|go|play|wear)\\b`,
  "u",
);
// "Ana said she'd need 45 minutes", not "I said it would be for two".
const REPORTED =
  /^\W*(?!(?:I|You|We|It|That|This|What|Who|As|Like|Nobody|They)\b)\p{Lu}\p{Ll}+ (?:said|says|told (?:me|us)|thinks?|thought|mentioned|claims|claimed|suggested|wrote) (?:that )?(?:he|she|they|his|her|their)\b/u;
// "The bank wrote to me: …", "The readme says …", which who adds what it should be means all the same.
const SAID_BY =
  /^\W*(?:(?:and|but|so|well|oh|hey|also),? )?(?:the|my|this|that|some) (?:[\p{L}\p{N}-]{1,30} )?(?:readme|forum|internet|web|web ?site|article|blog|bank|news(?:paper)?|radio|tv|advert|manual|wiki|post|shop|company|airline|hotel)s? (?:just |also )?(?:says?|said|wrote|writes|claims?|claimed|told|tells|thinks?|suggests?|suggested|recommends?|recommended|states?)\b/iu;
// "Got an e-mail from Tom: please make it 3." is Tom's wish.
const MESSAGE_FROM = /\b(?:e-?mail|mail|message|text|letter|note|sms|post|ticket|comment) from\b[^:.!?]{0,60}:/i;
// 'The status page says: "The delay should be 60."'
const QUOTED_FROM =
  /^\W*(?:the|my|our|this|that|some|an?) [^.:!?"“”]{1,60}\b(?:says?|said|wrote|writes|reads?|states?|claims?|claimed|told|tells)\b[^.:!?"“”]{0,40}:\W*["“]/iu;
// 'There is a sign at the door: "Ring twice"'
const NOTICE =
  /\b(?:there(?:'s| is| was)|(?:they|we|i) (?:have|had|saw)|put up|hung up) (?:an?|this|the|another)? ?(?:[\p{L}-]{1,20} ){0,2}(?:sign|notice|sticker|plaque|poster)\b[^.:!?"“”]{0,60}:\W*["“]/iu;
const MEANT =
  /\b(?:I|we)(?:'d| would)? (?:really |always |only |actually )?(?:want|need|prefer|meant|like|said|asked|told)\b|\bplease\b|\bchange it\b/i;
const UNREAL = /\bif (?:i|we|you|it|he|she|they|money) (?:were|was|had|could|would)\b/i;
// What happened, and what it was, up to where the sentence goes on: "DHL just rang, wrong door as usual", "It was 26 last week, can you believe it?"
const TOLD = [
  /^\W*(?:and |but |so |oh )?(?:I|we) (?:just |already |also )?(?:took|saw|ate|drank|drove|walked|ran|spent|bought|won|lost|met|caught|shot|sold|counted|paid) [^,;:]{0,60}/i,
  /^\W*\p{Lu}[\p{L}\d]* (?:has |have )?(?:just|already|never) (?:rang|rung|called|phoned|came|come|arrived|left|delivered|knocked|texted|wrote|written|mailed|replied|answered|closed|opened|stopped by|showed up)\b/u,
  /^\W*(?:it|that|this) (?:was|were) [^,;:]{0,40}\blast (?:week|night)\b/i,
];
const WISHLESS = [UNREAL, OF_OTHERS, OF_SOMEBODY, REPORTED];
const PAST =
  /\blast (?:year|month|summer|winter|spring|autumn|fall)\b|\b(?:years?|months?|weeks?|ages) ago\b|\byesterday\b|(?<!(?:'m|am|are|is|get|got) )\bused to\b/i;
// "Eco, not boost, the bill killed us last month", and no "Yesterday I flew Business, not Economy"
const SAID =
  /\b(?:said|told|asked|mentioned|wrote|please|now)\b|^[^\p{L}\p{N}]{0,9}(?:[\p{L}\p{N}'-]{1,40} )?[\p{L}\p{N}'-]{1,40}, not\b/iu;

// What stands behind is a text to work on, and nobody's wish: "Translate to German: …"
const TEXT =
  /^(?<order>\W*(?:(?:and|then|now|please|also|ok|okay|(?:can|could|would|will) you)[ ,]+)*(?:translate|proofread|spell-?check|rephrase|paraphrase|reword|transcribe|pronounce|summari[sz]e|how (?:do|would) (?:you|I) say|what does)\b[^:"“\n]*[:"“]).*$/is;

/** The sentences that can wish for something, in their order, quotations and numbers that are taken back left out. */
export function wishfulWords(words: string): string {
  return withoutRepairedNumbers(words.replaceAll("’", "'"))
    .replace(TEXT, "$<order>")
    .split(SENTENCES)
    .filter((sentence) => !asksWhat(sentence) && !WISHLESS.some((each) => each.test(sentence)))
    .filter(
      (sentence) =>
        !MESSAGE_FROM.test(sentence) &&
        !QUOTED_FROM.test(sentence) &&
        !NOTICE.test(sentence) &&
        (!SAID_BY.test(sentence) || MEANT.test(sentence)),
    )
    .filter((sentence) => !PAST.test(sentence) || SAID.test(sentence))
    .map((sentence) => TOLD.reduce((rest, each) => rest.replace(each, ""), sentence))
    .map((sentence) => (isOfOneself(sentence) ? sentence : sentence.replaceAll(QUOTED, " ")))
    .join("");
}

// Between sentences, not after an initial or a title: "Port S. John", "Dr. Patel".
const SENTENCES = new RegExp(`(?<=(?<!\\b(?:\\p{L}|${TITLES}))[.!?])(?=[^\\S\\n])|(?<=\\n)`, "u");

/** Whether a sentence asks how something is. Who asks why it is not otherwise wishes that it were. */
export function asksWhat(sentence: string): boolean {
  return sentence.includes("?") && ASKS_WHAT.test(sentence) && !WISHES_ALL_THE_SAME.test(sentence);
}

/** Whether a quotation is of what the user wants: "I said "business"", "it should be "business"". */
function isOfOneself(sentence: string): boolean {
  return !new RegExp(`\\b(?:${OTHERS} ${DO}|told (?:me|us))\\b`, "i").test(sentence);
}
