/** `nextstate keys`: who may ask. A key is shown once, when it is made or rotated. */
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { ListedKey, MadeKey } from "../../shared/api.ts";
import { AppError } from "../../shared/errors.ts";
import { clip, paint, remark, say, show, table, time } from "./output.ts";
import { amount, COMMON, connect, type Common, type Context } from "./where.ts";

const KINDS = ["client", "admin", "trainer"] as const;
type Wish = Common & { kind: (typeof KINDS)[number]; name: string; agents?: readonly string[]; expires?: string; perMinute?: number };

const ONE = { kind: "tuple", parameters: [{ brief: "id of a key", placeholder: "key_…", parse: String }] } as const;

const list = buildCommand<Common, [], Context>({
  docs: { brief: "List the keys, newest first" },
  parameters: { flags: COMMON },
  func: async (flags) => show(flags, await connect(flags).keys(), ({ keys: found }) => table(HEAD, found.map(toRow))),
});

const make = buildCommand<Wish, [], Context>({
  docs: { brief: "Make a key, and show it once" },
  parameters: {
    flags: {
      ...COMMON,
      kind: { kind: "enum", values: KINDS, default: "client", brief: "what it opens" },
      name: { kind: "parsed", parse: String, placeholder: "text", brief: "whose it is, for the list" },
      agents: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: ",",
        placeholder: "names",
        brief: "agents it reaches, by name or as a beginning and *, with commas",
      },
      expires: {
        kind: "parsed",
        parse: expiry,
        optional: true,
        placeholder: "time",
        brief: "until when, as 2027-01-31 or 2027-01-31T12:00:00Z",
      },
      perMinute: { kind: "parsed", parse: amount, optional: true, placeholder: "n", brief: "requests a minute" },
    },
  },
  func: async (flags) => {
    const { kind, name, agents, expires, perMinute } = flags;
    const wish = {
      kind,
      name,
      ...(agents === undefined ? {} : { agents: [...agents] }),
      ...(expires === undefined ? {} : { expiresAt: expires }),
      ...(perMinute === undefined ? {} : { requestsPerMinute: perMinute }),
    };
    show(flags, await connect(flags).makeKey(wish), sayMade);
  },
});

const rotate = buildCommand<Common, [string], Context>({
  docs: { brief: "Give a key another secret; the old one is dead at once" },
  parameters: { flags: COMMON, positional: ONE },
  func: async (flags, id) => show(flags, await connect(flags).rotateKey(id), sayMade),
});

const revoke = buildCommand<Common, [string], Context>({
  docs: { brief: "Revoke a key at once" },
  parameters: { flags: COMMON, positional: ONE },
  func: async (flags, id) =>
    show(flags, await connect(flags).revokeKey(id), (key) => say(`Revoked ${key.id}, ${key.kind} key of ${clip(key.name)}.`)),
});

export const keys = buildRouteMap({
  routes: { list, make, rotate, revoke },
  defaultCommand: "list",
  docs: { brief: "Keys: list, make, rotate, revoke" },
});

const HEAD = ["key", "kind", "name", "agents", "a minute", "created", "expires", "state"];

function toRow({ id, kind, name, agents, requestsPerMinute, createdAt, expiresAt, revokedAt }: ListedKey): string[] {
  const expired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const state = revokedAt !== null ? paint("red", "revoked") : expired ? paint("red", "expired") : paint("green", "valid");
  const reach = agents === null ? "all" : clip(agents.join(","), 40);
  return [
    id,
    kind,
    clip(name, 40),
    reach,
    requestsPerMinute === null ? "–" : String(requestsPerMinute),
    time(createdAt),
    time(expiresAt),
    state,
  ];
}

/** The secret alone on stdout, so that it can be handed on. */
function sayMade({ key, id, kind }: MadeKey): void {
  remark(`${id}, a ${kind} key. This is the only time that it is shown:`);
  say(key);
}

function expiry(input: string): string {
  const date = new Date(input);
  if (Number.isNaN(date.getTime())) throw new AppError("input/invalid", `a time such as 2027-01-31T12:00:00Z expected, got ${input}`);
  return date.toISOString();
}
