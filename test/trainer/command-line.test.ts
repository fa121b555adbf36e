/** Options that count: a whole number above 0, or the command ends with 2 and says what it takes. */
import { describe, expect, it, vi } from "vitest";
import { readCount } from "../../trainer/command-line.ts";

describe("readCount", () => {
  it("reads a count", () => {
    expect(readCount("--examples", "60000", "usage")).toBe(60_000);
  });

  it.each(["60_000", "many", "0", "-1", "1.5", ""])("ends the command where it is none: %s", (given) => {
    const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(() => readCount("--examples", given, "usage")).toThrow("exit 2");
    expect(said).toHaveBeenCalledWith(`--examples: a whole number above 0 expected, got ${given}\nusage\n`);
    exit.mockRestore();
    said.mockRestore();
  });
});
