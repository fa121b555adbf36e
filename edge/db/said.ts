/**
 * What can be searched: which words an event adds to its turn, and the query that finds them. Pure. FTS5's unicode61 makes tokens
 * of letters and digits, so scripts without spaces are written sign by sign, and searched as phrases of signs.
 */
import { AppError } from "../../shared/errors.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { type EventPayload, hintsOf } from "../../shared/events.ts";

/** Rows of `said` that a turn may have; its `seq` times this and the part number a row. */
export const PARTS = 4_096;
/** Of one message, in UTF-16 units: a page of a log that somebody pasted would cost more than it is searched. */
const MOST_WORDS = 8_000;
/** From so many characters on a word is the beginning of words: the index of prefixes holds three and four. */
const PREFIX = 3;
const MOST_TERMS = 12;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const READABLE = /[\p{L}\p{N}]/u;
/** What parts words: a NUL would end FTS5's query in the middle of a phrase. */
const BETWEEN = /[\s\p{Cc}]+/u;

/** What an event adds to what can be found of its turn; empty where it says nothing. */
export function wordsOf(payload: EventPayload): string {
  const texts = textsOf(payload).map((text) => spaced(text.slice(0, MOST_WORDS)));
  return texts.filter((text) => text !== "").join("\n");
}

function textsOf(payload: EventPayload): string[] {
  switch (payload.kind) {
    case "turn:finished":
      return [...payload.messages.slice(-1), payload.answer].flatMap(textsOfMessage);
    case "nextState:arrived":
      return payload.messages.flatMap(textsOfMessage);
    case "feedback:given":
      return [payload.correction ?? "", payload.comment ?? "", ...(payload.answer === undefined ? [] : textsOfMessage(payload.answer))];
    case "judgement:made":
      return hintsOf(payload).map(({ hint }) => hint);
    case "turn:aborted":
    case "session:closed":
    case "event:deleted":
    case "user:deleted":
      return [];
  }
}

function textsOfMessage(message: ChatMessage): string[] {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return [message.content ?? "", ...calls.flatMap(({ function: { name, arguments: given } }) => [name, given])];
}

/** What is the same for all that is said of a turn, as tokens of their own. */
export function facetsOf({ agent, version, user }: Facets): string {
  return [`a${token(agent)}`, version === undefined ? [] : `v${version}`, user === undefined ? [] : `u${token(user)}`].flat().join(" ");
}

type Facets = { readonly agent: string; readonly version?: number | undefined; readonly user?: string | undefined };

/**
 * FTS5's query for what has all the words, in any order, of the turns that have the facets.
 * @throws {input/invalid} where there is nothing to search for
 */
export function matchOf(words: string, facets: Facets): string {
  const terms = words.split(BETWEEN).filter((term) => READABLE.test(term));
  if (terms.length === 0 || terms.length > MOST_TERMS)
    throw new AppError("input/invalid", `words: 1 to ${MOST_TERMS} words with letters or digits expected, got ${terms.length}`, {
      details: { param: "words" },
    });
  const own = facetsOf(facets)
    .split(" ")
    .map((facet) => `facets : "${facet}"`);
  return [...own, ...terms.map((term) => `words : ${phrase(term)}`)].join(" AND ");
}

function phrase(term: string): string {
  const text = `"${spaced(term).trim().replaceAll('"', '""')}"`;
  return term.length >= PREFIX ? `${text} *` : text;
}

function spaced(text: string): string {
  return text.replace(UNSPACED, " $& ");
}

/** One token: a character of private use is a letter to FTS5, and in no name. */
function token(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, "\uE000");
}
