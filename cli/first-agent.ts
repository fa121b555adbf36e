/** The agent `assistant`, which every system has from its first start. */
import { z } from "zod";
import { AppError } from "../shared/errors.ts";
import { Digest } from "../shared/policy.ts";

const FirstVersion = z.object({ baseDigest: Digest });

export type Served = {
  readonly url: string;
  readonly adminKey: string;
  /** Where the admin key stands. */
  readonly keysFile: string;
  readonly baseDigest: string;
};

/** What to do where the system was made with another base, and where nobody has an admin key any more. */
export type Advice = { readonly otherBase: string; readonly noKey: string };

/**
 * Makes the agent where there is none; says whether it did.
 * @throws {policy/digest} where the system was made with another base; {auth/forbidden} where the admin key is dead
 */
export async function seedAgent({ url, adminKey, keysFile, baseDigest }: Served, advice: Advice): Promise<boolean> {
  const path = `${url}/api/agents/assistant`;
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  const found = await fetch(path, { headers });
  if (found.status === 401 || found.status === 403)
    throw new AppError(
      "auth/forbidden",
      `${keysFile}: an admin key that reaches every agent expected, got one that ${url} answers with ${found.status}, as one that was rotated or revoked; ` +
        `put the present one there as "admin", or, where there is none, ${advice.noKey}`,
    );
  const missing = found.status === 404;
  if (missing) await expectOk(await fetch(path, { method: "PUT", headers, body: "{}" }));
  else await expectOk(found);
  const version = await expectOk(await fetch(`${path}/versions/0`, { headers }));
  const { baseDigest: ofAgent } = FirstVersion.parse(await version.json());
  if (ofAgent === baseDigest) return missing;
  throw new AppError(
    "policy/digest",
    `base ${ofAgent.slice(0, 12)} of its agents expected, got ${baseDigest.slice(0, 12)}; ${advice.otherBase}`,
  );
}

async function expectOk(response: Response): Promise<Response> {
  if (!response.ok)
    throw new AppError("upstream/failed", `${response.url}: a 2xx answer expected, got ${response.status} ${await response.text()}`);
  return response;
}
