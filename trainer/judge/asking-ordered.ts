/** What a user's words order outright about asking: to ask before such a call, or not to ask any more. It is believed whatever the base makes of the words. */
import { sentencesOf } from "../../shared/speech/sentences.ts";
import { wishfulWords } from "../../shared/correction/wishful.ts";

export const MOST_SAID = 2_000; // characters: who says more is about something else, and the patterns take time

export const plain = (words: string): string =>
  words.replaceAll("’", "'").replace(/\b(do|did|does|should|must|need|have|is|was)nt\b/gi, "$1n't");

const OKAY =
  "(?:permission|approval|consent|okay|ok|go-ahead|say-so|yes|agreement|authori[sz]ation|blessing|sign-?off|confirmation(?! (?:number|code|mail|e-?mail|letter|page))|knowledge)";
const FORBIDS = "(?:don't|do not|never|not|mustn't|shouldn't|can't|cannot|may not|no|nothing|not to)";
const UNASKED = `without (?:first )?(?:(?:asking|checking with|consulting|telling|informing|confirming with|consulting with) (?:me|us)\\b|asking(?=\\W*$|[.!,;]| first| beforehand| for (?:(?:my|our|an?) )?${OKAY})|(?:my|our) (?:prior |explicit |express |clear )?${OKAY}|(?:an? )?(?:prior |explicit )?${OKAY} from (?:me|us)\\b|(?:confirmation|permission|approval|consent)(?=\\W*$|[.!,;]))`;
const YET =
  "(?:unless|until|till|before) (?:(?:(?:I|we)(?:'ve| have)?(?: first| explicitly| actually| personally)? (?:confirm|approv|agree|okay|ok\\b|sign|say (?:yes|ok|okay|go)|said (?:yes|ok|okay|go)|give (?:you )?(?:my|the)|gave|authori[sz]|consent))|(?:you(?:'ve| have)?(?: first| explicitly)? (?:ask(?:ed)? (?:me|us|first)|check(?:ed)? with (?:me|us)|consult(?:ed)? (?:me|us)|ask(?:ed)?(?=\\W*$|[.!,;])|have my)))";
// Nobody's own habit: "I never buy without asking my wife"; who says "you never book without asking" complains of questions.
const FORBIDDEN = new RegExp(
  `(?<!\\b(?:you|they|he|she|who|which|why) )(?<!\\b(?:I|we) (?=\\w+ (?!want|like|wish|need|allow)))\\b${FORBIDS}\\b(?:(?!\\b(?:ask|confirm|check|bother|need)\\w*|[.!?;])[^\\n]){0,80}?\\b(?:${UNASKED}|${YET})`,
  "i",
);
const ASK_ME =
  "(?:(?:ask|consult|double-?check with|check (?:back )?with|(?:confirm|verify) (?:(?:it|that|this|everything|(?:the|my|our|all|any|such|these|those) \\w+) )?with|talk to|speak to) (?:me|us)|ask (?:for )?(?:my|our) (?:permission|approval|consent|okay|ok)|(?:get|seek) (?:my|our) (?:permission|approval|consent|okay|ok)|run (?:it|that|this|everything|such things) (?:by|past) (?:me|us)|clear (?:it|that|this|everything) with (?:me|us)|ask(?= (?:first|beforehand|before|in advance|each time|every time)\\b))";
const FIRST =
  "(?:first(?! thing)|beforehand|in advance|up front|before (?:you|any\\w*|doing|making|it(?:'s| is)|that|the|every|each|each and|\\p{L}+ing|such|a)\\b|each time you|every time you|whenever you)";
const TOLD =
  "(?:^|[.!?,;:\\n]|\\b(?:please|always|must|should|have to|need to|got to|want you to|like you to|expect you to|to|and|but|then|so|just|next time|from now on|in future|(?:could|would|can|will) you|kindly|better|rather|no|hey|instead))";
