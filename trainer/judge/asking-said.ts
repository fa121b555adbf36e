/**
 * Whether a user's words can say that they want to be asked before a call, or that they do not: words are matched, never interpreted. Who is not to be asked any more
 * has calls made in their name, so that is believed of words about asking, or about having said it all, alone, and never of who complains that something was done.
 */
import { MOST_SAID, ordersAsking, ordersUnasked, plain } from "./asking-ordered.ts";

// What asks, in the assistant's mouth; "check-in", "checked bags" and "waiting list" do not.
const ASKING =
  "(?:(?:re-?)?ask|question|confirm|(?:double[- ]?)?check(?!(?:ed|ing)?[- ]?(?:in|out)\\b|ed (?:bag|luggage|baggage))|verif|permission|approv|consent|repeat|bother|bug(?:ging\\b|s? (?:me|us)\\b)|clarif|summar|back and forth|bring (?:it|that) up|run (?:it|that|\\w+) by|(?:my|an?) (?:ok|okay|go-ahead)\\b|wait(?!er|ress|(?:ing)?[- ]?(?:list|line|room)))\\w*";
const TURNED =
  "(?:no|not|\\w+n't|never|without|stop|quit|skip|drop|cut|spare|save|leave|forget|enough|fewer|less|why|how (?:many|often)|must|(?:do|am|did|was) I|do (?:you|we)|keeps?|every\\w*|always|each|again|too|so (?:many|much)|all (?:these|those|this)|tired|sick|hate|annoy\\w*|tiring|unnecessary|needless|superfluous|pointless|another|instead|already|just|once|trust|assume|consider|take (?:it|that) as|what|tiresome|rather than|needn't|quicker|faster|free to|wast\\w+)";
// "I asked for a table outside": who asks is the user.
const OWN_ASKING =
  /\b(?:can|could|may|let) (?:I|me|we|us) (?:\w+ )?ask\b|\b(?:I|we)(?:'ll| will| have to| need to| must|'d like to| should)(?: \w+)? (?:ask|check|confirm|verify|talk|speak|discuss|think|look|call|write|read)(?: (?:it|that|this))?(?: (?:with|to|about|at|over|through|into|if|whether|when|my|our|him|her|them)\b)(?! (?:you|me)\b)[^.!?,;]*|\bask me (?:why|how|what|who|where)\b|\b(?:I|we)(?:'ve|'d| have| had)? (?:\w+ly |just |already |only )?asked\b(?: you)?(?: for| to)?|\bwhat (?:I|we) (?:\w+ )?asked\b|\b(?:I|we) (?:never|always|usually) (?:ask|check|confirm|verify)\b[^.!?,;]*/gi;
const ABOUT_ASKING = new RegExp(
  `\\b${TURNED}\\b[^.!?]{0,60}\\b${ASKING}|\\b${ASKING}\\b[^.!?]{0,60}\\b${TURNED}\\b|\\bI trust (?:you|your)\\b`,
  "i",
);

const SO =
  "(?:so|that|this|it|all|everything|enough|yes|what|the details|you (?:so|that|all|everything|what|to|the details|before|already|once|twice)|to|before|once|twice|clearly)\\b";
