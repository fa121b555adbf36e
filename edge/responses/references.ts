/** Items of the input that refer to items of responses by their id, as clients send back what they know to be stored. Pure. */
import { invalid } from "../openai/refuse.ts";
import type { FullItem } from "./items.ts";
import type { FullParameters, ResponseParameters } from "./request.ts";
import type { OutputItem } from "./wire.ts";

const MOST_RESPONSES = 100; // each is asked for

/** The response that an item of ours is of, by the item's id; undefined for an id that is no such. */
function responseOf(itemId: string): string | undefined {
  const [, digits] = /^(?:msg|fc|mcp)_([0-9a-f]+)_\d+$/.exec(itemId) ?? [];
  return digits === undefined ? undefined : `resp_${digits}`;
}

/** The ids of the responses that the input refers to. @throws {input/invalid} where an id is none of an item, or there are too many */
export function referredResponses({ input }: Pick<ResponseParameters, "input">): string[] {
  if (typeof input === "string") return [];
  const responses = input.flatMap((item, index) => {
    if (item.type !== "item_reference") return [];
    return [responseOf(item.id) ?? throwUnknown(index, item.id)];
  });
  const distinct = [...new Set(responses)];
  if (distinct.length > MOST_RESPONSES)
    throw invalid("input", `references to at most ${MOST_RESPONSES} responses expected, got ${distinct.length}; send the items themselves`);
  return distinct;
}

/** The parameters with each item in the place of its reference. @throws {input/invalid} naming an item that is of none of the outputs */
export function withReferred(parameters: ResponseParameters, outputs: readonly OutputItem[]): FullParameters {
  const { input } = parameters;
  if (typeof input === "string") return { ...parameters, input };
  const byId = new Map(outputs.map((item) => [item.id, item]));
  const full = input.map((item, index): FullItem => {
    if (item.type !== "item_reference") return item;
    return byId.get(item.id) ?? throwUnknown(index, item.id);
  });
  return { ...parameters, input: full };
}

function throwUnknown(index: number, id: string): never {
  throw invalid(
    `input.${index}.id`,
    `the id of an item of a stored response to this key expected, got ${id}; send the item itself instead`,
  );
}