const ORDERED = new RegExp(`${TOLD} ?\\b(?:please |always |kindly |first )*${ASK_ME}\\b[^.!?\\n]{0,40}?\\b${FIRST}`, "iu");
const TURNED_DOWN =
  /n't (?:need|have|want|like|bother)\b|\b(?:no need|needn't|not (?:need|have|want|like)|stop|quit|tired|sick|hate|why|skip|used to|unnecessary)\b/i;

const FROM_NOW = "(?:next time|from now on|in (?:the )?future|from here on|going forward)";
const NO_MORE = "(?=\\s*(?:$|[.!,;:)]|\\b(?:and|but|just|so|please|any ?more|now|in future|next time|from now on)\\b))";
const ALWAYS = new RegExp(
  `(?:^|[.!?,;:\\n]|\\b(?:please|and|but)) ?(?:please )?(?:always|${FROM_NOW},?) (?:please )?(?:always )?${ASK_ME}\\b(?! (?:what|why|how|where|who)\\b)|${TOLD} ?${ASK_ME}\\b[^.!?\\n]{0,30}\\b${FROM_NOW}`,
  "iu",
);
const LET_ME = new RegExp(
  `${TOLD} ?let (?:me|us) (?:read|see|review|check|approve|look at|proofread|confirm) (?:it|that|this|them|everything|(?:the|your|such|all|any) \\w+|what\\b[^.!?\\n]{1,25}?)(?: over)? (?:beforehand|before (?:you|it|they|any\\w*|\\p{L}+ing)\\b)`,
  "iu",
);
const MISSED = new RegExp(
  `(?<!\\b(?:I|we|they|he|she) )\\b(?:could|should|might)(?: (?:at least|really|maybe))?(?: have|'ve)(?: (?:first|at least))? (?:asked(?: (?:me|us|first)|${NO_MORE})|(?:double-?)?checked (?:(?:it|that|this) )?with (?:me|us)|run (?:it|that|this|\\w+) (?:by|past) (?:me|us)|consulted (?:me|us)|confirmed (?:(?:it|that|this) )?with (?:me|us)|waited for (?:my|our) ${OKAY}|(?:shown|let) me\\b[^.!?]{0,25}?\\b(?:first|before(?:hand)?))`,
  "iu",
);

/** Whether the words outright order to ask first: "Never book without asking me!", "Ask me before you send anything." */
export function ordersAsking(words: string): boolean {
  if (words.length > MOST_SAID) return false;
  return sentencesOf(wishfulWords(plain(words))).some((sentence) => {
    if (FORBIDDEN.test(sentence)) return !sentence.includes("?");
    if (MISSED.test(sentence) || LET_ME.test(sentence)) return true;
    const order = ORDERED.exec(sentence) ?? ALWAYS.exec(sentence);
    if (order === null) return false;
    const clause = sentence.slice(0, order.index).split(/[,;:]/).at(-1) ?? "";
    return !TURNED_DOWN.test(`${clause}${order[0]}`);
  });
}

const OFTEN = "(?: (?:always|again|constantly|even|ever|please))*";
const ABOUT_ALL =
  "(?:with (?:me|us)|everything|(?:it|that|this|all|them) (?:all|with (?:me|us))|(?:these|such|those) things|things|again|(?:all|half) the time|every\\w*|each|so (?:much|often)|twice|first|beforehand|back)\\b";
const ASKS_ME = `(?:(?:me|us)(?! (?:why|how|what|who|where|when|for (?!${OKAY}|(?:my|an?|any) ${OKAY}))\\b)|(?:for )?(?:(?:my|an?|any) )?${OKAY}|(?:for )?confirmations?|(?:so many |any |these |all these )?questions|(?:about|before) (?:it|this|that|these|such|every\\w*|each)|whether I|if I|${ABOUT_ALL})`;
const ING = "(?:ing)?";
// Not "don't confirm it", which may call the whole thing off.
const CHECKING = `(?:(?:re-?)?ask${ING}(?: ${ASKS_ME}|${NO_MORE})|(?:double|re|cross)[- ]?check${ING}\\b|check${ING} (?:back\\b|(?:in )?${ABOUT_ALL})|(?:confirm|verify|repeat)${ING} ${ABOUT_ALL}|read${ING} (?:\\w+ ){0,3}back\\b|question${ING} (?:me|my)\\b)`;
const CHECKED =
  "(?:(?:re-?|double-?)?confirmations?|double-?checks?|(?:read-?backs?|summar(?:y|ies)))(?! (?:number|code|mail|e-?mail|letter|page|about))";
