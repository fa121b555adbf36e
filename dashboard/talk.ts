/** Conversations in the playground: what was said on each side, and how it goes on, in one name that a new conversation changes. */
import { useRef, useState } from "preact/hooks";
import type { Line } from "./address.ts";
import { chat, type Answering, type Said } from "./chat.ts";
import { type Canned, type OpenCall, resultsOf } from "./parts/tool-results.tsx";
import { useAction } from "./resource.ts";

/** `now`: whatever answers users, kept and learned from. A number: that version, on trial here alone, and nothing is kept. */
export type Who = "now" | number;
export type Side = {
  readonly who: Who;
  readonly messages: readonly Said[];
  /** Which version did, and the session in which the edge keeps it. */ readonly answered: { version: number; session: string } | undefined;
};
export type Talk = {
  readonly sides: readonly Side[];
  readonly busy: boolean;
  readonly error: string | undefined;
  /** A new conversation with these; what is still being answered belongs to the one before, and nothing of it is shown. */
  readonly begin: (whos: readonly Who[]) => void;
  /** To every side that listens: who waits for a tool's result hears nothing else. */
  readonly say: (content: string) => void;
  /** Results of the open calls of a side. */
  readonly give: (index: number, results: readonly Said[]) => void;
  /** Where an answer did not come: what was said stands already. */
  readonly askAgain: () => void;
};

const MOST_CALLS = 8; // in a row, answered by canned results before somebody is asked

/** A conversation's name, and how it is broken off. */
const newTalk = () => ({ session: crypto.randomUUID(), end: new AbortController() });
const sidesOf = (whos: readonly Who[]): Side[] => whos.map((who) => ({ who, messages: [], answered: undefined }));

/** @param canned what stands for tools whose results are given without asking */
export function useTalk({ agent, line }: Line, first: () => readonly Who[], canned: Canned): Talk {
  const [sides, setSides] = useState<readonly Side[]>(() => sidesOf(first()));
  const talk = useRef(newTalk());
  const { run, busy, error } = useAction();
  const begin = (whos: readonly Who[]): void => {
    talk.current.end.abort();
    talk.current = newTalk();
    setSides(sidesOf(whos));
  };
  const answer = async (side: Side, index: number, added: readonly Said[]): Promise<void> => {
    const { session, end } = talk.current;
    const put = (change: Partial<Side>): void => {
      if (!end.signal.aborted) setSides((before) => before.map((each, at) => (at === index ? { ...each, ...change } : each)));
    };
    let messages = [...side.messages, ...added];
    for (let calls = 0; calls <= MOST_CALLS; calls += 1) {
      const asked: Answering = { agent, line, messages, version: side.who === "now" ? null : side.who, session };
      const before = messages;
      put({ messages });
      const { message, ...answered } = await chat(asked, (partial) => put({ messages: [...before, partial] }), end.signal).catch(
        (thrown) => {
          // Half an answer is none: it is asked for again, or what is said next follows what was said before.
          put({ messages: before });
          throw thrown;
        },
      );
      messages = [...before, message];
      put({ messages, answered });
      const results = resultsOf(openCalls(messages), canned);
      if (results === undefined) return;
      messages = [...messages, ...results];
    }
  };
  /** Of a talk that was ended nothing is told, not even that it broke off. */
  const runTalk = (answers: () => Promise<unknown>): void => {
    const { signal } = talk.current.end;
    run(() =>
      answers().catch((thrown: unknown) => {
        if (!signal.aborted) throw thrown;
      }),
    );
  };
  const answerWhere = (isMeant: (side: Side) => boolean, added: readonly Said[]): void =>
    runTalk(() => Promise.all(sides.map((side, index) => (isMeant(side) ? answer(side, index, added) : Promise.resolve()))));
  return {
    sides,
    busy,
    error,
    begin,
    say: (content) => answerWhere(({ messages }) => openCalls(messages).length === 0, [{ role: "user", content }]),
    give: (index, results) => answerWhere((side) => side === sides[index], results),
    askAgain: () => answerWhere(({ messages }) => isOwed(messages), []),
  };
}

/** Whether an answer is waited for of which nothing is there yet. */
export function isOwed(messages: readonly Said[]): boolean {
  return messages.length > 0 && messages.at(-1)?.role !== "assistant";
}

/** Calls of the last answer that have no result yet. */
export function openCalls(messages: readonly Said[]): readonly OpenCall[] {
  const last = messages.at(-1);
  return last?.role === "assistant" ? (last.tool_calls ?? []) : [];
}

export function whoOf(value: string | undefined): Who | undefined {
  if (value === "now") return value;
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}
