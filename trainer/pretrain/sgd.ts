/**
 * Reads the Schema-Guided Dialogue data (arXiv:1909.05855) and the SGD-X schema variants (arXiv:2110.06800), from the
 * compact form (`{split}.jsonl.gz`, `{split}.schemas.json.gz`) or from a checkout of the upstream repository
 * (`{split}/dialogues_NNN.json`, `sgd_x/data/{variant}/{split}/schema.json`). Both give the same dialogues.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

const Slot = z.object({ name: z.string(), description: z.string(), is_categorical: z.boolean(), possible_values: z.array(z.string()) });
const Intent = z.object({
  name: z.string(),
  description: z.string(),
  is_transactional: z.boolean(),
  required_slots: z.array(z.string()),
  optional_slots: z.record(z.string(), z.string()),
});
export const Service = z.object({ service_name: z.string(), description: z.string(), slots: z.array(Slot), intents: z.array(Intent) });
export type Slot = z.infer<typeof Slot>;
export type Intent = z.infer<typeof Intent>;
export type Service = z.infer<typeof Service>;

const Act = z.tuple([z.string(), z.string(), z.array(z.string())]);
const Call = z.object({
  service: z.string(),
  method: z.string(),
  parameters: z.record(z.string(), z.string()),
  results: z.array(z.record(z.string(), z.string())),
  result_count: z.number(),
});
const Turn = z.object({ role: z.enum(["user", "assistant"]), text: z.string(), acts: z.array(Act), calls: z.array(Call).optional() });
export const Dialogue = z.object({ id: z.string(), services: z.array(z.string()), turns: z.array(Turn) });
/** `[act, slot, values]`, e.g. `["INFORM", "city", ["San Jose"]]`. */
export type Act = z.infer<typeof Act>;
export type SgdCall = z.infer<typeof Call>;
export type SgdTurn = z.infer<typeof Turn>;
export type Dialogue = z.infer<typeof Dialogue>;

export const VARIANTS = ["original", "v1", "v2", "v3", "v4", "v5"] as const;
export type Variant = (typeof VARIANTS)[number];
/** Services by variant, then by *original* service name; slots and intents keep the original's order. */
export type Schemas = Record<Variant, Map<string, Service>>;
export type Sgd = { dialogues: Dialogue[]; schemas: Schemas };
export type Split = "train" | "dev" | "test";

/** @throws Error naming the files it looked for when the folder is in neither form. */
export function readSgd(folder: string, split: Split): Sgd {
  const compact = join(folder, `${split}.jsonl.gz`);
  const upstream = join(folder, split, "schema.json");
  if (existsSync(compact)) return readCompact(folder, split);
  if (existsSync(upstream)) return readUpstream(folder, split);
  throw new Error(
    `no SGD ${split} split in ${folder}: expected ${split}.jsonl.gz with ${split}.schemas.json.gz, or ${split}/schema.json of the upstream repository`,
  );
}

/** The services that the training split shows; evaluation reports the others apart. */
export const TRAIN_SERVICES: readonly string[] = [
  ...[
    "Banks_1",
    "Buses_1",
    "Buses_2",
    "Calendar_1",
    "Events_1",
    "Events_2",
    "Flights_1",
    "Flights_2",
    "Homes_1",
    "Hotels_1",
    "Hotels_2",
    "Hotels_3",
    "Media_1",
  ],
  ...[
    "Movies_1",
    "Music_1",
    "Music_2",
    "RentalCars_1",
    "RentalCars_2",
    "Restaurants_1",
    "RideSharing_1",
    "RideSharing_2",
    "Services_1",
    "Services_2",
    "Services_3",
  ],
  ...["Travel_1", "Weather_1"],
];

/** A part of train kept out of training, by dialogue id, for tuning; dev stays for reporting. */
export function isTuning(dialogue: Dialogue): boolean {
  let hash = 7;
  for (const character of dialogue.id) hash = (hash * 31 + character.charCodeAt(0)) % 1009;
  return hash % 40 === 0;
}

function readCompact(folder: string, split: Split): Sgd {
  const lines = gunzipSync(readFileSync(join(folder, `${split}.jsonl.gz`)))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const raw: unknown = JSON.parse(gunzipSync(readFileSync(join(folder, `${split}.schemas.json.gz`))).toString("utf8"));
  const parsed = z.object(Object.fromEntries(VARIANTS.map((variant) => [variant, z.array(Service)]))).parse(raw);
  return {
    dialogues: lines.map((line) => Dialogue.parse(JSON.parse(line))),
    schemas: alignSchemas(VARIANTS.map((variant) => parsed[variant] ?? [])),
  };
}

const UpstreamFrame = z.object({
  service: z.string(),
  actions: z.array(z.object({ act: z.string(), slot: z.string(), values: z.array(z.string()) })),
  service_call: z.object({ method: z.string(), parameters: z.record(z.string(), z.string()) }).optional(),
  service_results: z.array(z.record(z.string(), z.string())).optional(),
});
const UpstreamDialogue = z.object({
  dialogue_id: z.string(),
  services: z.array(z.string()),
  turns: z.array(z.object({ speaker: z.enum(["USER", "SYSTEM"]), utterance: z.string(), frames: z.array(UpstreamFrame) })),
});

const KEPT_RESULTS = 3; // as the compact form keeps them; result_count holds the true number

function readUpstream(folder: string, split: Split): Sgd {
  const files = readdirSync(join(folder, split))
    .filter((name) => name.startsWith("dialogues_"))
    .sort();
  const dialogues = files.flatMap((name) => z.array(UpstreamDialogue).parse(readJson(join(folder, split, name))));
  const original = z.array(Service).parse(readJson(join(folder, split, "schema.json")));
  const variants = VARIANTS.slice(1).map((variant) => {
    const path = join(folder, "sgd_x", "data", variant, split, "schema.json");
    return existsSync(path) ? z.array(Service).parse(readJson(path)) : original;
  });
  return { dialogues: dialogues.map(fromUpstream), schemas: alignSchemas([original, ...variants]) };
}

function fromUpstream(dialogue: z.infer<typeof UpstreamDialogue>): Dialogue {
  const turns = dialogue.turns.map(({ speaker, utterance, frames }): SgdTurn => {
    const acts = frames.flatMap((frame) => frame.actions.map(({ act, slot, values }): Act => [act, slot, values]));
    const calls = frames.flatMap(({ service, service_call, service_results = [] }) =>
      service_call === undefined
        ? []
        : [{ service, ...service_call, results: service_results.slice(0, KEPT_RESULTS), result_count: service_results.length }],
    );
    const base = { role: speaker === "USER" ? ("user" as const) : ("assistant" as const), text: utterance, acts };
    return calls.length > 0 ? { ...base, calls } : base;
  });
  return { id: dialogue.dialogue_id, services: dialogue.services, turns };
}

function alignSchemas(lists: readonly (readonly Service[])[]): Schemas {
  const original = lists[0] ?? [];
  const byVariant = VARIANTS.map((variant, index) => {
    const services = lists[index] ?? [];
    if (services.length !== original.length)
      throw new Error(`schema ${variant} has ${services.length} services, expected ${original.length}`);
    return [variant, new Map(services.map((service, place) => [original[place]?.service_name ?? "", service]))] as const;
  });
  return Object.fromEntries(byVariant) as Schemas;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
