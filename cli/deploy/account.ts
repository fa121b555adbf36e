/** Whose account a deployment goes to. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { Wrangler } from "./wrangler.ts";

const WhoAmI = z.object({ loggedIn: z.boolean(), accounts: z.array(z.object({ id: z.string(), name: z.string() })).default([]) });
export type Account = { readonly id: string; readonly name: string };

const LOG_IN =
  "log in with `npx wrangler login`, or set CLOUDFLARE_API_TOKEN to a token that may edit Workers Scripts, D1 and Workers R2 Storage, and read Account Settings where `--account` names no id; `--dry-run` needs neither";

const ID = /^[0-9a-f]{32}$/;

/** `wanted` is an id or a name; without it there has to be one account only. An id is taken as it is: not every token may list accounts. @throws {auth/missing} {input/invalid} with the choices */
export async function findAccount(wrangler: Wrangler, wanted: string | undefined): Promise<Account> {
  if (wanted !== undefined && ID.test(wanted)) return { id: wanted, name: wanted };
  const { code, output, errors } = await wrangler.try(["whoami", "--json"]);
  const who = WhoAmI.safeParse(parseJson(output));
  if (!who.success || !who.data.loggedIn || code !== 0) {
    const given =
      process.env["CLOUDFLARE_API_TOKEN"] === undefined ? "no login" : `a token that Cloudflare does not take ${reasonIn(errors)}`;
    throw new AppError("auth/missing", `Cloudflare: a login expected, got ${given}; ${LOG_IN}`);
  }
  const { accounts } = who.data;
  if (wanted !== undefined) {
    const found = accounts.find(({ id, name }) => id === wanted || name === wanted);
    if (found !== undefined) return found;
    throw new AppError("input/invalid", `account ${wanted}: one of ${list(accounts)} expected`);
  }
  const [only, second] = accounts;
  if (only !== undefined && second === undefined) return only;
  throw new AppError("input/invalid", `account: one expected, got ${list(accounts)}; say which with --account <id>`);
}

function list(accounts: readonly Account[]): string {
  return accounts.length === 0 ? "none" : accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(Math.max(0, text.indexOf("{"))));
  } catch {
    return undefined;
  }
}

function reasonIn(errors: string): string {
  const [reason] = /[^\n]*\[code: \d+\]/.exec(errors) ?? [];
  return reason === undefined ? "" : `(${reason.trim()})`;
}
