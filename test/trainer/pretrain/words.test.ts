/** What training draws sayings from: none has two labels. */
import { describe, expect, it } from "vitest";
import { ACCEPTANCES, FAULTS, MERITS, NEUTRALS, REJECTIONS, RETRIES } from "../../../trainer/pretrain/reaction-words.ts";
import { ASKING, ASK_WANTS, GOING, GO_WANTS, NEITHER, REASKED, UNASKED } from "../../../trainer/pretrain/wish-words.ts";

/** Sayings that stand under more than one label. */
function contradictions(labels: readonly (readonly (readonly string[])[])[]): string[] {
  const said = labels.map((lists) => new Set(lists.flat().map((text) => text.toLowerCase().replace(/[^\p{L}' {}]/gu, ""))));
  return said.flatMap((own, index) => said.slice(index + 1).flatMap((others) => [...own].filter((text) => others.has(text))));
}

describe("sayings", () => {
  it("are seen to contradict where they do", () => {
    expect(contradictions([[["No way!"], ["Fine"]], [["no way"]], [["fine."]]])).toEqual(["no way", "fine"]);
  });

  it("reject, approve or do neither", () => {
    expect(contradictions([[FAULTS, REJECTIONS, RETRIES], [MERITS, ACCEPTANCES], [NEUTRALS]])).toEqual([]);
  });

  it("want to be asked, not to be asked, or neither", () => {
    expect(contradictions([[ASKING, UNASKED, ASK_WANTS], [GOING, REASKED, GO_WANTS], [NEITHER]])).toEqual([]);
  });
});
