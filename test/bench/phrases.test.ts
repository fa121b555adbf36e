/** Evaluation words nothing as training does: no shared template, and no evaluation wording that a training one matches. */
import { describe, expect, it } from "vitest";
import { AGAIN_OPENERS, CONFIRM_WORDS, CONTENT, DEFAULT_WORDS, NEVER_WORDS, TOOL_WORDS, WORDING_WORDS } from "../../bench/align/words.ts";
import { EVAL_CORRECTIONS, EVAL_HINTS, EVAL_NOTES, EVAL_REACTIONS } from "../../bench/phrases.ts";
import {
  BARE_CORRECTIONS,
  CORRECTION_CLOSERS,
  CORRECTION_CORES,
  CORRECTION_OPENERS,
  fill,
  FILLERS,
  HINTS,
  loosely,
  NOTES,
  OBJECTIONS,
} from "../../trainer/pretrain/phrases.ts";
import { AFTER_RESULTS, AfterResultsAgent } from "../../bench/eval/after-results.ts";
import { SPOKEN } from "../../bench/eval/spoken.ts";
import { ABILITIES, GREETINGS, OFF_TOPIC } from "../../bench/eval/spoken-beside.ts";
import { ABOUT_ITSELF, BESIDE, FILLINGS, GREETINGS as TRAINED_GREETINGS } from "../../trainer/pretrain/beside-words.ts";
import { SPOKEN_WORDING } from "../../bench/eval/spoken-wording.ts";
import { saidAgain, toolObjection, valueDenial, wordingObjection } from "../../trainer/pretrain/objections.ts";
import { drawWish } from "../../trainer/pretrain/wishes.ts";
import { Random } from "../../trainer/random.ts";
import { drawReaction } from "../../trainer/pretrain/reactions.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { escapeRegExp } from "../../shared/regexp.ts";
import { remarksOf } from "../../trainer/pretrain/remark-words.ts";
import { readSayings } from "../../trainer/pretrain/sayings.ts";

const named = [...EVAL_HINTS, ...EVAL_NOTES, ...EVAL_CORRECTIONS];
const spoken = [DEFAULT_WORDS, NEVER_WORDS, TOOL_WORDS, ...Object.values(CONFIRM_WORDS), ...Object.values(WORDING_WORDS)];
const voiced = spoken.flatMap((words) => Object.values(words).flat());
const wishes = [...SPOKEN.ask, ...SPOKEN.go, ...SPOKEN.none];
const evaluation = [...named, ...voiced];
const corrections = CORRECTION_OPENERS.flatMap((opener) =>
  CORRECTION_CORES.flatMap((core) => CORRECTION_CLOSERS.map((closer) => `${opener}${core}${closer}`)),
);
const training = [...HINTS, ...NOTES, ...corrections, ...BARE_CORRECTIONS];

/** Letters only, so that case and punctuation cannot make two wordings differ. */
const bare = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z{} ]/g, "")
    .replace(/\s+/g, " ")
    .trim();

