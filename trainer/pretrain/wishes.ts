/**
 * What people say who want to be asked before something is done, or to be asked no longer, and what sounds like either and is neither. Each is
 * put together from parts, as reactions are (`reactions.ts`).
 */
import type { Wish } from "../../shared/jobs.ts";
import type { Random } from "../random.ts";

export type SpokenWish = { readonly text: string; readonly wish: Wish };

const OPENERS = ["", "", "", "no, ", "nope, ", "wait, ", "hmm, ", "oh, ", "sorry, but ", "well, ", "please, ", "excuse me, ", "listen, "];
const TIMES = [
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
];

const ASKING = [
  "ask me",
  "ask me first",
  "ask first",
  "ask for my permission",
  "get my okay",
  "get my approval",
  "get a yes from me",
  "wait for my go-ahead",
  "wait for my yes",
  "wait until I agree",
  "let me confirm",
  "let me approve that",
  "let me see what you plan",
  "let me go over it",
  "show me the details",
  "show me a summary",
  "tell me what you are about to do",
  "tell me what it will be",
  "repeat the details to me",
  "repeat what you understood",
  "sum it up for me",
  "give me a summary",
  "make sure that I agree",
  "make sure it is what I want",
  "confirm it with me",
  "verify that with me",
  "clear it with me",
  "have me sign off",
  "list everything for me",
  "talk to me",
  "speak to me",
  "let me know what you are going to book",
];
const BEFORE = [
  " first",
  " beforehand",
  " ahead of time",
  " up front",
  " before you do that",
  " before you do anything",
  " before you book",
  " before booking",
  " before you buy it",
  " before you reserve anything",
  " before making a reservation",
  " before you submit it",
  " before you send money",
  " before it is done",
  " before you go on",
  " before any booking",
  " before you spend my money",
  " and only then do it",
  " and then I will say yes or no",
];
const UNASKED = [
  "you should have asked me",
  "you should have asked first",
  "you ought to ask me",
  "why didn't you ask me",
  "why did you not ask first",
  "why was I not asked",
  "nobody asked me",
  "you did not even ask me",
  "you never asked whether that is right",
  "I did not say yes to that",
  "I hadn't said yes",
  "I had not agreed to that yet",
  "I had not confirmed anything",
  "I never confirmed that",
  "I wasn't done yet",
  "I was not finished",
  "you did that without my okay",
  "you booked it without asking",
  "you just booked it",
  "that was too fast",
  "not so fast",
  "you were too quick",
  "who told you to book it already",
  "I wanted to see the details before that",
  "I wanted a summary first",
  "I wanted to decide that myself",
  "I would have liked to be asked",
  "I'd have preferred to confirm",
  "I never got to review it",
  "I had no time to object",
  "it was done before I could say anything",
  "a question before that would have been nice",
  "I expected a question first",
];
const ASK_WANTS = [
  "I want to be asked",
  "I want to be asked first",
  "I want to confirm such things myself",
  "I want to approve bookings",
  "I want the last word",
  "I want to know what I agree to",
  "I prefer to approve things before they happen",
  "I prefer a summary before anything is booked",
  "I like to double-check everything myself",
  "I like to read everything over",
  "I like to be sure before I pay",
  "I need to see a summary first",
  "I need to agree to it first",
  "I always take a final look",
  "I always decide after seeing the details",
  "I expect a summary before you do it",
  "I would rather confirm things",
  "I never buy anything unseen",
  "nothing should be booked without my consent",
  "nothing happens without my yes",
  "don't do anything without asking",
  "don't book without my permission",
  "never book before I said yes",
  "you must not do that unasked",
  "such things need my approval",
  "it is my money, so ask",
];
const GOING = [
  "just do it",
  "just make the booking",
  "just reserve it",
  "just go on",
  "do it right away",
  "do it at once",
  "do it without asking",
  "book it straight away",
  "reserve it immediately",
  "don't ask me",
  "don't ask so much",
  "do not ask again",
  "don't ask for confirmation",
  "don't make me confirm",
  "don't repeat all of it",
  "don't read everything back",
  "stop asking",
  "stop asking me that",
  "stop confirming things",
  "quit asking",
  "skip the questions",
  "skip that step",
  "leave out the confirmation",
  "leave the question out",
  "no need to ask",
  "no need to confirm",
  "no confirmation needed",
  "no need to repeat that",
  "there is no need to check with me",
  "you don't have to ask",
  "you don't need to confirm that",
  "you need not ask",
  "you can skip asking",
  "you may do that without asking",
  "act without asking",
  "spare me the questions",
];
const WHEN = [
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
const REASKED = [
  "why do you ask me again",
  "why are you asking that",
  "why are you repeating this",
  "why do I have to confirm that",
  "why all these questions",
  "do you always have to ask",
  "must I confirm everything",
  "how many times must I say it",
  "you ask too much",
  "you ask too many questions",
  "you keep asking",
  "I have said that already",
  "I just said that",
  "I said so already",
  "I told you that before",
  "I told you all of that",
  "you know that already",
  "you have all you need",
  "you have everything you need to book",
  "it was all in my message",
  "all of that was in my request",
  "you are wasting my time",
  "this takes too long",
  "the question was unnecessary",
  "asking was not necessary",
  "that question is superfluous",
  "it should be booked by now",
  "it could be done by now",
];
const GO_WANTS = [
  "I don't want to be asked",
  "I do not want to confirm that",
  "I don't like confirming everything",
  "I hate confirming everything",
  "I trust you with that",
  "I trust your judgement, so do it",
  "I would like it done at once",
  "I want it booked right away",
  "I'd rather not be asked each time",
  "I prefer that you do it directly",
  "I prefer no questions",
  "I never want to confirm bookings",
  "I expect you to act when I have told you everything",
];

// What people say all the time without a wish about being asked: agreeing, refusing, changing something, asking back.
const NEITHER = [
  "yes",
  "yes, please",
  "yes, go ahead",
  "yes, that's right",
  "that's correct",
  "sure, book it",
  "yes, please book it for me",
  "sounds good, do it",
  "go ahead",
  "okay, please confirm",
  "please confirm the booking",
  "I confirm",
  "yes, I confirm",
  "no, make it two tickets",
  "no, that's the wrong date",
  "no, I want another one",
  "can you check the price",
  "please check the weather first",
  "can you check for another one",
  "please check again for tomorrow",
  "could you double-check the address",
  "let me see other options first",
  "show me the details of the second one",
  "show me more",
  "tell me more about it",
  "what are the details",
  "what did you book",
  "did you book it",
  "is it confirmed",
  "has that been confirmed",
  "can I review it somewhere",
  "what are the reviews like",
  "first I need a hotel",
  "before that I need a bus",
  "before I forget, I need a taxi as well",
  "no need, thank you",
  "no need for anything else",
  "I don't need anything else",
  "don't book it",
  "please don't book that one",
  "stop, I changed my mind",
  "wait, I changed my mind",
  "I'm not sure yet",
  "just one ticket",
  "just for me",
  "right away, please",
  "as soon as possible",
  "I already have a hotel",
  "I already booked a flight",
  "I told my friend about it",
  "can I ask you something else",
  "may I ask how you know",
  "I have a question",
  "ask them about parking",
  "I'd like to book it now",
  "I want to book it",
  "please reserve it",
  "that's all, thanks",
  "why is it so expensive",
  "why that one",
  "who made that song",
];

const NEITHER_SHARE = 0.3;
const ASK_SHARE = 0.36;

/** One of the three, those without a wish in words that are near to one. */
export function drawWish(random: Random): SpokenWish {
  const draw = random.next();
  if (draw < NEITHER_SHARE) return { text: said(random.pick(NEITHER), random), wish: "none" };
  return draw < NEITHER_SHARE + ASK_SHARE ? { text: askWish(random), wish: "ask" } : { text: goWish(random), wish: "go" };
}

export function askWish(random: Random): string {
  const core = (): string => {
    const draw = random.next();
    if (draw < 0.45) return `${modal(random)}${random.pick(ASKING)}${random.chance(0.7) ? random.pick(BEFORE) : ""}`;
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

/** How an order begins, rude and polite. */
function modal(random: Random): string {
  return random.chance(0.6)
    ? ""
    : random.pick([
        "please ",
        "could you ",
        "can you ",
        "would you ",
        "you have to ",
        "you should ",
        "I'd like you to ",
        "I want you to ",
        "be so kind and ",
      ]);
}

function wished(core: () => string, random: Random): string {
  const first = said(`${random.pick(OPENERS)}${core()}${random.pick(TIMES)}`, random);
  return random.chance(0.25) ? `${first}${/[.!?]$/.test(first) ? "" : "."} ${said(core(), random)}` : first;
}

function said(text: string, random: Random): string {
  const ended = `${text}${random.pick([".", ".", ".", "!", "", "?", "..."])}`;
  return random.chance(0.8) ? `${ended.slice(0, 1).toUpperCase()}${ended.slice(1)}` : ended;
}
