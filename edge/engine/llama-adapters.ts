/**
 * Adapters of llama.cpp's server, which are named when it starts and chosen per request by number and scale.
 * @see https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md GET /lora-adapters, and `lora` of a request
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { requestJson, type Upstream } from "./upstream.ts";

const Listed = z.array(z.object({ id: z.number().int().min(0), path: z.string() }));
export type LlamaAdapter = z.infer<typeof Listed>[number];

export async function llamaAdapters(upstream: Upstream, signal?: AbortSignal): Promise<readonly LlamaAdapter[]> {
  return requestJson(upstream, { method: "GET", path: "/lora-adapters" }, { schema: Listed, signal });
}

/** The file of an adapter is named after it: `nextstate-<digest>.gguf`. */
export function findAdapter(present: readonly LlamaAdapter[], name: string): LlamaAdapter | undefined {
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

export function absent(present: readonly LlamaAdapter[], name: string): AppError {
  const advice = `start llama-server with --lora ${name}.gguf beside the others`;
  return new AppError(
    "upstream/invalid",
    `the agent's engine: adapter ${name}.gguf among its ${present.length} expected, got none; ${advice}`,
  );
}
