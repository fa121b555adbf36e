/** Words by which a wish for other words is known, each line with what it hears. Of lengths, numbers, names and questions people say much else after a reply. */

type Words = readonly RegExp[];

export const SHORTENS: Words = [
  // "could you be a bit more concise?"
  /\b(?:be|keep|make|write|answer|reply|talk|speak|bit|more|little|so|too|very|less) (?:\w+ ){0,4}(?:brief(?:er|ly)?|concise|succinc?t|terse)\b/i,
  // "too wordy", "stop rambling", "that was an essay"
  /\b(?:brevity|brief please|waffl\w*|rambl\w*|bla[bt]h?er\w*|babbl\w*|long-?winded|wordy|verbos\w+|chatt(?:er|y)|talkative|tl;?dr)\b/i,
  /\b(?:essays?|novels?|lecture|speech(?:es)?|paragraphs?|wall of text|condens\w+|shorten|abridge\w*)\b/i,
  // "shorter answers", "replies this size", "make your messages smaller"
  /\b(?:short|brief|small|quick|long)(?:er)?\b.*\b(?:answer|repl[yi]|response|message|text|sentence|version|summar|explanation)\w*/i,
  /\b(?:answer|repl[yi]|response|message|text|sentence|explanation)\w*\b.*\b(?:short|brief|small|long)(?:er)?\b/i,
  /\b(?:answer|repl[yi]|response|message|text)\w*\b.*\b(?:size|length|to the point|too much)\b|\b(?:size|length|trim)\b.*\b(?:answer|repl[yi]|response|message)/i,
  // "keep it short", "we do the short version", and no shorter flight
  /\b(?:keep|make|cut|trim|write|say|want|be|like|have) (?:\w+ ){0,3}(?:shorter|short|brief)\b(?! (?!(?:please|pls|and|or|if|with|but|buddy|mate|from|next|ok|thanks|then|for me|always|in future|too|enough|version|answers?|repl\w+|messages?|texts?|ones?|sentences?|summar\w+|sweet)\b)\p{L})/iu,
  // "way too long."
  /^\W*(?:(?:that's|that is|that was|it's|way|far|much|still|again|sorry|hmm|no|but|ok|this is),? )*too (?:long|much text)(?: for me)?\W*$/i,
  // "Shorter, I'm on my phone.", and no shorter flight
  /^\W*(?:(?:much|even|way|a bit|a little) )?(?:shorter|briefer)(?: please)?(?:[.!]*\s*$|[,.;!] (?:I'm|I am|I can't|I have|it's|you're|your|my)\b)/i,
  // "fewer words please", "too much text", "you talk too much", "say less"
  /\b(?:fewer|less|too many|so many|few|lots? of) (?:words|text|talk|talking|detail|sentences)\b/i,
  /\b(?:too|so|that|very) much (?:text|talk|talking|reading|to read|detail|information|info)\b/i,
  /\b(?:talk|writ|say|chat)(?:e|ing)? (?:\w+ )?(?:too|so|very|that) much\b|\b(?:say|talk|write) less\b/i,
  // "get to the point", "just the essentials", "spare me the details"
  /\b(?:get|come|cut|straight|right) (?:\w+ )?to the (?:point|chase)\b/i,
  /\b(?:only|just|skip|spare me|leave out|drop|without|cut) (?:all )?the (?:essentials|basics|gist|details|padding|fluff|small talk|chat|filler)\b/i,
  // "one line would be lovely", "I'm not reading all that"
  /\b(?:one|single|two|a short|half a) (?:lines?|sentences?)\b|\bread(?:ing)? (?:all|that|this|so|through) (?:\w+ )?(?:that|this|much|text|stuff|of)\b/i,
  /\b(?:stopped reading|a lot to read|who reads)\b/i,
];

