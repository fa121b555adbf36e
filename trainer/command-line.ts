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

/** A whole number above 0 that an option gives. Anything else ends the process with 2, as `readCommandLine` does. */
export function readCount(option: string, given: string, usage: string): number {
  const count = Number(given);
  return Number.isSafeInteger(count) && count > 0 ? count : refuse(`${option}: a whole number above 0 expected, got ${given}`, usage);
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
