/** Which engine answers a turn, and whether it has the turn's adapter, as this isolate knows it. */
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import { adapterName, type RemoteEngine } from "../../shared/engine.ts";
import { Recent } from "../../shared/recent.ts";
import { agentOf } from "../agent/port.ts";
import type { Env } from "../env.ts";
import type { TurnPolicy, TurnRequest } from "../session/port.ts";
import { createEmbeddedEngine } from "./embedded.ts";
import { createOpenAiEngine, type EnsureAdapter } from "./openai-engine.ts";
import type { Engine } from "./port.ts";
import { createWorkersAiEngine } from "./workers-ai-engine.ts";

/** How long what an engine has is believed; the agent hears of the use of an adapter at least this often. */
const BELIEVED_MS = 60_000;
const MOST_BELIEVED = 1_000;

const loaded = new Recent<string, number>(MOST_BELIEVED);

/** A version that embedded bases are made of is the embedded policy's, whatever engine the agent has by now. */
export function engineFor(env: Env, { session, engine }: Pick<TurnRequest, "session" | "engine">, policy: TurnPolicy): Engine {
  if (!policy.onEngine) return createEmbeddedEngine(env.ARTIFACTS);
  if (engine.kind === "embedded")
    throw new AppError("internal", `internal: version ${policy.version} wants an engine, and its agent has none`);
  const ensure = ensureAdapter(env, { agent: session.agent, line: policy.line, engine, policy });
  return engine.kind === "openai" ? createOpenAiEngine(env, engine, ensure) : createWorkersAiEngine(env, engine, ensure);
}

function ensureAdapter(
  env: Env,
  { agent, line, engine, policy }: { agent: string; line: string; engine: RemoteEngine; policy: TurnPolicy },
): EnsureAdapter {
  const key = JSON.stringify([engine, adapterName(policy.policyDigest)]);
  return async (anew) => {
    const believedAt = loaded.get(key) ?? -Infinity;
    if (!anew && Date.now() - believedAt < BELIEVED_MS) return;
    loaded.delete(key);
    const result = await agentOf(env, agent).loadAdapter(line, policy.version);
    if (result.status === "failed") throw fromErrorRecord(result.error);
    loaded.set(key, Date.now());
  };
}
