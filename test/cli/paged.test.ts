/** A whole list of the API: from which id each page is asked for, and when the last one has come. */
import { describe, expect, it } from "vitest";
import { PAGE, readAll } from "../../cli/nextstate/paged.ts";

/** Reads a list of so many; `asked` are the ids that pages were asked for after. */
async function readOf(size: number): Promise<{ found: number[]; asked: (string | undefined)[] }> {
  const list = Array.from({ length: size }, (_, index) => index + 1);
  const asked: (string | undefined)[] = [];
  const page = async (after: string | undefined): Promise<number[]> => {
    asked.push(after);
    return list.slice(Number(after ?? 0), Number(after ?? 0) + PAGE);
  };
  return { found: await readAll(page, String), asked };
}

describe("readAll", () => {
  it("asks for each page after the last id of the page before, until one is not full", async () => {
    const { found, asked } = await readOf(2 * PAGE + 1);
    expect(found).toEqual(Array.from({ length: 2 * PAGE + 1 }, (_, index) => index + 1));
    expect(asked).toEqual([undefined, String(PAGE), String(2 * PAGE)]);
  });

  it("asks once more behind a page that is full, and once only where there is nothing", async () => {
    expect(await readOf(PAGE)).toMatchObject({ found: { length: PAGE }, asked: [undefined, String(PAGE)] });
    expect(await readOf(0)).toEqual({ found: [], asked: [undefined] });
  });
});
