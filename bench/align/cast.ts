/**
 * The users of a run: each wants one to three things of different kinds, in a split's own dialogues. What the untrained policy does
 * by itself nobody needs to ask for, and of what it never comes to nobody would say a word, so neither is drawn.
 */
import { VARIANTS, type Sgd } from "../../trainer/pretrain/sgd.ts";
import type { Random } from "../../trainer/random.ts";
import type { Answer, Prompted } from "../sim/learning.ts";
import { drawPreferences } from "../sim/preferences.ts";
import { KINDS, nameOf, placeOf, type Preference, type PreferenceKind, reactionTo } from "./preference.ts";
import { type Fits, type Scene, type Scenes, twinOf, withTwin } from "./scenes.ts";
import type { WordingRule } from "./wording.ts";

export type User = { readonly name: string; readonly preferences: Preference[] };
export type Corpus = { readonly sgd: Sgd; readonly scenes: Scenes; readonly fits: Fits };
/** Greedy answers of the untrained policy. */
export type AskBase = (requests: readonly Prompted[]) => Promise<Pick<Answer, "calls" | "text">[]>;

const MOST_PREFERENCES = 3;
export const SHARING_USERS = 3;
const LEAST_SCENES = 8; // a few are repeated before forty sessions are over
const PROBES = 4;
const MOST_HONOURED = 1; // of the probes
const LEAST_VIOLATED = 2;
const VALUES_TRIED = 3; // for each argument
const NAMES = ["Ms Rivera", "Dr Okafor", "Captain Lindqvist", "Professor Haddad", "Madam Ferreira"] as const;
const RULES: readonly WordingRule[] = [
  { name: "brief", words: 8 },
  { name: "statement" },
  { name: "counted" },
  ...NAMES.map((as) => ({ name: "addressed", as }) as const),
];

/** The requests in which a preference shows. */
export function scenesOf(preference: Preference, { sgd, scenes, fits }: Corpus): Scene[] {
  const { service, tool } = preference;
  const called = ({ service: own, call }: Scene): boolean => own === service && call.name === tool;
  switch (preference.kind) {
    case "default":
    case "never":
      return scenes.calls.filter((scene) => called(scene) && scene.silent.some(({ name }) => name === preference.parameter));
    case "confirm":
      return scenes.confirmations.filter(called);
    case "wording":
      return scenes.replies.filter(called);
    case "tool": {
      const names = new Set([tool, preference.instead]);
      const original = scenes.calls.find(({ service: own, call }) => own === service && names.has(call.name))?.call.name ?? "";
      const twin = twinOf(sgd.schemas, { service, tool: original, variant: preference.twin });
      if (twin === undefined) return [];
      return scenes.calls
        .filter((scene) => scene.service === service && scene.call.name === original)
        .map((scene) => withTwin(scene, twin))
        .filter(fits);
    }
  }
}

/** Users of whom every three in a row can share a policy: no two of them want something of the same place. */
export async function drawUsers(
  corpus: Corpus,
  { count, ask, random, kinds = KINDS }: { count: number; ask: AskBase; random: Random; kinds?: readonly PreferenceKind[] },
): Promise<User[]> {
  const queues = candidates(corpus, random);
  const known = new Map<string, boolean>();
  const admitted = async (preference: Preference): Promise<boolean> => {
    const name = nameOf(preference);
    const answer = known.get(name) ?? (await isOpen(preference, corpus, ask));
    known.set(name, answer);
    return answer;
  };
  const users: User[] = [];
  for (let index = 0; index < count; index += 1) {
    const neighbours = users.slice(index - (index % SHARING_USERS)).flatMap(({ preferences }) => preferences);
    const preferences: Preference[] = [];
    const wanted = 1 + (index % MOST_PREFERENCES);
    // Each user begins with another kind, so that all are met about equally often.
    for (let turn = 0; turn < kinds.length && preferences.length < wanted; turn += 1) {
      const queue = queues[kinds[(index + turn) % kinds.length] ?? "default"];
      const taken = new Set([...neighbours, ...preferences].map(placeOf));
      const at = await findIndex(queue, async (each) => !taken.has(placeOf(each)) && (await admitted(each)));
      // Back to the end of the queue: another user may want it, too.
      const [found] = at < 0 ? [] : queue.splice(at, 1);
      if (found === undefined) continue;
      queue.push(found);
      preferences.push(found);
    }
    if (preferences.length === 0) throw new Error(`user ${index + 1}: a preference that the base violates expected, got none in the split`);
    users.push({ name: `user-${index + 1}`, preferences });
  }
  return users;
}

