/** Whether words speak against what was just done: who asks for something else, and is content, says none of these. Words are matched, never interpreted. */
const AGAINST =
  /\b(?:no|nope|not|never|wrong|instead|rather|should|actually|meant|oops|sorry|hoping|hoped|expected|forgot|supposed|too (?:\p{L}+))\b|n['’]t\b/iu;

export function isAgainst(words: string): boolean {
  return AGAINST.test(words);
}
