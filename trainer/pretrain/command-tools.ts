/** How the tools of a service are shown in one conversation: what they are called, what is described, and of which type their values are. */
import type { CommandParameter, CommandService } from "./command-services.ts";
import type { ParameterView, ToolView } from "./conversation.ts";
import type { Random } from "../random.ts";
import { camelCase, madeUpWord, pascalCase, spokenName } from "./values.ts";

const UNTYPED_SHARE = 0.1; // of services: whoever wrote them made everything a string
const RENAMED_SHARE = 0.05; // of tools that are described: by a name that only the description explains
const TOLD_NAME_SHARE = 0.2; // of parameters that are described: called by what the description says
const BARE_SHARE = 0.2; // of services: nothing is described

/** The tools as one conversation shows them, by their own names. */
export function drawTools({ tools }: CommandService, random: Random): Map<string, ToolView> {
  const untyped = random.chance(UNTYPED_SHARE);
  const bare = random.chance(BARE_SHARE);
  const cased = random.chance(0.5) ? random.pick([snakeCase, camelCase, pascalCase, kebabCase]) : (name: string): string => name;
  return new Map(
    tools.map((tool): [string, ToolView] => {
      const described = tool.description !== "" && !bare;
      const name = described && random.chance(RENAMED_SHARE) ? `${madeUpWord(random)}_${madeUpWord(random)}` : cased(tool.name);
      const taken = new Set(Object.keys(tool.parameters));
      const parameters = Object.entries(tool.parameters).map(([slot, parameter]) => {
        const view = viewOf(slot, parameter, tool.required.includes(slot), untyped);
        if (bare) return { ...view, description: "" };
        const told = cased(telling(view.description).join("_"));
        // Two parameters of one name could not be told apart.
        if (told === "" || taken.has(told) || !random.chance(TOLD_NAME_SHARE)) return view;
        taken.add(told);
        return { ...view, name: told };
      });
      const shuffled = random.chance(0.4) ? random.shuffled(parameters) : parameters;
      return [tool.name, { name, description: described ? tool.description : "", parameters: shuffled }];
    }),
  );
}

function viewOf(slot: string, parameter: CommandParameter, required: boolean, untyped: boolean): ParameterView {
  const options = parameter.type === "boolean" ? ["True", "False"] : (parameter.enum ?? []).map(String);
  const type = untyped && parameter.type !== "array" && parameter.type !== "boolean" ? "string" : parameter.type;
  return { slot, name: slot, description: parameter.description ?? "", type, options, required, fallback: undefined };
}

/** The first words of a description that tell something. */
function telling(description: string): string[] {
  const words = description.toLowerCase().match(/[a-z]+/g) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word)).slice(0, 2);
}

const EMPTY_WORDS = new Set(
  "a an the of to for in on at is are be it its which what who whom how whether if or and that this with by from".split(" "),
);

function snakeCase(name: string): string {
  return spokenName(name).replaceAll(" ", "_");
}

function kebabCase(name: string): string {
  return spokenName(name).replaceAll(" ", "-");
}
