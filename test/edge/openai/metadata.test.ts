/** Metadata of a request that JavaScript would lose. */
import { expect, it } from "vitest";
import { parseChatRequest } from "../../../edge/openai/request.ts";
import { refusal } from "../../helpers/refusal.ts";

it("metadata of a name that would be left out without a word is refused", () => {
  const body: unknown = JSON.parse(
    '{"model": "a", "messages": [{"role": "user", "content": "Hi"}], "metadata": {"__proto__": "x", "a": "b"}}',
  );
  expect(refusal(() => parseChatRequest(body))).toEqual({
    param: "metadata",
    message: "metadata: names other than __proto__ expected, which is no name to JavaScript; call it otherwise",
  });
});
