/** `npm run adapters`: the adapter host beside an engine, until it is ended. */
import { readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { startAdapterHost } from "./adapter-host.ts";

const USAGE = `NEXTSTATE_ADAPTER_KEY=… npm run adapters -- --folder <folder> [options]
  --folder <folder>         where adapters are put; the engine must be able to read it
  --engine-folder <folder>  how the engine sees that folder, where it is another path (a container's mount)
  --port <n>                port to listen on (8071)
  --host <address>          address to listen on (127.0.0.1)
  --hook <program>          run with an adapter's folder once it is there, before the edge is told that it is;
                            for llama.cpp, what converts it and starts llama-server with it`;

const { values } = readCommandLine(
  {
    options: {
      folder: { type: "string" },
      "engine-folder": { type: "string" },
      port: { type: "string", default: "8071" },
      host: { type: "string", default: "127.0.0.1" },
      hook: { type: "string" },
      help: { type: "boolean", default: false },
    },
  },
  USAGE,
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.help) say(USAGE);
else await run();

async function run(): Promise<void> {
  const { folder, "engine-folder": engineFolder, host, hook } = values;
  const [key = "", port] = [process.env["NEXTSTATE_ADAPTER_KEY"], Number(values.port)];
  if (folder === undefined || key === "" || !Number.isInteger(port))
    throw new AppError("input/invalid", `a folder, a port and NEXTSTATE_ADAPTER_KEY in the environment expected\n${USAGE}`);
  const running = await startAdapterHost({ folder, engineFolder, key, port, host, hook });
  say(`adapters  ${running.url}, into ${folder}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void running.close());
}
