/** The policy as it is before anybody has taught it anything: the same for every arm, greedy, and so asked once for each request. */
import { type SteppedSystem, type Turn } from "../sim/stepped.ts";
import { ARMS, settingsOf } from "./arms.ts";
import type { Scene } from "./scenes.ts";

const AGENT = "bare";

export class BarePolicy {
  readonly #system: SteppedSystem;
  readonly #key: string;
  readonly #answers = new Map<string, Promise<Turn>>();

  private constructor(system: SteppedSystem, key: string) {
    this.#system = system;
    this.#key = key;
  }

  static async open(system: SteppedSystem, key: string): Promise<BarePolicy> {
    await system.admin("PUT", `/api/agents/${AGENT}`, settingsOf(ARMS.none, "shared"));
    return new BarePolicy(system, key);
  }

  ask({ messages, tools }: Pick<Scene, "messages" | "tools">): Promise<Turn> {
    const request = JSON.stringify([messages, tools]);
    const answer =
      this.#answers.get(request) ?? this.#system.ask({ agent: AGENT, key: this.#key, user: AGENT, messages, tools, store: false });
    this.#answers.set(request, answer);
    return answer;
  }
}
