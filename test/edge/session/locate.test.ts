/** Which of the sessions that hold a transcript is meant. */
import { describe, expect, it } from "vitest";
import { chooseSession } from "../../../edge/session/locate.ts";

const open = (name: string) => ({ name, open: true });
const closed = (name: string) => ({ name, open: false });

describe("of the sessions that hold a transcript", () => {
  it.for([
    ["the only one is meant", [open("a")], { status: "known", name: "a" }],
    ["the open one is meant", [closed("a"), open("b"), closed("c")], { status: "known", name: "b" }],
    ["a closed one is taken up again where none is open", [closed("a")], { status: "known", name: "a" }],
    ["none is chosen where two are open", [open("a"), open("b")], { status: "ambiguous" }],
    ["none is chosen where several are closed", [closed("a"), closed("b")], { status: "ambiguous" }],
    ["none is known where there is none", [], { status: "unknown" }],
  ] as const)("%s", ([, sessions, location]) => {
    expect(chooseSession(sessions)).toEqual(location);
  });
});
