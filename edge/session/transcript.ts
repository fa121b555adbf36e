/**
 * The canonical form of a message, and the hash chain over a conversation by which it is recognised.
 * The chain begins with who speaks to which agent, so equal words of two users are two chains.
 */
import type { ChatMessage, ToolCall } from "../../shared/chat.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { canonicalArguments } from "../../shared/speech/calls.ts";

/** Whose conversation it is: the agent, the API key, and the user scoped to that key. */
export type Scope = { readonly agent: string; readonly keyId: string; readonly user: string };

/** Digests of the conversation after each of its messages, oldest first. */
export async function chainDigests(scope: Scope, messages: readonly ChatMessage[]): Promise<string[]> {
  let digest = await sha256(canonicalJson(["transcript", scope.agent, scope.keyId, scope.user]));
  const digests: string[] = [];
  for (const message of messages) {
    digest = await extendChain(digest, message);
    digests.push(digest);
  }
  return digests;
}

/** The digest of a conversation with one more message. */
export async function extendChain(digest: string, message: ChatMessage): Promise<string> {
  return sha256(`${digest}\n${canonicalMessage(message)}`);
}

/** The digest of one message by itself. */
export async function messageDigest(message: ChatMessage): Promise<string> {
  return sha256(canonicalMessage(message));
}

/**
 * One text for every form in which a client may send the same message back: absent and empty content are one, white
 * space around an answer is not told apart, and arguments that are JSON are compared as JSON.
 */
export function canonicalMessage(message: ChatMessage): string {
  if (message.role !== "assistant") return canonicalJson(message);
  const calls = message.tool_calls ?? [];
  const content = (message.content ?? "").trim();
  return canonicalJson({ role: message.role, content, ...(calls.length === 0 ? {} : { calls: calls.map(canonicalCall) }) });
}

function canonicalCall({ id, function: { name, arguments: text } }: ToolCall): unknown {
  return [id, name, canonicalArguments(text)];
}
