/**
 * An export as verl reads it: one parquet file. It has the five fields of verl's datasets
 * (https://verl.readthedocs.io/en/latest/preparation/prepare_data.html: data_source, prompt, ability, reward_model, extra_info) and the
 * token fields of a batch under verl's own names (verl/trainer/ppo/ray_trainer.py and verl/workers/utils/losses.py at 1dda039b: prompts,
 * responses, response_mask, advantages, rollout_log_probs). verl's datasets hold what is yet to be rolled out, so rows that are rolled
 * out become its `DataProto` (https://verl.readthedocs.io/en/latest/api/data.html) through nextstate_verl.py beside the file.
 */
import { parquetWriteBuffer } from "hyparquet-writer";
import type { ExportRow } from "./rows.ts";
import type { ExportFile } from "./slime.ts";

type Element = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>[number];

export function verlFiles(rows: readonly ExportRow[], { agent }: { agent: string }): ExportFile[] {
  const columns: Record<string, unknown[]> = {
    data_source: rows.map(() => `nextstate/${agent}`),
    prompt: rows.map(({ messages }) => messages.map(({ role, content }) => ({ role, content: content ?? "" }))),
    ability: rows.map(({ form }) => form),
    reward_model: rows.map(({ reward }) => ({ style: "rule", ground_truth: String(reward) })),
    extra_info: rows.map(({ eventId, turnId, group, version }, index) => ({ index, event_id: eventId, turn_id: turnId, group, version })),
    prompts: rows.map(({ prompt }) => prompt),
    responses: rows.map(({ response }) => response),
    response_mask: rows.map(({ mask }) => mask),
    advantages: rows.map((row) => row.advantages),
    rollout_log_probs: rows.map(({ rolloutLogProbs }) => rolloutLogProbs),
    reward: rows.map(({ reward }) => reward),
    temperature: rows.map(({ temperature }) => temperature),
  };
  const schema: Element[] = [{ name: "root", num_children: FIELDS.length }, ...FIELDS.flatMap((field) => field)];
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data }));
  return [{ name: "rollouts.parquet", content: new Uint8Array(parquetWriteBuffer({ schema, columnData })) }];
}

const text = (name: string): Element => ({ name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" });
const whole = (name: string): Element => ({ name, type: "INT32", repetition_type: "OPTIONAL" });
const real = (name: string): Element => ({ name, type: "FLOAT", repetition_type: "OPTIONAL" });
const group = (name: string, parts: readonly Element[]): Element[] => [
  { name, repetition_type: "OPTIONAL", num_children: parts.length },
  ...parts,
];
/** A list of three levels (https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists). */
const list = (name: string, parts: readonly Element[]): Element[] => [
  { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  ...parts,
];

/** The columns in order, each with what it is made of. */
const FIELDS: readonly (readonly Element[])[] = [
  [text("data_source")],
  list("prompt", group("element", [text("role"), text("content")])),
  [text("ability")],
  group("reward_model", [text("style"), text("ground_truth")]),
  group("extra_info", [whole("index"), text("event_id"), text("turn_id"), text("group"), whole("version")]),
  list("prompts", [whole("element")]),
  list("responses", [whole("element")]),
  list("response_mask", [whole("element")]),
  list("advantages", [real("element")]),
  list("rollout_log_probs", [real("element")]),
  [whole("reward")],
  [real("temperature")],
];