async function findIndex<Value>(values: readonly Value[], fits: (value: Value) => Promise<boolean>): Promise<number> {
  for (const [index, value] of values.entries()) if (await fits(value)) return index;
  return -1;
}

async function isOpen(preference: Preference, corpus: Corpus, ask: AskBase): Promise<boolean> {
  const probes = scenesOf(preference, corpus).slice(0, PROBES);
  const answers = await ask(probes);
  const reactions = probes.flatMap((scene, index) => {
    const answer = answers[index];
    return answer === undefined ? [] : [reactionTo(preference, scene, answer)];
  });
  const count = (wanted: string): number => reactions.filter((each) => each === wanted).length;
  return count("honoured") <= MOST_HONOURED && count("violated") >= LEAST_VIOLATED;
}

/** Every preference that enough requests of the split are about, by kind, in random order. */
export function candidates(corpus: Corpus, random: Random): Record<PreferenceKind, Preference[]> {
  const all: Record<PreferenceKind, Preference[]> = {
    default: defaults(corpus, random),
    never: nevers(corpus),
    confirm: placesIn(corpus.scenes.confirmations).flatMap((place) =>
      (["always", "never"] as const).map((wish): Preference => ({ kind: "confirm", ...place, wish })),
    ),
    wording: placesIn(corpus.scenes.replies).flatMap((place) => RULES.map((rule): Preference => ({ kind: "wording", ...place, rule }))),
    tool: placesIn(corpus.scenes.calls).flatMap((place) => tools(corpus, place)),
  };
  const enough = (preference: Preference): boolean => scenesOf(preference, corpus).length >= LEAST_SCENES;
  return {
    default: random.shuffled(all.default.filter(enough)),
    never: random.shuffled(all.never.filter(enough)),
    confirm: random.shuffled(all.confirm.filter(enough)),
    wording: random.shuffled(all.wording.filter(enough)),
    tool: random.shuffled(all.tool.filter(enough)),
  };
}

function defaults({ sgd, scenes }: Corpus, random: Random): Preference[] {
  const drawn = Array.from({ length: VALUES_TRIED }, () => drawPreferences(sgd, scenes.calls, random)).flat();
  const found = drawn.map(({ service, tool, parameter, value }): Preference => ({ kind: "default", service, tool, parameter, value }));
  return [...new Map(found.map((each) => [nameOf(each), each])).values()];
}

/** What a tool does where nobody says anything is what people come to dislike. */
function nevers({ scenes }: Corpus): Preference[] {
  const found = scenes.calls.flatMap(({ service, call, silent }) =>
    silent.flatMap(({ name, fallback, options }): Preference[] =>
      fallback === undefined || options.length < 2 ? [] : [{ kind: "never", service, tool: call.name, parameter: name, value: fallback }],
    ),
  );
  return [...new Map(found.map((each) => [nameOf(each), each])).values()];
}

function tools({ sgd }: Corpus, { service, tool }: { service: string; tool: string }): Preference[] {
  return VARIANTS.flatMap((variant): Preference[] => {
    if (variant === "original") return [];
    const twin = twinOf(sgd.schemas, { service, tool, variant });
    if (twin === undefined) return [];
    const pair = { kind: "tool", service, twin: variant } as const;
    return [
      { ...pair, tool: twin.name, instead: tool },
      { ...pair, tool, instead: twin.name },
    ];
  });
}

function placesIn(scenes: readonly Scene[]): { service: string; tool: string }[] {
  const places = scenes.map(({ service, call }) => ({ service, tool: call.name }));
  return [...new Map(places.map((place) => [`${place.service}.${place.tool}`, place])).values()];
}
