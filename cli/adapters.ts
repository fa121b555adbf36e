/** `npm run adapters`: the adapter host beside an engine, for llama.cpp with the engine itself, until it is ended. */
import { failWith, readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { startAdapterHost } from "./adapter-host.ts";
import { type LlamaHost, type LlamaHostOptions, startLlamaHost } from "./llama/llama-host.ts";

const USAGE = `NEXTSTATE_ADAPTER_KEY=… npm run adapters -- --folder <folder> [options]
  --folder <folder>         where adapters are put; the engine must be able to read it
  --engine-folder <folder>  how the engine sees that folder, where it is another path (a container's mount)
  --port <n>                port to listen on (8071)
  --host <address>          address to listen on (127.0.0.1)
  --hook <program>          run with an adapter's folder once it is there, before the edge is told that it is
For llama.cpp, whose server is started here, and once more beside itself for every new adapter:
  --llama-server <program>  llama-server
  --model <file>            the GGUF that it serves
  --convert <script>        llama.cpp's convert_lora_to_gguf.py
  --base <folder>           Hugging Face folder of the base for the script; config.json is enough
  --python <program>        runs the script (python3)
  --llama-port <n>          port of the server that is current (8080)
  --drain-seconds <n>       what a server that was taken over from has to finish its answers (300)
  -- <arguments>            further ones of llama-server`;

/** Everything behind the first \`--\` is llama-server's. */
function splitArguments(argv: readonly string[]): [own: string[], more: string[]] {
  const at = argv.indexOf("--");
  return at === -1 ? [[...argv], []] : [argv.slice(0, at), argv.slice(at + 1)];
}

const [own, more] = splitArguments(process.argv.slice(2));
const { values } = readCommandLine(
  {
    args: own,
    options: {
      folder: { type: "string" },
      "engine-folder": { type: "string" },
      port: { type: "string", default: "8071" },
      host: { type: "string", default: "127.0.0.1" },
      hook: { type: "string" },
      "llama-server": { type: "string" },
      model: { type: "string" },
      convert: { type: "string" },
      base: { type: "string" },
      python: { type: "string", default: "python3" },
      "llama-port": { type: "string", default: "8080" },
      "drain-seconds": { type: "string", default: "300" },
      help: { type: "boolean", default: false },
    },
  },
  USAGE,
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.help) say(USAGE);
else await run().catch((error: unknown) => failWith(error));

async function run(): Promise<void> {
  const { folder, "engine-folder": engineFolder, host, hook } = values;
  const [key = "", port] = [process.env["NEXTSTATE_ADAPTER_KEY"], Number(values.port)];
  if (folder === undefined || key === "" || !Number.isInteger(port))
    throw new AppError("input/invalid", `a folder, a port and NEXTSTATE_ADAPTER_KEY in the environment expected\n${USAGE}`);
  const llamaOptions = readLlamaOptions(folder);
  // Before anything is started: what is up when it is ended meanwhile, the guard of its state folder ends.
  const close: (() => Promise<void>)[] = [];
  endWith(async () => void (await Promise.all(close.map((each) => each()))));
  const llama = llamaOptions === undefined ? undefined : await startLlama(llamaOptions);
  if (llama !== undefined) close.push(() => llama.close());
  const placing = llama === undefined ? {} : { place: (name: string) => llama.place(name) };
  const running = await startAdapterHost({ folder, engineFolder, key, port, host, hook, ...placing });
  close.push(() => running.close());
  say(`adapters  ${running.url}, into ${folder}`);
}

/** Undefined where the engine is another one. @throws {input/invalid} with the usage */
function readLlamaOptions(folder: string): LlamaHostOptions | undefined {
  const { "llama-server": llamaServer, model, convert, base, python, host } = values;
  const [port, drainSeconds] = [Number(values["llama-port"]), Number(values["drain-seconds"])];
  if ([llamaServer, model, convert].every((each) => each === undefined) && more.length === 0) return undefined;
  if (llamaServer === undefined || model === undefined || convert === undefined || !Number.isInteger(port) || !(drainSeconds >= 0))
    throw new AppError("input/invalid", `--llama-server, --model and --convert together, a port and seconds expected\n${USAGE}`);
  return { folder, llamaServer, model, convert, base, python, host, port, drainMs: drainSeconds * 1000, more, say };
}

async function startLlama(options: LlamaHostOptions): Promise<LlamaHost> {
  const llama = await startLlamaHost(options);
  say(`llama     ${llama.url}, as it is the engine's address; what its servers say is in ${options.folder}/.llama/server.log`);
  return llama;
}

function endWith(close: () => Promise<void>): void {
  const end = (): void => void close().finally(() => process.exit(0));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  // Bootstrap holds the other end: when it is gone, nobody is left to stop us.
  process.once("disconnect", end);
}
