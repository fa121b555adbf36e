/** Which system a command talks to, and with which keys: options first, then the environment, then what `npm start` leaves in its folder. */
import { join } from "node:path";
import type { CommandContext, FlagParametersForType } from "@stricli/core";
import { AppError } from "../../shared/errors.ts";
import type { LineHead } from "../../shared/policy.ts";
import { addressOf } from "../../trainer/address.ts";
import { keysFile, readKeys } from "../keys.ts";
import { EdgeClient, type OfLine } from "./edge-client.ts";
import { PAGE, readAll } from "./paged.ts";

export type Where = { readonly url?: string; readonly state?: string };
export type Common = Where & { readonly json: boolean };
/** `where` is what the words before the one that is being completed say. */
export type Context = CommandContext & { readonly where: Where };

const ROOT = join(import.meta.dirname, "../..");

const text = (input: string): string => input;

/** Options of every command. */
export const COMMON: FlagParametersForType<Common, Context> = {
  url: { kind: "parsed", parse: text, optional: true, placeholder: "url", brief: "where the system listens (what its state folder says)" },
  state: {
    kind: "parsed",
    parse: text,
    optional: true,
    placeholder: "folder",
    brief: "its state folder, for address and keys (.nextstate)",
  },
  json: { kind: "boolean", default: false, withNegated: false, brief: "print the API's JSON and nothing else" },
};

export const LINE: FlagParametersForType<OfLine, Context> = {
  line: { kind: "parsed", parse: text, optional: true, placeholder: "line", brief: "the id of a user whose own line is meant (shared)" },
};

export function connect({ url, state }: Where): EdgeClient {
  const { NEXTSTATE_ADMIN_KEY, NEXTSTATE_KEY } = process.env;
  const folder = state ?? join(ROOT, ".nextstate");
  return new EdgeClient(addressOf({ url, stateFolder: folder }), {
    admin: async () => NEXTSTATE_ADMIN_KEY ?? (await keysOf(folder, "NEXTSTATE_ADMIN_KEY")).admin,
    client: async () => NEXTSTATE_KEY ?? (await keysOf(folder, "NEXTSTATE_KEY")).client,
  });
}

/** All of them, by name. */
export function readAgents(edge: EdgeClient): Promise<LineHead[]> {
  return readAll(
    async (after) => (await edge.agents({ limit: PAGE, after })).agents,
    ({ agent }) => agent,
  );
}

/** Names of agents that begin like this, for completion; none where the system cannot be asked. */
export async function proposeAgents(this: Context, partial: string): Promise<string[]> {
  const ask = async () => readAgents(connect(this.where));
  const agents = await ask().catch(() => []);
  return agents.map(({ agent }) => agent).filter((name) => name.startsWith(partial));
}

/** The first argument of most commands. */
export const AGENT = { brief: "name of the agent", placeholder: "agent", parse: text, proposeCompletions: proposeAgents } as const;

/** With the v before it that lists have, or without. */
export function versionNumber(input: string): number {
  const [, digits] = /^v?(\d+)$/.exec(input) ?? [];
  if (digits === undefined) throw new AppError("input/invalid", `a version's number expected, got ${input}`);
  return Number(digits);
}

export function amount(input: string): number {
  if (!/^[1-9]\d*$/.test(input)) throw new AppError("input/invalid", `a number from 1 expected, got ${input}`);
  return Number(input);
}

async function keysOf(folder: string, variable: string): ReturnType<typeof readKeys> {
  try {
    return await readKeys(folder);
  } catch (cause) {
    throw new AppError(
      "auth/missing",
      `no keys in ${keysFile(folder)}; \`npm start\` makes them, --state names the folder of another system, ${variable} is a key itself`,
      { cause },
    );
  }
}
