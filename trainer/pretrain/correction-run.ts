/**
 * What the correction model is trained on: words around a value (framed.ts) that correct a call, and words around one that correct nothing, as people put them
 * (unnamed.ts) and as the data's users say what they want next.
 */
import { FRAME, frameOf, NUMBER } from "../judge/framed.ts";
import type { ReactionWeights } from "../judge/reaction-model.ts";
import { escapeRegExp } from "../../shared/regexp.ts";
import type { Random } from "../random.ts";
import { rewardOfActs } from "./acts.ts";
import type { Conversation } from "./conversation.ts";
import { type LinearRun, trainLinear } from "./linear-run.ts";
import { BARE_CORRECTIONS, CORRECTION_CLOSERS, CORRECTION_CORES, CORRECTION_OPENERS, OBJECTIONS } from "./phrases.ts";
import { drawSaying, type Reaction } from "./reactions.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";
import { readUnnamed, type Wording } from "./unnamed.ts";
import { spokenName } from "./values.ts";

const SHARES = { unnamed: 0.35, mention: 0.27, named: 0.06, bare: 0.01 } as const; // the rest are of the data
const NAMED = { correction: 0.2, mention: 0.4 } as const; // of wordings: the argument is named behind the value
const BESIDE = 0.2; // of wordings: with something else said before or behind

export function trainCorrections(sgd: Sgd, run: LinearRun): ReactionWeights {
  const sources = new Sources(sgd);
  return trainLinear((random) => drawExample(sources, random), run);
}

function drawExample(sources: Sources, random: Random): Reaction | undefined {
  const draw = random.next();
  const { unnamed, mention, named, bare } = SHARES;
  if (draw < unnamed) return { text: voiced(random.pick(wordings(false)), random), reward: -1 };
  if (draw < unnamed + mention) {
    const text = voiced(random.pick(wordings(true)), random);
    return { text, reward: THANKS.test(text) ? 1 : 0 };
  }
  if (draw < unnamed + mention + named) return { text: namedCorrection(random), reward: -1 };
  if (draw < unnamed + mention + named + bare) return { text: `${FRAME.choice}${random.pick(BARE_ENDS)}`, reward: -1 };
  return natural(sources.conversation(random), random);
}

const THANKS =
  /\b(?:thanks?|thx|ty|cheers|great|perfect|nice|cool|lovely|awesome|wonderful|good|super|fine|exactly|wanted|well done|happy)\b/i;

let parted: { readonly corrections: readonly Wording[]; readonly mentions: readonly Wording[] } | undefined;

function wordings(areMentions: boolean): readonly Wording[] {
  parted ??= {
    corrections: readUnnamed().filter(({ about }) => about !== "mention"),
    mentions: readUnnamed().filter(({ about }) => about === "mention"),
  };
  return areMentions ? parted.mentions : parted.corrections;
}

// Behind a value that is all that somebody says.
const BARE_ENDS = ["", ".", "!", "!!", " please", " pls", "...", ", thanks"];

const FRAMES = [FRAME.choice, FRAME.choice, FRAME.count, FRAME.time];

/** A wording with stand-ins, as people type: capitals, apostrophes and full stops come and go. */
function voiced({ about, said }: Wording, random: Random): string {
  const value = about === "mention" ? random.pick(FRAMES) : ({ count: FRAME.count, time: FRAME.time }[about as string] ?? FRAME.choice);
  const named = random.chance(about === "mention" ? NAMED.mention : NAMED.correction) ? `${value} ${FRAME.unit}` : value;
  const text = said.replaceAll("{value}", named).replaceAll("{old}", FRAME.old).replaceAll("{unit}", FRAME.unit);
  const plain = random.chance(0.1) ? text.replaceAll(/['’]/g, "") : text;
  const ended = random.chance(0.1) ? plain.replace(/[.!]$/, "") : plain;
  if (!random.chance(BESIDE)) return ended;
  // What is said beside a mention must not reject.
  const { text: beside, reward } = drawSaying(random);
  if (about === "mention" ? reward < 0 : reward > 0) return ended;
  return random.chance(0.5) ? `${beside} ${ended}` : `${ended} ${beside}`;
}

function namedCorrection(random: Random): string {
  if (random.chance(0.3)) return random.pick(BARE_CORRECTIONS).replaceAll("{value}", random.pick(FRAMES));
  const core = random.pick(CORRECTION_CORES).replaceAll("{slot}", FRAME.unit).replaceAll("{value}", random.pick(FRAMES));
  const opener = random.chance(0.35) ? `${random.pick(OBJECTIONS)} ` : random.pick(CORRECTION_OPENERS);
  return `${opener}${core}${random.pick(CORRECTION_CLOSERS)}`;
}

/** Something that a user of the data says in answer to a reply, one of the values that they name taken out, and its argument's name. */
function natural({ steps }: Conversation, random: Random): Reaction | undefined {
  const places = steps.flatMap((step, at) => {
    const reply = steps[at - 1];
    if (step.kind !== "user" || reply?.kind !== "reply") return [];
    const named = step.acts.flatMap(([, slot, values]) => values.map((value) => ({ slot, value })));
    return named.filter(({ value }) => value !== "" && step.text.includes(value)).map((each) => ({ ...each, step, reply }));
  });
  if (places.length === 0) return undefined;
  const { slot, value, step, reply } = random.pick(places);
  const topics = spokenName(slot)
    .split(" ")
    .filter((word) => word.length > 2);
  const valued = step.text.replaceAll(whole([value]), frameOf(value));
  const text = (topics.length === 0 ? valued : valued.replaceAll(whole(topics), FRAME.unit)).replaceAll(NUMBER, FRAME.number);
  return { text, reward: rewardOfActs(step.acts, reply.acts) };
}

function whole(phrases: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.map(escapeRegExp).join("|")})s?(?![\\p{L}\\p{N}])`, "giu");
}
