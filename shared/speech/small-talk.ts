/** Whether somebody only greets, thanks or parts: no call is due then. Words are matched, never interpreted; whatever else is said makes it a request. */

const PHRASES = [
  // Greetings.
  "hello|hi|hey|hiya|hullo|howdy|yo|greetings|hello there|hi there|hey there|good (?:morning|afternoon|evening|day)|morning|evening|welcome",
  "how are you(?: doing)?(?: today)?|how's it going|how is it going|how do you do|what's up|nice to meet you|pleased to meet you|long time no see",
  // Thanks.
  "thanks|thank you|thx|ty|cheers|ta|thanks a (?:lot|bunch|million)|many thanks|much appreciated|i appreciate it|thanks? (?:you )?(?:so|very) much|thank you kindly|thanks again|thank you again",
  "(?:thanks|thank you)(?: (?:so|very) much| a lot| again)? for (?:your|the|all your) (?:help|assistance|support|time|service)|you(?:'re| are) (?:the best|a star|a lifesaver)|you've been (?:so |very |really )?(?:helpful|great|kind)",
  // Partings.
  "bye|bye bye|goodbye|good bye|good night|farewell|see you(?: (?:later|soon|tomorrow|around|then))?|see ya|talk to you (?:later|soon)|take care|ciao|cya|until next time",
  "have a (?:very )?(?:nice|good|great|lovely|wonderful|pleasant) (?:day|evening|night|weekend|one|time|afternoon|week)",
  "(?:that's|that is|that'll be|that will be) (?:all|everything|it)(?: (?:for (?:now|today)|thanks|i need(?:ed)?|then))?|nothing (?:else|more)|no(?:thing)?,? (?:thanks|thank you)|i'm (?:done|good|all set)(?: for now| here)?",
].join("|");
const PARTS =
  "bye|good night|farewell|see you|see ya|take care|that'?s? (?:is |'ll be |will be )?(?:all|everything|it)\\b|nothing (?:else|more)|no,? (?:thanks|thank you)|i'm (?:done|all set)";
const BESIDE =
  "and|so|then|again|ok|okay|oh|well|great|perfect|lovely|wonderful|awesome|nice|good|alright|all right|please|everyone|all|there|friend|mate|buddy|dear|sir|madam|assistant|bot|for now|today|very much|a lot|indeed|really|just|i|it";

const TALK = new RegExp(`^(?:(?:${PHRASES}|${BESIDE})(?=$|[ ,.!?;:-])[ ,.!?;:-]*)+$`, "i");
const SPEAKS = new RegExp(`(?<![\\p{L}'])(?:${PHRASES})(?![\\p{L}'])`, "iu");
const LEAVES = new RegExp(`(?<![\\p{L}'])(?:${PARTS})`, "iu");
const ASSENTS =
  /(?<!\p{L})(?:yes|yeah|yep|sure|ok|okay|great|perfect|lovely|wonderful|awesome|nice|good|alright|all right|please)(?!\p{L})(?! (?:morning|afternoon|evening|day|night|bye))/iu;
const LONGEST = 120; // characters

/** @param options.asked whether the assistant has just asked something: then thanks may be a yes, and only who leaves says none */
export function isSmallTalk(words: string, { asked }: { asked: boolean }): boolean {
  const text = words
    .replaceAll("’", "'")
    .replace(/\s+/g, " ")
    .replace(/[^\p{L}\p{N}' ,.!?;:-]/gu, "")
    .trim();
  if (text === "" || text.length > LONGEST || !TALK.test(text) || !SPEAKS.test(text)) return false;
  return !asked || (LEAVES.test(text) && !ASSENTS.test(text));
}
