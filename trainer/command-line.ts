/** Options of a command, or what is wrong with them and which there are, instead of a stack. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** As `parseArgs`. What it cannot read ends the process with 2, the exit code of a wrong usage. */
export function readCommandLine<Config extends ParseArgsConfig>(config: Config, usage?: string): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_"))) throw error;
    const options = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    process.stderr.write(`${error.message}\n${usage ?? `Options: ${options.join(", ")}`}\n`);
    process.exit(2);
  }
}
