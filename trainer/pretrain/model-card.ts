/** What stands in a model card between marks of this name: how far the votes of the judge that lies beside the weights can be relied on. */
export const RELIABILITY_MARK = "eval:base votes";

/** The README.md of a checkpoint: what it is, what made it, what it is not. Figures are printed by `npm run eval:base`. */
export function modelCard({
  parameters,
  tokens,
  examples,
  seed,
  runs,
}: {
  parameters: number;
  tokens: number;
  examples: number;
  seed: number;
  runs: readonly string[];
}): string {
  return `---
license: cc-by-sa-4.0
language: en
library_name: transformers
pipeline_tag: text-generation
---

# Nextstate base

A ${(parameters / 1e6).toFixed(2)}M-parameter Qwen3-shaped decoder, trained from scratch by \`npm run pretrain\` on the training split of the
Schema-Guided Dialogue data (Rastogi et al., arXiv:1909.05855, CC BY-SA 4.0) and its SGD-X schema variants
(arXiv:2110.06800), with schemas, names and values redrawn for every example, and on conversations with services that were written for
this project (\`trainer/pretrain/*.jsonl\`). So far: ${tokens.toLocaleString("en")} tokens in ${examples.toLocaleString("en")} examples, seed ${seed}.

It does three jobs, chosen by its prompt (\`shared/jobs.ts\`): **act** (call a tool or reply), **judge** (was the answer right, from
what the user said next: +1, 0, −1) and **hint** (which argument should have been different). A \`<hint>\` in the last user
message is obeyed; a \`<note>\` there is a default that yields to what the user says. Every prompt begins with a system block:
where there is neither a system message nor a tool, the chat template says "You are a helpful assistant." there.

Where \`judge_adapter_model.safetensors\` and \`wish_adapter_model.safetensors\` lie beside it (LoRA in PEFT's format, made by \`npm run pretrain:judge\`), it judges and hints
under the one, and does a fourth job under the other: **wish** (whether the user wants to be asked before a call, or not to be asked).
Where \`reaction_model.safetensors\` does (made by \`npm run pretrain:reactions\`), what the user's words say by themselves, a linear classifier over 65,536 hashed words and pieces of
words, counts beside what the base makes of the exchange.
Where \`correction_model.safetensors\` does (the same with \`--model correction\`), a classifier of the same kind tells whether words around a value correct a call, whatever the value is.

\`npm run eval:base -- --sgd <folder> --split dev\` prints its figures; the project's README lists them.

## How far its votes can be relied on

<!-- ${RELIABILITY_MARK} -->
Not measured for these weights; \`npm run eval:base -- --sgd <folder> --split dev --only judging --write\` does.
<!-- /${RELIABILITY_MARK} -->

## Runs

${runs.map((run) => `- ${run}`).join("\n")}

## Limits

English task dialogues with tools, at most 1,024 tokens of context. It knows nothing of the world, reasons little, and its
free replies are short and may name things that no tool returned. Relative dates are resolved as in SGD, where every
dialogue takes place on Friday, 2019-03-01; other days are guesswork. \`npm run eval:base\` says what it makes of
tools of one's own. It is a small model to see the whole loop with on a laptop, not an assistant to put before customers.
`;
}
