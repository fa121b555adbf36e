/**
 * What people say who want to be asked before something is done, or to be asked no longer, and what sounds like either and is neither. Each is
 * put together from parts, as reactions are (`reactions.ts`).
 */
import type { Wish } from "../../shared/jobs.ts";
import type { Random } from "../random.ts";
import { ASKING, ASK_WANTS, GOING, GO_WANTS, NEITHER, REASKED, UNASKED } from "./wish-words.ts";
import { drawReaction } from "./reactions.ts";

export type SpokenWish = { readonly text: string; readonly wish: Wish };

const OPENERS = [
  "",
  "",
  "",
  "",
  "no, ",
  "nope, ",
  "wait, ",
  "hmm, ",
  "oh, ",
  "sorry, but ",
  "well, ",
  "please, ",
  "excuse me, ",
  "listen, ",
  "hey, ",
  "whoa, ",
  "look, ",
  "ok but ",
  "seriously, ",
];
const TIMES = [
  "",
  "",
  "",
  "",
  " next time",
  " from now on",
  " in future",
  " always",
  " every time",
  " as a rule",
  " again",
  " please",
  " thanks",
  " going forward",
  " in the future",
  " for once",
  ", okay",
  ", got it",
  ", will you",
];
const MODALS = [
  "please ",
  "could you ",
  "can you ",
  "would you ",
  "you have to ",
  "you should ",
  "you must ",
  "you need to ",
  "always ",
  "next time ",
  "in future ",
  "from now on ",
  "I'd like you to ",
  "I want you to ",
  "I need you to ",
  "be so kind and ",
  "kindly ",
  "make sure to ",
  "remember to ",
];
const WHEN = [
  "",
  "",
  "",
  "",
  " when you have everything",
  " if you know all you need",
  " once you have the details",
  " as soon as you can",
  " when it's clear what I want",
  " if I've said what I want",
];

/** What is done, after "before you" and after "before". */
const ACTIONS = [
  ["do that", "doing that"],
  ["do anything", "doing anything"],
  ["do something like this", "doing things like that"],
  ["book", "booking"],
  ["book something", "booking anything"],
  ["reserve anything", "making a reservation"],
  ["buy it", "buying anything"],
  ["order", "ordering"],
  ["pay", "paying"],
  ["spend my money", "spending my money"],
  ["send money", "sending money"],
  ["transfer anything", "transferring money"],
  ["send it", "sending it"],
  ["send a message", "sending messages"],
  ["send an email", "sending any email"],
  ["submit it", "submitting"],
  ["change anything", "changing anything"],
  ["update it", "updating anything"],
  ["cancel", "cancelling"],
  ["delete it", "deleting anything"],
  ["close it", "closing it"],
  ["schedule it", "scheduling anything"],
  ["set an alarm", "setting it"],
  ["call a cab", "calling a taxi"],
  ["add it", "adding anything"],
  ["post it", "posting anything"],
  ["sign me up", "signing me up"],
  ["go on", "going on"],
  ["go ahead", "going ahead"],
  ["proceed", "proceeding"],
  ["continue", "continuing"],
  ["act", "acting"],
  ["commit to it", "committing to anything"],
  ["finish", "finishing"],
  ["touch anything", "touching anything"],
] as const;
const BEFORE = [
  " first",
  " beforehand",
  " ahead of time",
  " up front",
  " before it is done",
  " before any booking",
  " and only then do it",
  " and then I will say yes or no",
  " in advance",
  " every single time",
];
const BEFORE_ACTION = 0.6;

const NEITHER_SHARE = 0.34;
const ASK_SHARE = 0.34;
const PLAIN_SHARE = 0.4; // of those without a wish: what people say to any answer

/** One of the three, those without a wish in words that are near to one. */
export function drawWish(random: Random): SpokenWish {
  const draw = random.next();
  if (draw < NEITHER_SHARE * PLAIN_SHARE) return { text: drawReaction(random).text, wish: "none" };
  if (draw < NEITHER_SHARE) return { text: said(random.pick(NEITHER), random), wish: "none" };
  return draw < NEITHER_SHARE + ASK_SHARE ? { text: askWish(random), wish: "ask" } : { text: goWish(random), wish: "go" };
}

export function askWish(random: Random): string {
  const core = (): string => {
    const draw = random.next();
    if (draw < 0.45) return `${modal(random)}${random.pick(ASKING)}${random.chance(0.75) ? before(random) : ""}`;
    return draw < 0.75 ? random.pick(UNASKED) : random.pick(ASK_WANTS);
  };
  return wished(core, random);
}

export function goWish(random: Random): string {
  const core = (): string => {
    const draw = random.next();
    if (draw < 0.5) return `${modal(random)}${random.pick(GOING)}${random.pick(WHEN)}`;
    return draw < 0.8 ? random.pick(REASKED) : random.pick(GO_WANTS);
  };
  return wished(core, random);
}

function before(random: Random): string {
  if (!random.chance(BEFORE_ACTION)) return random.pick(BEFORE);
  const [done, doing] = random.pick(ACTIONS);
  return random.chance(0.5) ? ` before you ${done}` : ` before ${doing}`;
}

/** How an order begins, rude and polite. */
function modal(random: Random): string {
  return random.chance(0.55) ? "" : random.pick(MODALS);
}

function wished(core: () => string, random: Random): string {
  const first = said(`${random.pick(OPENERS)}${core()}${random.pick(TIMES)}`, random);
  return random.chance(0.25) ? `${first}${/[.!?]$/.test(first) ? "" : "."} ${said(core(), random)}` : first;
}

function said(text: string, random: Random): string {
  const ended = `${text}${random.pick([".", ".", ".", "!", "", "", "?", "..."])}`;
  return random.chance(0.75) ? `${ended.slice(0, 1).toUpperCase()}${ended.slice(1)}` : ended;
}
