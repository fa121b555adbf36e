/** `nextstate completion`: a script that completes commands, options and names of agents, which it asks the running system for. */
import { buildCommand, proposeCompletions, type Application } from "@stricli/core";
import { join } from "node:path";
import { say } from "./output.ts";
import type { Context, Where } from "./where.ts";

/** Before the words that stand on the command line, the last of them unfinished. Not a command: its words are not its options. */
export const COMPLETE = "__complete";

const SHELLS = ["bash", "zsh"] as const;
type Shell = (typeof SHELLS)[number];

export const completion = buildCommand<object, [Shell], Context>({
  docs: {
    brief: "Print a script that completes commands and names of agents",
    fullDescription: [
      "Print a script that completes commands and names of agents, behind `nextstate` and `npx nextstate`.",
      "Where the shell knows no `nextstate`, the script makes it one.",
      "",
      "  source <(npx nextstate completion bash)",
      '  eval "$(npx nextstate completion zsh)"',
    ].join("\n"),
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: SHELLS.join(", "), placeholder: "shell", parse: shell, proposeCompletions: () => SHELLS }],
    },
  },
  func: (_flags, name) => say(SCRIPTS[name](quoted(join(import.meta.dirname, "bin.mjs")))),
});

/** One completion a line. */
export async function complete(app: Application<Context>, words: readonly string[]): Promise<void> {
  const found = await proposeCompletions(app, words, { process, where: whereOf(words) });
  for (const word of new Set([...subcommands(app, words), ...found.map(({ completion: each }) => each)])) say(word);
}

/** Those of a command that has a default, for which the library proposes only what goes with the default. */
function subcommands({ root }: Application<Context>, [command = "", partial = "", ...rest]: readonly string[]): string[] {
  const target = "getAllEntries" in root && rest.length === 0 ? root.getRoutingTargetForInput(command) : undefined;
  if (target === undefined || !("getAllEntries" in target)) return [];
  const names = target.getAllEntries().map(({ name }) => name["convert-camel-to-kebab"]);
  return names.filter((name) => name.startsWith(partial));
}

/** The system that the words before speak of. */
function whereOf(words: readonly string[]): Where {
  const value = (option: string): string | undefined => {
    const at = words.indexOf(option);
    return at < 0 || at >= words.length - 2 ? words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1) : words[at + 1];
  };
  const [url, state] = [value("--url"), value("--state")];
  return { ...(url === undefined ? {} : { url }), ...(state === undefined ? {} : { state }) };
}

function shell(input: string): Shell {
  const found = SHELLS.find((each) => each === input);
  if (found === undefined) throw new SyntaxError(`one of ${SHELLS.join(", ")} expected, got ${input}`);
  return found;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

const SCRIPTS: Record<Shell, (bin: string) => string> = {
  // The line is split at spaces alone: bash's own words end at the colon of a URL.
  bash: (bin) => `type nextstate >/dev/null 2>&1 || nextstate() { node ${bin} "$@"; }
_nextstate() {
  local line="\${COMP_LINE:0:COMP_POINT}" words from=1 IFS=$' \\t\\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  if [[ \${words[0]##*/} == npx ]]; then
    [[ \${words[1]} == nextstate && \${#words[@]} -gt 2 ]] || return
    from=2
  fi
  mapfile -t COMPREPLY < <(node ${bin} ${COMPLETE} "\${words[@]:from}" 2>/dev/null)
}
complete -o default -F _nextstate nextstate
complete -p npx >/dev/null 2>&1 || complete -o default -F _nextstate npx`,
  zsh: (bin) => `(( $+commands[nextstate] || $+functions[nextstate] )) || nextstate() { node ${bin} "$@" }
_nextstate() {
  local from=2
  local -a found
  if [[ \${words[1]:t} == npx ]]; then
    [[ \${words[2]} == nextstate && CURRENT -gt 2 ]] || { _files; return }
    from=3
  fi
  found=("\${(@f)$(node ${bin} ${COMPLETE} "\${(@)words[from,CURRENT]}" 2>/dev/null)}")
  if [[ -n \${found[1]} ]]; then compadd -a found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _nextstate nextstate
(( $+_comps[npx] )) || compdef _nextstate npx`,
};
