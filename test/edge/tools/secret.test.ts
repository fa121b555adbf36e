/** Secrets of tools: by reference, for one origin, in a header that is free. */
import { describe, expect, it } from "vitest";
import { secretHeader } from "../../../edge/tools/secret.ts";

const ORIGIN = "https://api.example.com";
const env = {
  TOOL_SECRET_A: `${ORIGIN} s3cret value`,
  TOOL_SECRET_BARE: "s3cret",
  TOOL_SECRET_PATH: `${ORIGIN}/tool s3cret`,
  TOOL_SECRET_EMPTY: "",
  TOOL_SECRET_DB: { prepare: true },
  BASE_DIGEST: "abc",
};
const secret = (name: string, header = "authorization", prefix = "Bearer ") => ({ name, header, prefix });

describe("a secret", () => {
  it("goes into its header for its origin", () => {
    expect(secretHeader(env, secret("TOOL_SECRET_A"), ORIGIN)).toEqual({
      ...{ status: "found", header: "authorization", text: "Bearer s3cret value", value: "s3cret value" },
    });
    expect(secretHeader(env, secret("TOOL_SECRET_A", "x-api-key", ""), ORIGIN)).toMatchObject({ text: "s3cret value" });
  });

  it.for(["https://api.example.com:8443", "http://api.example.com", "https://example.com", "https://api.example.com.evil.example"])(
    "goes nowhere else: %s",
    (origin) => {
      const found = secretHeader(env, secret("TOOL_SECRET_A"), origin);
      expect(found).toMatchObject({ status: "refused", member: "name" });
      expect(JSON.stringify(found)).not.toContain("s3cret");
    },
  );

  it.for(["TOOL_SECRET_NONE", "TOOL_SECRET_BARE", "TOOL_SECRET_PATH", "TOOL_SECRET_EMPTY", "TOOL_SECRET_DB"])("%s is none", (name) => {
    const found = secretHeader(env, secret(name), ORIGIN);
    expect(found).toMatchObject({ status: "refused", member: "name" });
    expect(JSON.stringify(found)).not.toContain("s3cret");
  });

  it.for(["BASE_DIGEST", "tool_secret_a", "TOOL_SECRET_", "TOOL_SECRET_a", "__proto__", "constructor"])(
    "no other binding can be named: %s",
    (name) => {
      expect(() => secretHeader(env, secret(name), ORIGIN)).toThrow(/TOOL_SECRET_/);
    },
  );

  it.for([
    "host",
    "content-length",
    "cookie",
    "mcp-session-id",
    "transfer-encoding",
    "cf-connecting-ip",
    "x-forwarded-for",
    "proxy-authorization",
  ])("does not stand in for header %s", (header) =>
    expect(secretHeader(env, secret("TOOL_SECRET_A", header), ORIGIN)).toMatchObject({ status: "refused", member: "header" }),
  );
});