describe("evaluation wordings", () => {
  it("share no template with training", () => {
    const shown = new Set(training.map(bare));
    expect(evaluation.filter((template) => shown.has(bare(template)))).toEqual([]);
  });

  it("contain no training core whole", () => {
    const cores = [...HINTS, ...NOTES, ...OBJECTIONS, ...CORRECTION_CORES]
      .map((core) => bare(core))
      .filter(
        (core) =>
          core
            .replace(/\{\w+\}/g, "")
            .trim()
            .split(" ").length >= 3,
      );
    expect(evaluation.filter((template) => cores.some((core) => bare(template).includes(core)))).toEqual([]);
  });

  it("each hold a word that training's loose wordings never draw", () => {
    const drawn = new Set(FILLERS);
    const words = (template: string): string[] => bare(template.replace(/\{\w+\}/g, " ")).split(" ");
    expect(evaluation.filter((template) => words(template).every((word) => drawn.has(word)))).toEqual([]);
  });

  it("are never written by loose wordings, whatever words the data lends them", () => {
    const random = new Random(1);
    const lent = evaluation.flatMap((template) => template.replace(/\{\w+\}/g, " ").split(" ")).filter((word) => word !== "");
    const drawn = new Set(Array.from({ length: 5_000 }, () => bare(loosely("{slot}", "{value}", lent, random))));
    expect(evaluation.filter((template) => drawn.has(bare(template)))).toEqual([]);
  });

  it("name slot and value and use no JSON", () => {
    for (const template of named) {
      const text = fill(template, "SLOT", "VALUE");
      expect(text).toContain("SLOT");
      expect(text).toContain("VALUE");
      expect(text).not.toMatch(/[{}"[\]]/);
    }
  });
});

describe("plain reactions", () => {
  it("of evaluation are none that training draws", () => {
    const random = new Random(1);
    const drawn = Array.from({ length: 20_000 }, () => drawReaction(random));
    const shown = new Set([...drawn, ...readSayings()].map(({ text }) => bare(text)));
    const others = Object.values(SPOKEN_WORDING).flat();
    const reactions = [...Object.values(EVAL_REACTIONS).flat(), ...voiced, ...wishes, ...others, ...AGAIN_OPENERS, ...CONTENT];
    expect(reactions.filter((each) => shown.has(bare(each)))).toEqual([]);
  });

  it("and wishes and objections that training draws are none of evaluation's", () => {
    const random = new Random(3);
    const names = { used: "{instead}", tool: "{tool}" };
    const drawn = Array.from({ length: 20_000 }, () => [
      drawWish(random).text,
      toolObjection(names, random),
      valueDenial({ slot: "{slot}", value: "{value}" }, random),
      wordingObjection(random),
      saidAgain("", random),
    ]).flat();
    const shown = new Set(drawn.map(bare));
    expect([...voiced, ...wishes, ...AGAIN_OPENERS].filter((each) => shown.has(bare(each)))).toEqual([]);
  });

  it("are drawn with every reward, many of each", () => {
    const random = new Random(2);
    const drawn = Array.from({ length: 2_000 }, () => drawReaction(random));
    const distinct = (reward: number): number => new Set(drawn.filter((each) => each.reward === reward).map(({ text }) => bare(text))).size;
    expect([distinct(-1) > 500, distinct(1) > 250, distinct(0) > 20]).toEqual([true, true, true]);
  });
});

describe("what is said of a result", () => {
  it("is nothing in evaluation that training might draw, whatever stands in its places", () => {
    const kinds = ["approved", "remarked", "wondered", "recalled", "checked"] as const;
    const shown = kinds.flatMap(remarksOf).map((text) => bare(text.replace(/\{\w+\}/g, "{}")));
    expect(shown.length).toBeGreaterThan(2_000);
    const named = shown.filter((text) => text.replaceAll("{}", " ").trim().split(/ +/).length > 3);
    const matchers = named.map((text) => new RegExp(`^${text.split("{}").map(escapeRegExp).join("[a-z]+(?: [a-z]+){0,2}")}$`));
    const asked = readJsonLines(AFTER_RESULTS, AfterResultsAgent).flatMap(({ cases }) => cases.map(({ next }) => bare(next)));
    expect(asked.filter((text) => matchers.some((matcher) => matcher.test(text)))).toEqual([]);
  });
});

describe("what no tool is for", () => {
  it("is nothing in evaluation that training might draw", () => {
    const fillings = (text: string): string[] => {
      const [place, kind = ""] = /\{(\w+)\}/.exec(text) ?? [];
      return place === undefined ? [text] : (FILLINGS[kind] ?? []).flatMap((filling) => fillings(text.replace(place, filling)));
    };
    const filled = BESIDE.flatMap(fillings);
    const shown = new Set([...filled, ...ABOUT_ITSELF, ...TRAINED_GREETINGS].map(bare));
    expect(shown.size).toBeGreaterThan(3_000);
    expect([...OFF_TOPIC, ...ABILITIES, ...GREETINGS].filter((text) => shown.has(bare(text)))).toEqual([]);
  });
});
