/**
 * Thoughts that a model wrote before its answer, parted from the answer as Qwen3's chat template parts them.
 * @see https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/tokenizer_config.json
 */
export const THOUGHTS_END = "</think>";
const THOUGHTS_START = "<think>";

/** Content that holds the end of thoughts. What opens them may be missing: some templates write it themselves. */
export function partThoughts(content: string): { reasoning_content: string; content: string } {
  const parts = content.split(THOUGHTS_END);
  const thoughts = withoutLinesAfter(parts[0] ?? "").split(THOUGHTS_START);
  return { reasoning_content: withoutLinesBefore(thoughts.at(-1) ?? ""), content: withoutLinesBefore(parts.at(-1) ?? "") };
}

function withoutLinesBefore(text: string): string {
  return text.replace(/^\n+/, "");
}

/** By a loop: an expression for it would look at each newline within again and again. */
function withoutLinesAfter(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(0, end);
}
