/** `npm start`: brings the system up, says what to do with it, and takes it down without leaving a process behind. */
import { relative, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { failWith, readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { keysFile } from "./keys.ts";
import { portHolder, portProblem } from "./port.ts";
import { claimStateFolder } from "./processes.ts";
import type { System } from "./system.ts";

const USAGE = `npm start -- [options]
  --port <n>        port of the endpoint (8787)
  --host <address>  address to listen on (127.0.0.1)
  --state <folder>  where everything is kept (.nextstate)
  --base <folder>   Hugging Face folder of the base checkpoint (base)
Environment, for what an agent's settings name:
  TOOL_SECRET_<NAME>   "<origin> <value>": a secret of tools that the edge runs, for that origin alone
  TOOLS_ON_LOOPBACK=1  tools may be on this machine, http included
  ENGINE_KEY_<NAME>    a key of an engine
  NEXTSTATE_JUDGE_<NAME>_KEY, NEXTSTATE_JUDGE_<NAME>_URL
                       a key of a server that judges, and the one place that it is sent to`;

const LOOPBACK = "127.0.0.1";
const STATE = ".nextstate";
const BASE = "base";
const MOST_PORT = 65_535;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = readCommandLine(
    {
      options: {
        port: { type: "string", default: "8787" },
        host: { type: "string", default: LOOPBACK },
        state: { type: "string", default: STATE },
        base: { type: "string", default: BASE },
        help: { type: "boolean", default: false },
      },
    },
    USAGE,
  );
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT)
    throw new AppError("input/invalid", `--port: 0 to 65535 expected, got ${values.port}`);
  return { ...values, port };
}

/** Ends what an earlier run left behind before it is asked who has the port: it may well be that. */
async function endLeftovers({ state, host, port }: { state: string; host: string; port: number }): Promise<void> {
  const ended = claimStateFolder(resolve(state));
  for (const child of ended) say(`start    an earlier run had left ${child} behind; it was ended`);
  // A killed process lets go of its port a moment later.
  for (let waitedMs = 0; ended.length > 0 && waitedMs < RELEASE_MS; waitedMs += STEP_MS) {
    if ((await portProblem(host, port)) === undefined) return;
    await setTimeout(STEP_MS);
  }
}

const RELEASE_MS = 2_000;
const STEP_MS = 50;

/** @throws {input/invalid} where the port is taken, or the address is none of this machine */
async function refuseTakenPort(options: { host: string; port: number; state: string; base: string }): Promise<void> {
  const { host, port } = options;
  const problem = await portProblem(host, port);
  if (problem === undefined) return;
  if (problem !== "EADDRINUSE")
    throw new AppError(
      "input/invalid",
      `--host: an address of this machine expected, under which port ${port} may be had, got ${host} (${problem})`,
    );
  const holder = portHolder(port) ?? "a process that cannot be seen from here";
  const another = [
    "npm start --",
    ...where(options),
    ...(host === LOOPBACK ? [] : ["--host", host]),
    "--port",
    port === MOST_PORT ? 0 : port + 1,
  ];
  throw new AppError("input/invalid", `port ${port} on ${host} is taken by ${holder}; stop it, or choose another: ${another.join(" ")}`);
}

/** With the options that it needs to find what is not where it looks by itself. */
function demoCommand(options: { state: string; base: string }): string {
  const named = where(options);
  return ["npm run demo", ...(named.length === 0 ? [] : ["--", ...named])].join(" ");
}

function where({ state, base }: { state: string; base: string }): string[] {
  return [...(state === STATE ? [] : ["--state", state]), ...(base === BASE ? [] : ["--base", base])];
}

/** What tools that the edge runs need of their operator; a command line can be read by everybody on the machine. */
function toolVars(environment: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(environment).filter(([name]) => name === "TOOLS_ON_LOOPBACK" || name.startsWith("TOOL_SECRET_"));
  return Object.fromEntries(named.map(([name, value = ""]) => [name, value]));
}

function banner(system: System, base: string): string {
  const { edge, edgeLog } = system;
  const state = relative(process.cwd(), edge.stateFolder) || ".";
  return `
Nextstate is up.

  endpoint    ${edge.url}/v1
  client key  ${edge.keys.client}
  dashboard   ${edge.url} (log in with the admin key in ${relative(process.cwd(), keysFile(edge.stateFolder))})
  model       assistant

Ask it something:

  curl ${edge.url}/v1/chat/completions \\
    -H 'authorization: Bearer ${edge.keys.client}' -H 'content-type: application/json' \\
    -d '{"model": "assistant",
         "messages": [{"role": "system", "content": "You are a helpful assistant. Today is Friday, 2019-03-01."},
                      {"role": "user", "content": "What will the weather be like in San Francisco?"}],
         "tools": [{"type": "function", "function": {"name": "GetWeather", "description": "Get the weather of a city",
           "parameters": {"type": "object", "required": ["city"], "properties": {
             "city": {"type": "string", "description": "Name of the city"}}}}}]}'

Next: \`${demoCommand({ state, base })}\` in another terminal corrects it once and watches it learn, and roll back.
Or do so yourself: in the dashboard, open \`assistant\`, Playground, and give it the example's tools.
Logs of the Worker are in ${relative(process.cwd(), edgeLog)}. Ctrl-C stops everything; what it has learned stays in ${state}.
`;
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) return say(USAGE);
  let system: System | undefined;
  let code = 0;
  let stopping: Promise<void> | undefined;
  const stop = (exitCode: number): void => {
    code ||= exitCode;
    stopping ??= (async () => {
      await system?.close();
      process.exit(code);
    })();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));
  // Bootstrap holds the other end: when it is gone, nobody is left to stop us.
  process.once("disconnect", () => stop(0));
  await endLeftovers(options);
  await refuseTakenPort(options);
  const onHopeless = (reason: string): void => {
    say(`edge     ${reason}; giving up. What was acknowledged is kept; \`npm start\` continues from it.`);
    stop(1);
  };
  say(`Starting edge and trainer on base ${options.base}, state in ${options.state} …`);
  // Loaded here, so that help and refusals come at once.
  const { startSystem } = await import("./system.ts");
  const vars = toolVars(process.env);
  system = await startSystem({ ...options, stateFolder: options.state, baseFolder: options.base, vars, say, onHopeless });
  if (stopping === undefined) say(banner(system, options.base));
  else await system.close();
}

main().catch((error: unknown) => failWith(error, "Nextstate did not start: "));
