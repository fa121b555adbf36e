/**
 * A judge that remembers what it said of the last exchanges: when thousands say the same about the same answer, a model
 * reads it a few times, so that a flood costs the trainer next to nothing.
 */
import type { ChatMessage } from "../../shared/chat.ts";
import { at } from "../../shared/assert.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { Recent } from "../../shared/recent.ts";
import type { Signal } from "../data/exchange.ts";
import type { Judge, Verdict } from "./judge.ts";

const REMEMBERED = 256; // exchanges of a few kB each
const READINGS = 4; // votes are drawn: one bad draw is not to stand for everyone who says the same

type Readings = { asked: number; readonly verdicts: (Verdict | undefined)[] };

/** Reads an exchange a few times, by each asker's seed, and then gives those verdicts in turn; the exchange least recently asked about is forgotten first. */
export function remembered(judge: Judge): Judge {
  const known = new Recent<string, Readings>(REMEMBERED);
  return {
    async judge(signal, options) {
      const key = canonicalJson([exchangeOf(signal), options.votes]);
      const readings = known.get(key) ?? { asked: 0, verdicts: [] };
      if (readings.verdicts.length < READINGS) readings.verdicts.push(await judge.judge(signal, options));
      known.set(key, readings);
      return at(readings.verdicts, readings.asked++ % READINGS);
    },
  };
}

/** What a judge reads: the exchange, and the conversation before it, in which a value may stand already. Ids of calls are new in every turn, and say nothing. */
function exchangeOf({ exchange: { answered, nextState }, turn }: Signal): unknown {
  return [turn.payload.tools, turn.payload.messages.map(withoutIds), answered.map(withoutIds), nextState.map(withoutIds)];
}

function withoutIds(message: ChatMessage): unknown {
  if (message.role === "tool") return { ...message, tool_call_id: "" };
  if (message.role === "assistant") return { ...message, tool_calls: message.tool_calls?.map((call) => ({ ...call, id: "" })) };
  return message;
}
