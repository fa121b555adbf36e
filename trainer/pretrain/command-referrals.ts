/** Requests that name something only by "it" or "the second one": what was spoken of just before, or what a tool gave back. */
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Random } from "../random.ts";
import { type CommandRequest, type CommandService, placesIn } from "./command-services.ts";
import type { CommandValues, Drawn } from "./command-values.ts";
import { enumerated, spokenName } from "./values.ts";

/** A tool's result from which something is referred to, and what the reply to it adds about that. */
export type Shown = { readonly content: string; readonly told: string };
/** `request` says what it refers to in other words, and `told` is what that is. `shown` is none where it was spoken of. */
export type Referral = { readonly request: CommandRequest; readonly told: ReadonlyMap<string, Drawn>; readonly shown: Shown | undefined };

const IDENTIFIER =
  /(^|_)(id|code|number|no|ref|reference)$|(Id|Code|Number|No|Ref)$|^(order|booking|ticket|reservation|invoice|claim|case)$/;
const PRONOUNS = ["it", "it", "that one", "this one", "that"] as const;
const ORDINALS = [
  ["the first one", "the first", "number one", "the 1st"],
  ["the second one", "the second", "number two", "the 2nd"],
  ["the third one", "the third", "number three", "the 3rd"],
  ["the fourth one", "the fourth", "number four", "the 4th"],
] as const;
const LISTED_SHARE = 0.4;
const TOLD_SHARE = 0.5;

export class Referrals {
  readonly #requests: readonly { request: CommandRequest; slot: string }[];
  readonly #values: CommandValues;
  readonly #random: Random;

  constructor(service: CommandService, values: CommandValues, random: Random) {
    const isNamed = (slot: string): boolean => {
      const owners = service.tools.flatMap(({ parameters }) => parameters[slot] ?? []);
      const isText = owners.every(({ type, enum: options }) => type === "string" && options === undefined);
      // What several tools are about is a thing; what only one takes may be a text to pass on.
      return isText && (owners.length > 1 || IDENTIFIER.test(slot));
    };
    this.#requests = service.requests.flatMap((request) =>
      placesIn(request.said)
        .filter((slot) => isNamed(slot))
        .map((slot) => ({ request, slot })),
    );
    this.#values = values;
    this.#random = random;
  }

  /** A request after a call with these arguments; none where the service has nothing that can be referred to. */
  draw(given: ReadonlyMap<string, string>): Referral | undefined {
    const random = this.#random;
    if (this.#requests.length === 0) return undefined;
    const { request, slot } = random.pick(this.#requests);
    const known = given.get(slot);
    if (known !== undefined) return this.#referral(request, slot, { said: random.pick(PRONOUNS), value: known }, undefined);
    const values = [
      ...new Set(Array.from({ length: random.chance(LISTED_SHARE) ? 2 + random.below(3) : 1 }, () => this.#values.draw(slot).value)),
    ];
    const index = random.below(values.length);
    const [value, ordinals] = [values[index] ?? "", ORDINALS[index] ?? ORDINALS[0]];
    const said =
      values.length === 1
        ? random.pick(PRONOUNS)
        : random.pick(index === values.length - 1 && random.chance(0.3) ? ["the last one", "the last"] : ordinals);
    return this.#referral(request, slot, { said, value }, values.length === 1 ? this.#one(slot, value) : this.#several(slot, values));
  }

  #referral(request: CommandRequest, slot: string, drawn: Drawn, shown: Shown | undefined): Referral {
    const said = request.said.replace(new RegExp(`(?:\\b(?:the|my|our|a|an) )?\\{${slot}\\}`, "gi"), () => drawn.said);
    return { request: { ...request, said }, told: new Map([[slot, drawn]]), shown };
  }

  #one(slot: string, value: string): Shown {
    const content = this.#random.pick<unknown>([
      { [slot]: value },
      { status: "ok", [slot]: value },
      { success: true, [slot]: value },
      { result: { [slot]: value } },
      { [slot]: value, status: "open" },
    ]);
    return { content: spacedJson(content), told: this.#random.chance(TOLD_SHARE) ? ` The ${spokenName(slot)} is ${value}.` : "" };
  }

  #several(slot: string, values: readonly string[]): Shown {
    const items = values.map((value) => ({ [slot]: value }));
    const list = this.#random.pick<unknown>([items, items, values]);
    const content = this.#random.pick<unknown>([list, { results: list }, { items: list }, { count: values.length, results: list }]);
    return { content: spacedJson(content), told: this.#random.chance(TOLD_SHARE) ? ` There are ${enumerated(values)}.` : "" };
  }
}
