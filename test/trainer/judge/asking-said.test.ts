/** What people say who want to be asked before a call, or no more, and what they say of other things: complaints that something was done above all. */
import { describe, expect, it } from "vitest";
import { ordersAsking, saysAskFirst, saysUnasked } from "../../../trainer/judge/asking-said.ts";

describe("saysUnasked", () => {
  it.each([
    "You needn't check with me every time.",
    "Please stop double-checking, I said it all.",
    "Why are you asking? It was all in my message.",
    "I told you everything already.",
    "Just book it, for heaven's sake.",
    "Do it straight away next time.",
    "There's no need for all these confirmations.",
    "Enough with the questions!",
    "I've already confirmed.",
    "What are you waiting for?",
    "You know what I want.",
    "I don't want to approve each of them.",
    "Simply send it, please.",
    "How often do I have to repeat myself?",
    "dont ask again",
    "You may skip the summary from now on; it's tiring that you always repeat it.",
    "Isn't it clear enough?",
    "Assume that I agree.",
    "Stop bugging me about it.",
    "I trust you, go on.",
    "You don't have to wait for me.",
    "No more double-checking with me.",
    "You never need to confirm it with me.",
    "I can't confirm every single booking.",
  ])("hears: %s", (said) => expect(saysUnasked(said)).toBe(true));

  it.each([
    "Who asked you to do this?",
    "Who on earth told you to file that?",
    "Nobody asked for a ticket.",
    "I never told you to open one.",
    "Did I say you could pay already?",
    "Why did you create a ticket?",
    "You already sent it, without asking!",
    "You went ahead without me again.",
    "It was booked without my consent.",
    "You should have checked with me first.",
    "I wasn't asked.",
    "You didn't check with me.",
    "Not so fast, I always want to see it before.",
    "We prefer the terrace, always.",
    "I'd like a quiet corner every time.",
    "Just do what I say.",
    "Always the window side, please.",
    "I asked for a table outside.",
    "That's not what I asked for, every time the same.",
    "I said outside!",
    "Never pay anything without asking me, it's tiring.",
    "Please stop, and ask me before you pay.",
    "Just leave it.",
    "No, never on a Sunday.",
    "Never act on your own again.",
    "Take it back right away!",
    "Every check-in is at noon.",
    "No checked bags, please.",
    "Skip the waiting list.",
    "Always tip the waiter.",
    "No bugs this time.",
    "I don't trust that airline.",
    "We can't confirm the date yet.",
  ])("hears none: %s", (said) => expect(saysUnasked(said)).toBe(false));
});

describe("saysAskFirst", () => {
  it.each([
    "I like to read what I sign.",
    "Let me see it beforehand.",
    "You could have checked with me.",
    "Before anything is paid I want a word.",
  ])("hears: %s", (said) => expect(saysAskFirst(said)).toBe(true));

  it.each([
    "I don't take meetings before 11.",
    "I never have anything before noon.",
    "Nothing until Tuesday.",
    "Always first class.",
    "That's not what I asked for.",
    "Stop asking me that.",
  ])("hears none: %s", (said) => expect(saysAskFirst(said)).toBe(false));
});

describe("ordersAsking", () => {
  it.each([
    "Don't send invoices without asking me!",
    "Never pay a bill unless I approve it.",
    "You must not delete anything without my permission.",
    "Please don't open a pull request before I've confirmed.",
    "Nothing goes out without our approval.",
    "Ask me before you delete anything!",
    "Always check with me first.",
    "Next time consult us before you move money.",
    "Could you ask me before sending mails?",
    "I want you to run it by me before you post it.",
    "No payments without asking.",
    "Never pay anything without asking for my approval.",
    "No changes without asking for permission first.",
    "Do not schedule anything until I say yes.",
    "I don't want anything cancelled without my okay.",
    "Listen, ask for my permission before any change.",
    "Don’t merge without checking with me.",
  ])("hears: %s", (said) => expect(ordersAsking(said)).toBe(true));

  it.each([
    "Don't ask me before you book.",
    "There is no need to ask me first.",
    "Why do you always ask me before you book?",
    "You never do anything without asking me!",
    "Can't you send a mail without asking me?",
    "I never travel without asking my wife.",
    "Never book Economy unless I say otherwise.",
    "Don't send reminders unless I tell you to.",
    "Don't book a room without breakfast.",
    "Never book without a confirmation number.",
    "Never book a room without asking for breakfast!",
    "Never seat me without asking for a window.",
    "Don't reserve anything without asking for a discount.",
    "Don't book anything without asking for a confirmation number.",
    "Ask me before 8 pm.",
    "Ask me first thing tomorrow.",
    "Ask them before you go.",
    "You don't have to check with me first.",
    "My boss never books unless I confirm.",
    "Who asked you to do that?",
    "Stop checking with me before every booking.",
    "I asked you before, didn't I?",
  ])("hears none: %s", (said) => expect(ordersAsking(said)).toBe(false));
});