const END = "(?=\\W*$|[.!?,;])";
const SAID_ALL = [
  new RegExp(
    `\\bI(?:'ve| have)?(?: already| just| clearly)? (?:said|told|mentioned|stated|answered|explained|confirmed|agreed)(?: already| just)? ?(?:${SO}|${END})`,
    "i",
  ),
  new RegExp(`\\bI(?:'ve| have)? (?:already|just) (?:said|told you|answered|explained|confirmed|agreed)(?: it| that| so)?${END}`, "i"),
  /\bI(?:'ve| have)?(?: already)? (?:gave|given) you (?:all|every)/i,
  /\b(?:haven't|hadn't|didn't|have not|did not) I (?:already |just )?(?:say|said|tell|told|confirm|confirmed|answer|answered)(?: you)?(?: already)? ?(?:so|that|it|this|all|everything)?(?=\W*$|[.!?,;])/i,
  /\b(?:as|like) I (?:just |already )?(?:said|told)\b|\bthat(?:'s| is) (?:exactly |just )?what I (?:just |already )?(?:said|told|asked)\b|\bsame as I said\b/i,
  /\byou (?:already )?(?:know|have|heard|got) (?:already )?(?:that|all|every\w*|what I|what to|me|it|the details)\b/i,
  /\b(?:wasn't|was|isn't|is|am|was not) (?:I|that|it) (?:not )?(?:clear|obvious)\b|\b(?:was|were|is|are|it's) (?:all |perfectly |quite )?clear(?: enough)?\b|\bspell it out\b|\bnothing(?:'s| has| is)? changed?\b|\bhaven't changed\b/i,
  /\bin my (?:first |last |own )?(?:message|request|words)\b|\bin what I said\b|\ball (?:of (?:it|that) )?(?:is|was) (?:already )?(?:there|said)\b|\bit(?:'s| is) all there\b|\b(?:everything|all)(?: of that)? (?:has been|was|is)(?: already)? (?:said|clear)\b/i,
  /\bmy (?:word|message|request) (?:is|was)\b|\b(?:once|one message)\b[^.!?]{0,20}\benough\b|\bI (?:mean|say) what I (?:say|want)\b|\b(?:if|when(?:ever)?) I (?:say|ask|tell|order)\b|\bwhat (?:more|else) do you need\b|\b(?:is|was) (?:this|that)(?: \w+){0,2} necessary\b|\brepeat (?:it|that|myself|all)\b|\bhow (?:many times|often) (?:must|do|should|did|have) I\b/i,
  /\b(?:must|do|should) I (?:have to |need to |really )*(?:say|tell|confirm|repeat)\b/i,
];

const NOW =
  "(?:right away|straight ?away|at once|immediately|directly|automatically|on your own|yourselves|yourself|already|without me|now)";
const ACTS_AT_ONCE = [
  /\b(?:just|simply) (?:please )?(?:(?:go|proceed|act|carry on|get on|do things)\b(?! (?:to|back|away|with (?!it)))|(?!leave|forget|cancel|stop|drop|undo|revert|change|delete|remove)\w+ (?:it|that|this|them|so)\b(?! (?:is|was|one)\b)(?! \w+er\b)|(?:make|do|send|place) the \w+)/i,
  new RegExp(
    `\\b(?:it|that|this|so|things|them)\\b(?: \\w+)? ${NOW}\\b|\\b(?:act|proceed) ${NOW}\\b|\\b(?:handle|decide|execute|submit|process|complete|finish)\\b[^.!?]{0,12}\\b${NOW}\\b`,
    "i",
  ),
  /\bget (?:on with it|going|it done)\b|\bgo (?:straight to it|right ahead)\b|\bwhat are you waiting\b|\bwast(?:e|ing)\b[^.!?]{0,12}\btime\b|\btakes? too long\b|\bslow(?:s|ing)? (?:me|us|things|this) down\b|\b(?:in a hurry|I'm busy|all day|time for this)\b|\b(?:done|booked|made|sent) (?:by now|yet)\b|\bwhy not (?:just )?(?:do|book|make|send)\b|\bwhy (?:don't|haven't|isn't|can't) (?:you|it)\b[^.!?]{0,12}\b(?:done|do it|book it)\b/i,
  /\bfeel free to (?:act|do|go|book|skip)|\b(?:you|we) (?:can|may) (?:just )?(?:act|do (?:it|that)|go ahead|skip|assume|decide)\b|\btake care of it\b|\bassume (?:yes|that|the answer|I)\b|\b(?:take|consider|treat)\b[^.!?]{0,12}\b(?:confirmed|approved|a yes)\b|\bleave me out\b|\bspare me\b|\bskip (?:it|that|this)\b/i,
  /\bnot discussed\b|\bI (?:want|need|expect|prefer|only want)\b[^.!?]{0,20}\b(?:just (?:do|did)|do it|it done|act|be done)\b|\byou just (?:did|do) it\b|\b(?:do it|act)\b[^.!?]{0,10}\bdirectly\b|\bI'll (?:tell you|complain) if\b|\bif I (?:tell|ask)\b/i,
];

const NO_ONE =
  "(?:nobody|no ?one|none of us|(?:I|we) (?:never|didn't|did not|haven't|have not|hadn't|had not)(?: yet| even| ever| really)?)";
const ASKED = "(?:asked|checked|confirmed|waited|consulted|verified|been asked)";
// Of who complains that something was done, or wants to be asked.
const OTHERWISE = [
  /(?<!\b(?:do|not) )\bI(?:'d| would)? (?:always )?(?:want|need|must|like|prefer|have|check|look)(?: to)? (?:always )?(?:double-)?(?:approve|confirm|check|know|verify|review|see|before)\b/i,
  /\bwho (?:the \w+ |on earth |exactly )?(?:asked|told|said|gave|approved|authori[sz]ed|allowed|permitted|let|made|wanted|ordered|instructed)\b/i,
  /(?<!\b(?:times|often|n't) )\b(?:did|had|have|since when (?:do|did|have)) (?:I|you|we) (?:ever |even |really |actually )?(?:say you|said you|ask(?:ed)?|tell you|told you|approved?|agreed?|confirmed?|want(?:ed)?|ordered?|order|authori[sz]ed?|request(?:ed)?|permit(?:ted)?|do|act)\b(?! (?:to|for) (?:be asked|confirm))/i,
  new RegExp(
    `\\b${NO_ONE} (?:\\w+ )?(?:asked?|told|tell|said|say|wanted|approved?|agreed?|confirmed|authori[sz]ed?|ordered?|permit(?:ted)?|gave|give|checked|requested?|allow(?:ed)?|instruct(?:ed)?)\\b(?! (?:to be asked|(?:you )?(?:to|for) (?:a |be )?(?:ask|question|confirm|check|repeat|summary)))`,
    "i",
  ),
  new RegExp(
    `(?<!n't |not )\\b(?:should|could|might|must)(?: have|'ve) ${ASKED}\\b|\\b(?:supposed|ought|meant) to (?:have )?(?:${ASKED}|ask|check|confirm|wait)\\b`,
    "i",
  ),
  new RegExp(
    `\\bI(?:'d| would) have (?:liked|preferred|wanted|said no)\\b|\\bI wish (?:you|I)(?:'d| had) (?:been )?${ASKED}\\b|\\bif you had asked\\b`,
    "i",
  ),
  /\bwhy (?:on earth |the \w+ )?(?:did|have|are) you (?!still|keep|always|even|waiting|wait|(?:re-?)?ask|confirm|check|repeat|verif|double|need|want|bother|question)|\bwhy (?:didn't|did not|did you not|haven't|have not) you (?:ask|check|confirm|wait|consult|verif)|\bwhy (?:was|were|wasn't|weren't) (?:I|that|this|it|we)\b/i,
  /(?<!\b(?:if|rather|prefer|wish) )\byou(?:'ve| have)? (?:just |simply |already |even |still |only )*(?!(?:re-?)?ask|confirm|check|repeat|verif|bother|question|want|need|double|said|heard|made me|had me)(?:\p{L}{2,}ed|did|done|went|made|sent|paid|bought|forgot|took|got|put|wrote|spent|gave|began|ran|set)\b/iu,
  /(?<!\b(?:if|rather|prefer|wish) )\byou (?:never|didn't|did not|haven't|have not|had no)\b(?! (?:have|need|listen|hear|get|want|understand)\b)|\bthere (?:was|were|has been) no\b|\b(?:went|was|were|happened)\b[^.!?]{0,20}\bwithout (?:my|me|our|asking)\b|\bI (?:wasn't|was not|hadn't been) (?:asked|done|finished|consulted)\b/i,
  /\bI (?:didn't|did not|never) (?:get to|got to|confirm(?:ed)?\b(?! (?:things|bookings|anything)))|(?<!\bwhy )\b(?:don't|do not|never)(?: want you to)? (?:act|go (?:ahead|on)|proceed|assume|just|do (?:it|that|this|things))\b/i,
  /\b(?:don't|do not|not|never|nothing)\b[^.!?,;]{0,30}\byet\b/i,
  /(?:^|[.!?,;:]|\b(?:please|and|but|yes)) ?(?:please )?(?:always |do )?(?:ask me|(?:double-?|re-?)?check|verify|(?<=(?:always|do) )(?:ask|confirm))\b(?! (?:less|fewer|only|no|nothing|once|never)\b)/i,
  /\b(?:I|we) (?:can't|cannot|couldn't) (?:confirm|check|verify)\b[^.!?]* (?:yet|now|today|until|before)\b/i,
  /\bbehind my back\b|\btoo (?:fast|quick(?:ly)?|soon|hast(?:y|ily))\b|\bnot so fast\b|\bjump\w* the gun\b|\b(?:undo|revert|take back)\b|\btake (?:it|that) back\b/i,
];

/** Whether the words can say that somebody is not to be asked. */
export function saysUnasked(words: string): boolean {
  if (words.length > MOST_SAID) return false;
  const said = plain(words);
  if (OTHERWISE.some((each) => each.test(said)) || ordersAsking(said)) return false;
  if (ordersUnasked(said)) return true;
  const others = said.replaceAll(OWN_ASKING, " ");
  return ABOUT_ASKING.test(others) || SAID_ALL.some((each) => each.test(said)) || ACTS_AT_ONCE.some((each) => each.test(said));
}

// The wish job hears that there is a wish better than which.
const UNWANTED =
  /\b(?:stop|quit|don't|do not|no need|needn't|no more|enough|skip(?:ping)?|tired of|sick of)\b(?:(?!\b(?:without|before|unless|until)\b)[^.!?]){0,40}\b(?:ask\w*|confirm\w*|check\w*|double-?check\w*)\b/i;
const ASKS_FIRST =
  /\b(?:ask|check|confirm|show|tell|let|run|consult|clear|approv|ok|verif|review|see|look|say|permi|before|sign|know|first|read|without|wait(?!list|er\b|ress)|hear|agree|yes|go-?ahead|green light|sure|final|consent|authori|talk)/i;
// An hour, a day, an ordinal, how something was: of when, not of before what.
const OF_TIMES =
  /\b(?:it|that|this|there|he|she|they|things?) (?:was|were|had been|used to be) before\b|\b(?:before|until|till) (?:(?:about|around|the|next|last|this) )?(?:\d[\d:.]*|noon|midnight|midday|dawn|dusk|sunrise|sunset|lunch\w*|dinner|breakfast|christmas|easter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week\w*|month|year|summer|winter|spring|autumn|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|january|february|march|april|may|june|july|august|september|october|november|december)|\bfirst (?:class|floor|name|row|time|one|flight|train|bus|thing|half|day|week)\b|\b(?:the|my|a) first\b/gi;
// What somebody does without is none of what they want to see before.
const UNNEEDED = /\b(?:(?:don't|do not) need|no need) (?:you )?to (?:hear|know|see|be told|tell me)\b[^.!?,;]*/gi;

// Words of being asked, shown or waited for; "first", "see" or "read" stand in much else.
const OF_ASKING =
  /\b(?:ask\w*|confirm\w*|consult\w*|check (?:with|back)|double-?check\w*|verif\w*|approv\w*|authori[sz]\w*|permission|consent|agree\w*|sign(?:ed)? off|go-?ahead|green light|run (?:it|that|this|everything|things|them) (?:by|past)|my (?:say|word|ok|okay|yes|approval)|without (?:me|my|asking)|before you|show(?:n|ing)? me|tell(?:ing)? me|told me|let me|hear from me|wait(?:ed|ing)? (?:for|until|till)|(?:see|read|hear|know|look at) (?:it|this|that|them|everything|things|what)|jump\w* the gun|behind my back|not so fast|(?:ahead|on) without)\b/i;

/** Whether the words speak of asking somebody, or of waiting for them. */
export function speaksOfAsking(words: string): boolean {
  return OF_ASKING.test(plain(words));
}

/** Whether the words can say that somebody wants to be asked before. */
export function saysAskFirst(words: string): boolean {
  if (words.length > MOST_SAID) return false;
  const said = plain(words);
  const others = [OF_TIMES, OWN_ASKING, UNNEEDED].reduce((rest, each) => rest.replaceAll(each, " "), said);
  return !UNWANTED.test(said) && !ordersUnasked(said) && ASKS_FIRST.test(others);
}
