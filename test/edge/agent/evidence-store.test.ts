/** Corrections that are looked at: whoever floods pushes out only what came under the same key. */
import { describe, expect, it } from "vitest";
import { EvidenceStore } from "../../../edge/agent/evidence-store.ts";
import type { Evidence } from "../../../shared/influence.ts";
import { sqliteStorage } from "../../helpers/sqlite-storage.ts";

let events = 0;

function said(user: string, keyId: string, value: string): Evidence {
  return { eventId: `e${(events += 1)}`, user, keyId, tool: "Reserve", parameter: "rooms", value };
}

function storeOf(evidence: readonly Evidence[]): EvidenceStore {
  const store = new EvidenceStore(sqliteStorage().sql);
  store.create();
  for (const [at, each] of evidence.entries()) store.add("shared", each, at);
  return store;
}

const open = (store: EvidenceStore): Evidence[] => store.open("shared", { since: 0, inUse: new Set() });

describe("EvidenceStore", () => {
  it("still shows what four said before one user says something thousands of times", () => {
    const honest = ["a", "b", "c", "d"].map((user) => said(user, `key ${user}`, "2"));
    const flood = Array.from({ length: 3_000 }, () => said("loud", "loud key", "3"));
    const shown = open(storeOf([...honest, ...flood]));
    expect(shown.filter(({ value }) => value === "2")).toEqual(honest);
    expect(shown.filter(({ user }) => user === "loud")).toHaveLength(20);
  });

  it("still shows them before thousands of users whom one key has invented", () => {
    const honest = ["a", "b", "c", "d"].map((user) => said(user, `key ${user}`, "2"));
    const invented = Array.from({ length: 3_000 }, (_, index) => said(`invented ${index}`, "loud key", "3"));
    const shown = open(storeOf([...honest, ...invented]));
    expect(shown.filter(({ value }) => value === "2")).toEqual(honest);
    expect(shown.filter(({ keyId }) => keyId === "loud key")).toHaveLength(500);
  });

  it("takes the last word of a user about an argument, said again and again or not", () => {
    const [first, again, other] = [said("a", "key", "2"), said("a", "key", "2"), said("a", "key", "3")];
    expect(open(storeOf([first, again]))).toEqual([first, again]);
    expect(open(storeOf([first, other]))).toEqual([other]);
    const choice = (tool: string, value: string): Evidence => ({ ...said("a", "key", value), tool, parameter: "@tool" });
    const [one, back, third] = [choice("Search", "Find"), choice("Find", "Search"), choice("Look", "Find")];
    expect(open(storeOf([one, back, third]))).toEqual([back, third]);
  });
});
