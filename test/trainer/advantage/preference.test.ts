/** The DPO advantage by hand, and its gradient against the loss differenced. */
import { describe, expect, it } from "vitest";
import { preferenceAdvantage } from "../../../trainer/advantage/preference.ts";

describe("preferenceAdvantage", () => {
  it("is the hand-worked loss and weight", () => {
    // ln π(y_w) = −3.0, ln π(y_l) = −2.0: margin −1.0. The reference has −3.4 and −1.9: margin −1.5.
    // m = −1.0 − (−1.5) = 0.5; β = 2: β m = 1.
    // L = −ln σ(1) = ln(1 + e^−1) = 0.313262; A = 2 σ(−1) = 2 / (1 + e) = 0.537883.
    const { loss, advantage } = preferenceAdvantage({ margin: -3.0 - -2.0, referenceMargin: -3.4 - -1.9 }, 2);
    expect(loss).toBeCloseTo(0.313262, 6);
    expect(advantage).toBeCloseTo(0.537883, 6);
  });

  it("begins at ln 2 and β / 2 where the policy is its reference", () => {
    const { loss, advantage } = preferenceAdvantage({ margin: -7, referenceMargin: -7 }, 0.1);
    expect(loss).toBeCloseTo(Math.LN2, 12);
    expect(advantage).toBeCloseTo(0.05, 12);
  });

  it.each([-40, -3, 0, 0.7, 40])("is −dL/dm at a margin of %s", (margin) => {
    const lossAt = (value: number): number => preferenceAdvantage({ margin: value, referenceMargin: 0.2 }, 0.5).loss;
    const h = 1e-5;
    const slope = (lossAt(margin + h) - lossAt(margin - h)) / (2 * h);
    expect(preferenceAdvantage({ margin, referenceMargin: 0.2 }, 0.5).advantage).toBeCloseTo(-slope, 6);
  });

  it("stays finite however sure the policy is", () => {
    expect(preferenceAdvantage({ margin: -1e5, referenceMargin: 0 }, 1)).toEqual({ loss: 1e5, advantage: 1 });
    expect(preferenceAdvantage({ margin: 1e5, referenceMargin: 0 }, 1)).toEqual({ loss: 0, advantage: 0 });
  });
});
