/** Which learned case overrules which. */
import { describe, expect, it } from "vitest";
import { Expectation, overrules } from "../../shared/suite.ts";

const rooms = Expectation.parse({ tool: "ReserveHotel", arguments: { rooms: 2 } });
const first = Expectation.parse({ reply: {}, about: { tool: "ReserveHotel", parameter: "@ask", value: "first" } });
const never = Expectation.parse({ tool: "ReserveHotel", about: { tool: "ReserveHotel", parameter: "@ask", value: "never" } });
const other = Expectation.parse({ tool: "BookRoom", about: { tool: "ReserveHotel", parameter: "@tool", value: "BookRoom" } });
const back = Expectation.parse({ tool: "ReserveHotel", about: { tool: "BookRoom", parameter: "@tool", value: "ReserveHotel" } });

describe("what was learned last", () => {
  it.each([
    { name: "another value of the argument", learned: { ...rooms, arguments: { rooms: 3 } }, known: rooms, is: true },
    { name: "another argument", learned: { ...rooms, arguments: { view: "sea" } }, known: rooms, is: false },
    { name: "a question first, over a call at once", learned: first, known: rooms, is: true },
    { name: "a call unasked, over a question first", learned: never, known: first, is: true },
    { name: "a call unasked, over its own argument", learned: never, known: rooms, is: false },
    { name: "another tool, over a call of the one", learned: other, known: rooms, is: true },
    { name: "the first tool after all", learned: back, known: other, is: true },
    { name: "another tool, over a question", learned: other, known: first, is: false },
    { name: "an argument, over a question", learned: rooms, known: first, is: false },
    { name: "a question, over a person's reply", learned: first, known: Expectation.parse({ reply: { contains: ["hello"] } }), is: false },
  ])("overrules $name: $is", ({ learned, known, is }) => {
    expect(overrules(learned, known)).toBe(is);
  });
});
