/**
 * Adapters of llama.cpp's server, which are named when it starts and chosen per request by number and scale.
 * @see https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md GET /lora-adapters, and `lora` of a request
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { ggufInvocation, type Invocation } from "../../shared/lora.ts";
import { requestJson, type Upstream } from "./upstream.ts";

const Listed = z.array(
  z.object({ id: z.number().int().min(0), path: z.string(), alora_invocation_tokens: z.array(z.number().int()).default([]) }),
);
type LlamaAdapter = z.infer<typeof Listed>[number];

export async function llamaAdapters(upstream: Upstream, signal?: AbortSignal): Promise<readonly LlamaAdapter[]> {
  return requestJson(upstream, { method: "GET", path: "/lora-adapters" }, { schema: Listed, signal });
}

/** The file of an adapter is named after it: `nextstate-<digest>.gguf`. */
function findAdapter(present: readonly LlamaAdapter[], name: string): LlamaAdapter | undefined {
  return present.find(({ path }) => path.split(/[/\\]/).at(-1) === `${name}.gguf`);
}

/**
 * The `lora` of a request: every adapter with its scale, none left to the server's default. Where there are adapters the prompt cache
 * stays off: the server reuses it across them (llama.cpp issue 26207).
 * @throws {upstream/invalid} where the server has not the adapter
 */
export function loraList(
  present: readonly LlamaAdapter[],
  name: string | undefined,
): { lora: { id: number; scale: number }[]; cache_prompt: boolean } {
  const chosen = name === undefined ? undefined : findAdapter(present, name);
  if (name !== undefined && chosen === undefined) throw absent(present, name);
  return { lora: present.map(({ id }) => ({ id, scale: id === chosen?.id ? 1 : 0 })), cache_prompt: present.length === 0 };
}

/** @throws {upstream/invalid} where the server has not the adapter, or has one that would act on other tokens: older builds know no invocation */
export function checkAdapter(
  present: readonly LlamaAdapter[],
  { name, invocation = [] }: { name: string; invocation?: Invocation | undefined },
): void {
  const found = findAdapter(present, name);
  if (found === undefined) throw absent(present, name);
  const [wanted, waitsFor] = [ggufInvocation(invocation), found.alora_invocation_tokens];
  if (waitsFor.join() === wanted.join()) return;
  const advice =
    waitsFor.join() === invocation.join()
      ? "llama.cpp begins one token before: delete the file and convert it with alora_invocation_tokens in adapter_config.json without the first, as npm run adapters does"
      : "convert it and start the server by a build that knows activated adapters, or train with --acts-on everything";
  throw new AppError(
    "upstream/invalid",
    `the agent's engine: adapter ${name}.gguf that waits for tokens [${wanted.join(", ")}] expected, got [${waitsFor.join(", ")}]; ${advice}`,
  );
}

function absent(present: readonly LlamaAdapter[], name: string): AppError {
  const advice = `start llama-server with --lora ${name}.gguf beside the others`;
  return new AppError(
    "upstream/invalid",
    `the agent's engine: adapter ${name}.gguf among its ${present.length} expected, got none; ${advice}`,
  );
}
