/** Options of a command, or what is wrong with them and which there are, instead of a stack. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { z } from "zod";
import { AppError } from "../shared/errors.ts";

/** As `parseArgs`. What it cannot read ends the process with 2, the exit code of a wrong usage. */
export function readCommandLine<Config extends ParseArgsConfig>(config: Config, usage?: string): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_"))) throw error;
    const options = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    return refuse(error.message, usage ?? `Options: ${options.join(", ")}`);
  }
}

/** A whole number that an option gives, above 0 unless `least` says otherwise. Anything else ends the process with 2, as `readCommandLine` does. */
export function readCount(option: string, given: string, usage: string, { least = 1 } = {}): number {
  const what = least === 1 ? "a whole number above 0" : `a whole number from ${least} on`;
  return readNumber(option, given, usage, { what, fits: (count) => Number.isSafeInteger(count) && count >= least });
}

/** A number above 0, likewise. */
export function readRate(option: string, given: string, usage: string): number {
  return readNumber(option, given, usage, { what: "a number above 0", fits: (rate) => Number.isFinite(rate) && rate > 0 });
}

/** A number from 0 to 1, likewise. */
export function readShare(option: string, given: string, usage: string): number {
  return readNumber(option, given, usage, { what: "a number from 0 to 1", fits: (share) => share >= 0 && share <= 1 });
}

/** One of `choices`, likewise. */
export function readChoice<Choice extends string>(option: string, given: string, usage: string, choices: readonly Choice[]): Choice {
  return choices.find((each) => each === given) ?? refuse(`${option}: ${choices.join(", ")} expected, got ${given}`, usage);
}

type Wanted = { readonly what: string; readonly fits: (value: number) => boolean };

function readNumber(option: string, given: string, usage: string, { what, fits }: Wanted): number {
  const value = given.trim() === "" ? Number.NaN : Number(given);
  return fits(value) ? value : refuse(`${option}: ${what} expected, got ${given}`, usage);
}

/** Ends a command that failed: `what` and the error's words on stderr, and its exit code; an error that is none of ours is told with its stack. */
export function failWith(error: unknown, what = ""): never {
  const [words, exitCode] =
    error instanceof AppError ? [error.message, error.exitCode] : [error instanceof Error ? error.stack : String(error), 1];
  process.stderr.write(`${what}${words}\n`);
  process.exit(exitCode);
}

function refuse(reason: string, usage: string): never {
  process.stderr.write(`${reason}\n${usage}\n`);
  process.exit(2);
}

/** Options by the names of a schema's members, each written as --kebab-case; `environment`: what holds where they are not given. @throws {input/invalid} with the usage */
export function parseOptions<Shape extends z.ZodRawShape>(
  argv: readonly string[],
  schema: z.ZodObject<Shape>,
  usage: string,
  environment: Partial<Record<keyof Shape, string | undefined>> = {},
): z.infer<z.ZodObject<Shape>> {
  const names = new Map(Object.keys(schema.shape).map((name) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), name]));
  const { values } = readArguments(argv, [...names.keys()], usage);
  const given = Object.fromEntries(Object.entries(values).map(([name, value]) => [names.get(name) ?? name, value]));
  const parsed = schema.safeParse({ ...environment, ...given });
  if (parsed.success) return parsed.data;
  throw new AppError("input/invalid", `${z.prettifyError(parsed.error)}\n${usage}`);
}

function readArguments(argv: readonly string[], names: readonly string[], usage: string) {
  try {
    return parseArgs({ args: [...argv], options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])) });
  } catch (cause) {
    throw new AppError("input/invalid", `${cause instanceof Error ? cause.message : String(cause)}\n${usage}`, { cause });
  }
}
