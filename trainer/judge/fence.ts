/**
 * What speaks to the judge instead of to the agent is left out of what the judge reads: it tells nothing about the answer.
 * A small base that is trained to read feedback follows orders that stand in it. The log keeps every word.
 */
import type { ChatMessage } from "../../shared/chat.ts";
import type { Exchange } from "../../shared/jobs.ts";
import { sentencesOf } from "../../shared/speech/sentences.ts";

/** Sentences that give orders to a judge, stand in for other speakers, or open a judge's own answer (arXiv:2507.08794). */
const ORDERS: readonly RegExp[] = [
  /<\|[^|]*\|>|<\/?(?:tool_call|tool_response|hint|note|system|think)>/i,
  /^\W*(?:system|developer|assistant|judge|evaluator|verdict|reward|score|hint)\b\s*[:=]/i,
  /^\W*[+-]?\s?[01]\W*$/,
  /^\W*$/,
  /^\W*(?:thought process|solution|final answer|let's (?:solve|think)\b[^.]*step by step)\W*$/i,
  /\b(?:rate|score|grade|judge|mark|vote)\b[^.?!]{0,60}(?:[+-]\s?1\b|\b[01]\W*$|\bfull marks\b|\bas perfect\b)/i,
  /\b(?:reply|answer|respond|output|return|say|write)\b(?:\s+(?:with|only|just))*\s*["'`]?[+-]\s?1\b/i,
  /\b(?:ignore|forget|disregard)\b[^.?!]{0,40}\b(?:conversation|instructions?|above|previous|rules|prompt)\b/i,
  // Praise of who answers, not of the answer.
  /\byou(?:'re|’re| are| have been)\b[^.?!]{0,30}\b(?:best|greatest|smartest|nicest|finest|most \p{L}+|perfect|brilliant|amazing|wonderful|excellent)\b[^.?!]{0,30}\b(?:assistant|chatbot|bot|agent|ai|model|robot|machine|helper)\b/iu,
  /\bthe\s+(?:hint|verdict|reward|score)\s+(?:is|should be|must be)\b/i,
];

/** The exchange without what people said to the judge; as it is where they said nothing else. */
export function fence(exchange: Exchange): Exchange {
  return { ...exchange, nextState: exchange.nextState.map(fenceMessage) };
}

function fenceMessage(message: ChatMessage): ChatMessage {
  if (message.role !== "user") return message;
  const sentences = sentencesOf(message.content);
  const kept = sentences.filter((sentence) => !ORDERS.some((order) => order.test(sentence)));
  return kept.length === 0 || kept.length === sentences.length ? message : { ...message, content: kept.join(" ") };
}
