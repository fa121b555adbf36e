/** A rollback as it is asked for and answered over HTTP: what a request has to name, and what stays barred however often it is moved. */
import { expect, it } from "vitest";
import { call, putAgent, type Answer } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

const admin = (route: string, body?: unknown): Promise<Answer> => {
  const [method, path] = route.split(" ");
  return call(edge, "admin", `${method} /api/agents/${path}`, body);
};

it("says what to send where a request names no version", async () => {
  await putAgent(edge, "unnamed");
  const said = async (move: string, body: unknown) => (await admin(`POST unnamed/${move}`, body)).body.error.message;
  for (const body of [{ version: 0 }, { to: "0" }, { to: -1 }, { to: 0.5 }])
    expect(await said("rollback", body)).toBe('to: the number of a version expected, as in {"to": 0}');
  expect(await said("promote", { to: 1 })).toBe('version: the number of a version expected, as in {"version": 0}');
  expect(await said("rollback", { to: 0, quarantine: "no" })).toBe("quarantine: boolean expected, got string");
  expect(await said("rollback", [])).toBe("object expected, got array");
});
