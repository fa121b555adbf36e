/** Sentences of what a person wrote. */
import { expect, it } from "vitest";
import { sentencesOf } from "../../../shared/speech/sentences.ts";

it("ends sentences where people and lines do", () => {
  expect(sentencesOf("Oops. At 5.30 p.m., please! Thanks\n- Ann")).toEqual(["Oops.", "At 5.30 p.m., please!", "Thanks", "- Ann"]);
  expect(sentencesOf("Call me Ms. Berg. Ask Dr. No!")).toEqual(["Call me Ms. Berg.", "Ask Dr. No!"]);
  expect(sentencesOf("  \n ")).toEqual([]);
});
