/** The command line of a running system: `npx nextstate <command>`. Exit codes: 0 done, 1 refused or not reached, 2 usage. */
import { buildApplication, buildRouteMap, ExitCode, run, text_en, type ApplicationText } from "@stricli/core";
import { AppError } from "../../shared/errors.ts";
import { agents } from "./agents.ts";
import { chat } from "./chat.ts";
import { complete, COMPLETE, completion } from "./completion.ts";
import { exported } from "./export.ts";
import { keys } from "./keys.ts";
import { lines } from "./lines.ts";
import { hasColours } from "./output.ts";
import { promote, rollback } from "./release.ts";
import { notes, suite } from "./suite.ts";
import { turns } from "./turns.ts";
import { versions } from "./versions.ts";
import type { Context } from "./where.ts";

const [REFUSED, USAGE] = [1, 2];

const text: ApplicationText = {
  ...text_en,
  formatException: messageOf,
  exceptionWhileRunningCommand: (thrown) => `nextstate: ${reportOf(thrown)}`,
  exceptionWhileParsingArguments: (thrown) => `nextstate: ${messageOf(thrown)}; --help tells what is expected`,
};

const app = buildApplication<Context>(
  buildRouteMap({
    routes: { agents, chat, turns, lines, versions, rollback, promote, suite, notes, keys, export: exported, completion },
    docs: {
      brief: "Nextstate from the command line: agents, what they said, and which version of them answers",
      fullDescription: [
        "Nextstate from the command line: agents, what they said, and which version of them answers.",
        "",
        "Talks to the system that `npm start` runs from .nextstate, or from --state, whatever port it has; or to --url, or to NEXTSTATE_URL.",
        "Keys are those of the same folder, or NEXTSTATE_ADMIN_KEY and NEXTSTATE_KEY. Options stand behind the command.",
        "Exit codes: 0 done, 1 the edge refused or cannot be reached, 2 usage.",
      ].join("\n"),
    },
  }),
  {
    name: "nextstate",
    scanner: { caseStyle: "allow-kebab-for-camel" },
    documentation: { caseStyle: "convert-camel-to-kebab" },
    localization: { text },
    determineExitCode: (thrown) => (thrown instanceof AppError && thrown.code === "input/invalid" ? USAGE : REFUSED),
  },
);

/** Whether it stands where a command is expected, and is none of the few options that stand alone. */
function isOptionOfCommand(first: string | undefined): first is string {
  return first !== undefined && first.startsWith("--") && !/^--help(-all)?$/.test(first);
}

/** Of an error that is none of ours its stack is what helps. */
function reportOf(thrown: unknown): string {
  if (thrown instanceof AppError) return thrown.message;
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function streamOf(stream: NodeJS.WriteStream) {
  const write = (said: string): void => void stream.write(said);
  // Without a depth of colours the library uses none.
  return hasColours(stream) ? { write, getColorDepth: () => stream.getColorDepth() } : { write };
}

function exitCodeOf(code: number | string | null | undefined): number {
  if (code === ExitCode.UnknownCommand || code === ExitCode.InvalidArgument) return USAGE;
  return typeof code === "number" && code >= 0 ? code : REFUSED;
}

// A reader that has seen enough, as `head` has, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : REFUSED));
// Files that are named are those of the caller's folder; the launcher has gone to the checkout's.
process.chdir(process.env.NEXTSTATE_CWD ?? ".");

const [first, ...words] = process.argv.slice(2);
if (first === COMPLETE) await complete(app, words);
else if (isOptionOfCommand(first)) {
  process.stderr.write(
    `nextstate: a command expected, got ${first}; options stand behind the command, as in \`nextstate agents --state .second\`\n`,
  );
  process.exitCode = USAGE;
} else {
  const terminal = { stdout: streamOf(process.stdout), stderr: streamOf(process.stderr), env: process.env, exitCode: undefined };
  await run(app, process.argv.slice(2), { process: terminal, where: {} });
  process.exitCode = exitCodeOf(terminal.exitCode);
}
