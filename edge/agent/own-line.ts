/**
 * What a user's own line answers with. Asked for every request and kept nowhere: whoever is idle costs an isolate nothing, and a
 * user's version is seen at once.
 */
import type { LineHead } from "../../shared/policy.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { agentOf, type OwnLine } from "./port.ts";

/** Undefined where the agent's users have no lines of their own, and while the agent cannot be reached: then the shared line answers. */
export async function ownLineOf(
  env: Pick<Env, "AGENTS">,
  { agent, settings }: Pick<LineHead, "agent" | "settings">,
  user: string,
): Promise<OwnLine | undefined> {
  if (settings.learning.scope !== "personal") return undefined;
  try {
    return await agentOf(env, agent).own(user);
  } catch (thrown) {
    logError("line:unreachable", thrown, { agent, user });
    return undefined;
  }
}
