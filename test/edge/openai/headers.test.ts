/** What headers say of a turn, and which refusal names what they may not. */
import { describe, expect, it } from "vitest";
import { parseTurnHeaders } from "../../../edge/openai/headers.ts";
import { refusal } from "../../helpers/refusal.ts";

describe("headers", () => {
  it("say which conversation, which kind of turn and whether it is a retry", () => {
    const headers = {
      "X-Session-Id": "s1",
      "X-Turn-Type": "side",
      "X-Session-Done": "1",
      "Idempotency-Key": "k1",
      "x-stainless-retry-count": "2",
    };
    expect(parseTurnHeaders(new Headers(headers))).toEqual({
      sessionName: "s1",
      turnKind: "side",
      closes: true,
      idempotencyKey: "k1",
      retryCount: 2,
    });
  });

  it("say nothing where there are none", () => {
    const none = { sessionName: undefined, turnKind: undefined, closes: undefined, idempotencyKey: undefined, retryCount: undefined };
    expect(parseTurnHeaders(new Headers())).toEqual(none);
  });

  it.for([
    ["x-session-id", "two words"],
    ["x-session-id", "x".repeat(257)],
    ["x-turn-type", "both"],
    ["x-session-done", "maybe"],
    ["x-stainless-retry-count", "-1"],
  ] as const)("%s: %s is refused by name", ([name, value]) => {
    expect(refusal(() => parseTurnHeaders(new Headers({ [name]: value }))).param).toBe(name);
  });
});
