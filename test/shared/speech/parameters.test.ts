/** What a schema says of its parameters. */
import { describe, expect, it } from "vitest";
import { readParameters } from "../../../shared/speech/parameters.ts";

describe("the kind of a parameter", () => {
  it.each([
    ["start", "From, HH:MM", "time"],
    ["spent_on", "YYYY-MM-DD", "date"],
    ["visit_date", "In words", "date"],
    ["departure", "YYYY-MM-DDTHH:MM", "text"],
    ["departure", "YYYY-MM-DD HH:MM", "text"],
    ["note", "What else", "text"],
  ])("of %s (%s) is %s", (name, description, kind) => {
    const parameters = { type: "object", properties: { [name]: { type: "string", description } } };
    expect(readParameters({ type: "function", function: { name: "any", parameters } })).toMatchObject([{ name, kind }]);
  });
});
