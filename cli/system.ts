/** The whole system as one process tree: edge, trainer, and the watch over both. */
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { AppError } from "../shared/errors.ts";
import { SECRET_PREFIX } from "../shared/engine.ts";
import { startEdgeHost, type EdgeHost } from "./edge-host.ts";
import { seedAgent } from "./first-agent.ts";
import { keysFile, readKeysNow } from "./keys.ts";
import { writePid } from "./processes.ts";
import { SupervisedChild } from "./supervised-child.ts";
import { startWatchdog } from "./watchdog.ts";

export type SystemOptions = {
  stateFolder: string;
  baseFolder: string;
  host: string;
  port: number;
  vars?: Record<string, string>;
  /** What a person should know while the system runs, one line each. */
  say: (line: string) => void;
  /** workerd cannot be kept alive; the system is of no use any more. */
  onHopeless: (reason: string) => void;
};

export type System = { edge: EdgeHost; /** Where the Worker's log lines go. */ edgeLog: string; close(): Promise<void> };

export async function startSystem(options: SystemOptions): Promise<System> {
  const { stateFolder, baseFolder, host, port, vars, say, onHopeless } = options;
  const restarted = (pid: number | undefined): void =>
    say(`edge     workerd died and was started again (process ${pid}); nothing acknowledged is lost`);
  const lines: string[] = [];
  let log = (line: string): void => void lines.push(line); // Until the folder exists.
  const edge = await startEdgeHost({
    stateFolder,
    baseFolder,
    host,
    port,
    vars: { ...engineKeys(), ...vars },
    onLog: (line) => log(line),
    onRestart: restarted,
  });
  const edgeLog = join(edge.stateFolder, "edge.log");
  const file = createWriteStream(edgeLog, { flags: "a" });
  log = (line) => void file.write(`${line}\n`);
  lines.forEach(log);
  const stopWatchdog = startWatchdog(edge, { say, onHopeless });
  const trainer = startTrainer(edge, { baseFolder, say });
  const close = async (): Promise<void> => {
    stopWatchdog();
    await trainer.stop();
    await edge.close();
    file.end();
  };
  try {
    await seedOrSay(edge, say);
  } catch (error) {
    await close();
    throw error;
  }
  return { edge, edgeLog, close };
}

/** Nothing else needs the admin key of the file, so a system whose admins have another goes on. */
async function seedOrSay({ url, keys, baseDigest, stateFolder }: EdgeHost, say: (line: string) => void): Promise<void> {
  const served = { url, adminKey: keys.admin, keysFile: keysFile(stateFolder), baseDigest };
  const advice = {
    otherBase: `choose another folder with --state, or remove ${stateFolder}`,
    noKey: "move the file away: the next start makes further keys",
  };
  await seedAgent(served, advice).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "auth/forbidden")) throw error;
    say(`keys     ${error.message}. Serving goes on.`);
  });
}

/** The one trainer of this system: it works on at once where it was killed and started again. */
const TRAINER_NAME = "start";
/** How it ends where what it was given is at fault. */
const REFUSED = "code 2";
/** Keys of engines, as settings of agents name them: what Worker secrets are on Cloudflare comes from the environment here. */
function engineKeys(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (name.startsWith(SECRET_PREFIX) && value !== undefined ? [[name, value]] : [])),
  );
}

function startTrainer(edge: EdgeHost, { baseFolder, say }: { baseFolder: string; say: (line: string) => void }): SupervisedChild {
  const { stateFolder, url, keys } = edge;
  return new SupervisedChild({
    command: process.execPath,
    args: [
      "trainer/main.ts",
      "--url",
      url,
      "--base",
      baseFolder,
      "--state",
      stateFolder,
      "--name",
      TRAINER_NAME,
      "--parent-pid",
      String(process.pid),
    ],
    // By environment, because a command line can be read by everybody on the machine; from the file, because keys are rotated while it runs.
    env: () => ({ NEXTSTATE_TRAINER_KEY: readKeysNow(stateFolder)?.trainer ?? keys.trainer }),
    onStart: (pid) => writePid(stateFolder, "trainer", pid),
    onLine: say,
    onDeath: (how, waitMs) => {
      const advice =
        how === REFUSED ? ` A trainer key that was rotated goes into ${keysFile(stateFolder)}, as "trainer": each start reads it.` : "";
      say(`trainer  ended (${how}); starting again in ${waitMs / 1000} s. Serving is not affected.${advice}`);
    },
  });
}