/** Who finds replies too short, or sends somebody a short one, wishes for no shorter ones. */
export const LENGTHENS =
  /\btoo (?:short|brief|terse|concise)\b|(?<!\bno )\b(?:longer|fuller|full|more detailed) (?:answers?|repl\w+|messages?|responses?)\b|(?<!\bno )\bmore details?\b|\b(?:send|write|text|email|message|give) (?:(?:me|my|him|her|them|us|a|an|the) ){1,2}(?:\w+ )?(?:message|text|note|mail|email)\b(?=.*\b(?:when|once|to|if|after|before)\b)/i;

export const UNASKS: Words = [
  // "no questions", "drop the question at the end", "another question"
  /\b(?:no|stop|don't|do not|without|w\/o|drop|quit|enough|less|fewer|leave|lose|skip|omit|cut|never|not|hate|instead of)\b.*\bquestions?\b/i,
  /\b(?:why|what's with|every|always|another|closing|follow-up|final|last|end\w*|finish\w*|must|all the|so many|too many)\b.*\bquestions?\b/i,
  /\bquestions?\b.*\b(?:at the end|every time|each time|annoy\w*|stop|enough|not needed|unnecessary|tiresome|give it a rest|out)\b/i,
  // "stop asking me stuff", "no need to check with me at the end", "why do you always have to ask"
  /\b(?:stop|don't|do not|quit|no need|cut|why|always|without|less|leave|hate|never|no more|keep|every time)\b.*(?<!\b(?:I|we) )\b(?:ask(?:ing|ed)?|quizzing|query\w*)\b/i,
  /\b(?:no need|don't|do not|stop|quit|without)\b.*\bcheck(?:ing)? (?:with me|back)\b/i,
  /\bask(?:ing|ed)?\b(?! (?:them|him|her|my|the|for)\b).*\b(?:at the end|every time|each time|again|afterwards|not needed|not necessary)\b|\binterrogat\w+|\bquizz\w+/i,
  // "skip the anything else line", "no more 'do you want me to'"
  /\b(?:skip|drop|cut|lose|omit|leave out|no more|enough (?:of|with)|stop (?:with|saying)) (?:(?:the|that|those|these|your|all the) )?["'“‘]?(?:anything else|do you want|would you like|shall I|should I|can I help)\b/i,
  // "tell me and stop", "just tell me what you found", "a plain statement will do"
  /\b(?:tell|inform|state|report|say|give)\b.*\b(?:don't ask|and stop|full stop|hush|leave it there|nothing else)\b/i,
  /\b(?:only|just) (?:inform|state|report|(?:tell me|say) what (?:you|there))\b|\b(?:plain|only|just|as|a) statements?\b|\bstatements? (?:only|please)\b/i,
];

/** A question of one's own: "I have a question". */
export const HAS_QUESTION =
  /\bis there (?:a|any|another) questions?\b|\b(?:I have|I've|got|my|one more|another|quick|(?<!\b(?:with|by|in|as) )a) questions?\b(?! (?:at|mark|every))(?!.*\b(?:stop|end|don't|enough|just tell)\b)/i;

/** Somebody who wants to be asked, before something is done: "You booked it without asking!" Not all that `asking-said.ts` takes for it: "You answered with a question again" wishes for none. */
export const WANTS_ASKED =
  /\b(?:before|first)\b|\b(?:didn't|did not|never|should have|even) (?:you )?ask|\b(?:act|book|buy|do|go|pay|send|went)\w*\b.*\bwithout (?:even )?asking\b|\byou(?:'ve| have)? (?:\w+ )?(?:(?!ask)\w{2,}ed|made|sent|paid|bought)\b.*\bwithout (?:even )?(?:asking|checking)\b|\b(?:who|nobody|no ?one) asked\b/i;

// How many there are, not how many rooms.
const MANY =
  "how m(?:any|nay)(?=\\W*$|[,.;!?]| (?:of|others?|there|you|u|ya|were|was|are|is|did|in|came|come|turned|found|results?|matches|matched|hits|options|listings?|things|exist)\\b)";
const TOLD =
  "(?:tell|say|said|mention|include|add|give|state|report|let me know|always|never|should|ought|could|would|start|begin|want|like|wish|put|every time|each time|specific|posted|next time|from now on|pls|please|useful|helpful|help|forgot|kill)";

export const COUNTS: Words = [
  // "say how many results there were", "how many did you find? always tell me that"
  new RegExp(`\\b${TOLD}\\b.*\\b${MANY}|\\b${MANY}.*\\b${TOLD}\\b`, "i"),
  // "number of results??", "add a result count", "include the total next time"
  /\b(?:number|amount|quantity|count|tally|total|size) of (?:the |all )?(?:results?|matches|hits|options|listings?|list|finds)\b|\b(?:result|head) count\b/i,
  /\b(?:give|tell|say|mention|include|add|put|state|quote|like)\b(?: \w+){0,4} (?:totals?|tally|count|figure)\b(?! (?:price|cost|amount|bill|rental|fare|what|and|I|we)).*\b(?:next time|each time|every time|always|in your|when|as well|found|how many)\b/i,
  /\btotal number\b|\b(?:actual|exact) number\W*$|\bgive totals\b|\b(?:tell|say|give) me the count\b/i,
];

/** Who tells of somebody else who is to call, or when to: "tell Anna to call me", "call me on Monday". */
export const CALLS =
  /\b(?:tell|ask|have|get|let|make|want|wants|need)\b[^.!?]*\b(?:to )?(?:call|phone|ring)s? me\b(?! (?!please|back|later)\p{Lu}?\p{Ll}+\W*$)|\b(?:they|he|she) calls? me\b|\b(?:call|phone|ring) me (?:the|this|next|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tonight|asap|in|with|about)\b/iu;

export const ADDRESSES: Words = [
  // "call me Priya", "address me as", "I go by"
  /\b(?:call(?:s|ing)? (?:to )?me|called me(?!\W*(?:[.!?]|$)))\b(?! (?:a|an|when|if|at|on|back|later|tomorrow)\b)|\b(?:ad?dress|greet|refer to) me\b|\b(?:know|(?:talk|speak) to) me (?:as|by)\b|\b(?:(?:ad?dress|greet)(?:ed|ing)|referr(?:ed|ing) to) me as\b|\bI go by\b|\bis (?:how|what) (?:\w+ ){1,4}(?:ad?dress(?:es)?|greets?|knows?) me\b/i,
  // "I'd rather be called", "I expect to be addressed as"
  /\b(?:I am|I'm|rather be) called\b|\bI(?:'d| would)? (?:want|like|love|prefer|expect|ask|wish|need|insist on|am used) (?:to be|to being|being) (?:called|ad?dressed|greeted)\b(?! (?:about|after|at|back|before|by|first|for|in|on|once|when)\b)/i,
  // "my name's Gareth, use it", "put my name in your answers"
  /\b(?:my|by|own|first) name\b.*\b(?:use|say|put|hear|start|begin|answer|reply|talk|speak|you)\b|\bname(?:'s| is)?\b.*\buse it\b/i,
  /\b(?:used?|say|put|hear|start|begin|answer|reply|talk|speak|have)\b.*\b(?:my|by|own|first|a) name\b/i,
  // "it's Mr Bhattacharya to you", "say Leopold to me", "so impersonal! I'm Claire"
  /\b(?:I'm|I am|it's|that's|Mrs?|Ms|Dr)\b(?: \S+){1,3} to you\b|\b(?:I'm|I am)\b.*\b(?:say|use) (?:so|it|that)\b/i,
  /\bsay\b.*\b(?:to me|when (?:you|u))\b|\bwhen(?:ever)? (?:you|u) (?:address|answer|reply|talk|speak)\b|\b(?:impersonal|(?:more|so) personal|personal touch)\b/i,
];
