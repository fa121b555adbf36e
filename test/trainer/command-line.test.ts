/** Options that are numbers (counts, rates and shares) or one of several words, or the command ends with 2 and says what it takes. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { readChoice, readCount, readRate, readShare } from "../../trainer/command-line.ts";

afterEach(() => vi.restoreAllMocks());

/** Has the command end with what it takes. */
function expectRefused(read: () => unknown, said: string): void {
  vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(read).toThrow("exit 2");
  expect(written).toHaveBeenCalledWith(`${said}\nusage\n`);
}

describe("readCount", () => {
  it("reads a count", () => {
    expect([readCount("--examples", "60000", "usage"), readCount("--seed", "0", "usage", { least: 0 })]).toEqual([60_000, 0]);
  });

  it.each(["60_000", "many", "0", "-1", "1.5", ""])("ends the command where it is none: %s", (given) =>
    expectRefused(() => readCount("--examples", given, "usage"), `--examples: a whole number above 0 expected, got ${given}`),
  );

  it.each(["-1", "one", ""])("ends it where a count may be 0, too: %s", (given) =>
    expectRefused(() => readCount("--seed", given, "usage", { least: 0 }), `--seed: a whole number from 0 on expected, got ${given}`),
  );
});

describe("readRate", () => {
  it("reads a number above 0", () => expect(readRate("--rate", "0.35", "usage")).toBe(0.35));

  it.each(["0", "-1", "x0.4", "Infinity", ""])("ends the command where it is none: %s", (given) =>
    expectRefused(() => readRate("--rate", given, "usage"), `--rate: a number above 0 expected, got ${given}`),
  );
});

describe("readShare", () => {
  it("reads a number from 0 to 1", () =>
    expect(["0", "0.99", "1"].map((each) => readShare("--decay", each, "usage"))).toEqual([0, 0.99, 1]));

  it.each(["99", "-0.1", "half", ""])("ends the command where it is none: %s", (given) =>
    expectRefused(() => readShare("--decay", given, "usage"), `--decay: a number from 0 to 1 expected, got ${given}`),
  );
});

describe("readChoice", () => {
  const read = (given: string): string => readChoice("--device", given, "usage", ["auto", "cpu"]);

  it("reads one of the words there are", () => expect(read("cpu")).toBe("cpu"));

  it.each(["gpu", "CPU", ""])("ends the command where it is another: %s", (given) =>
    expectRefused(() => read(given), `--device: auto, cpu expected, got ${given}`),
  );
});