const DO_IT =
  "(?:(?:just|simply|always) )?(?:do (?:it|that|this|so|these|such things|things)|act|proceed|go (?:straight |right |directly )?(?:ahead|on)|book it|send it|buy it|pay it|make it)";
const AT_ONCE = "(?:right away|straight ?away|at once|immediately|directly|on your own|without)";
const WHEN_TOLD = "(?:when(?:ever)?|as soon as|once) I (?:ask|say|tell|request|order)";
const UNASKED_ORDERS = [
  new RegExp(
    `${TOLD} ?\\b(?:please |just |really )*(?:(?:you (?:can|may|could|should) )?(?:stop|quit)|don't|do not|never|no more|enough|refrain from)(?: (?:bother|keep))?${OFTEN} ${CHECKING}`,
    "iu",
  ),
  new RegExp(
    `\\b(?:(?:no need|no reason|not necessary|unnecessary|needless)(?: (?:for you|at all))? to|(?<!\\b(?:I|we|they) )(?:needn't|need not|(?:don't|do not) (?:have|need) to|shouldn't have to))${OFTEN} (?:${CHECKING}|(?:confirm|verify|check|repeat)${NO_MORE})`,
    "iu",
  ),
  new RegExp(
    `\\b(?:rather|prefer(?: it)? if|like it if|nicer? if|better if|quicker if|easier if) (?:you|that you) (?:didn't|don't|did not|do not|not)${OFTEN} ${CHECKING}`,
    "iu",
  ),
  new RegExp(
    `\\b(?:skip|drop|cut|spare me|leave out|omit|forget|quit|stop with|enough with|enough of|no need for) (?:the|these|those|this|that|your|all|any|a|all the|all these|further|more|another)? ?${CHECKED}|\\bno (?:more |further )?${CHECKED} (?:is |are )?(?:needed|necessary|required|please)\\b|\\bno more ${CHECKED}`,
    "iu",
  ),
  new RegExp(
    `(?:${TOLD}|\\b(?:prefer|want|like|expect|rather|wish|fine|okay|happy|happier|free|can|may)(?: for| with| if)?(?: you| it| me)?(?: to)?) ?(?:please )?(?:do|book|make|send|buy|pay|handle|act|proceed|go ahead|be done|done)\\b(?: (?:it|that|this|so|these|such|things))*(?: \\w+)? without (?:asking|checking|confirming|double-?checking|(?:any |further |more |a )?(?:confirmations?|questions)|(?:my|our) ${OKAY})\\b`,
    "iu",
  ),
  /\bmust you (?:always |really |constantly |every time )?(?:ask|confirm|check|double-?check)\b|\b(?:do|must) you (?:always |constantly )?keep (?:on )?(?:asking|checking with|confirming|double-?checking)\b/iu,
  new RegExp(`\\b${WHEN_TOLD}\\b[^.!?]{0,30}\\b${DO_IT} ${AT_ONCE}|\\b${AT_ONCE} ${WHEN_TOLD}\\b`, "iu"),
  new RegExp(`\\b${FROM_NOW}\\b[^.!?]{0,30}\\b${DO_IT}\\b|\\b${DO_IT} (?:${AT_ONCE} )?${FROM_NOW}\\b`, "iu"),
];

/** Whether the words outright order not to ask any more: "Stop double-checking everything", "No need to ask next time." */
export function ordersUnasked(words: string): boolean {
  if (words.length > MOST_SAID || ordersAsking(words)) return false;
  return sentencesOf(wishfulWords(plain(words))).some(
    (sentence) => !/\byet\b/i.test(sentence) && !FORBIDDEN.test(sentence) && UNASKED_ORDERS.some((each) => each.test(sentence)),
  );
}
