/** A trainer as a process that kills itself without a word at one hand-over: `dying-trainer.ts <edge> <agent> <base> <hand-over>`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import { judging, learning, loopOf, REJECTS } from "./stand-ins.ts";

const [url = "", agent = "", base = "", handOver = ""] = process.argv.slice(2);

async function reach(moment: string): Promise<void> {
  if (moment !== handOver) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => undefined); // the signal arrives a moment later
}

/** The client with a moment before each of its writes and one after. */
function watched(edge: EdgePort): Partial<EdgePort> {
  const around =
    <Sent extends unknown[], Got>(name: string, send: (...sent: Sent) => Promise<Got>) =>
    async (...sent: Sent): Promise<Got> => {
      await reach(`before ${name}`);
      const got = await send(...sent);
      await reach(`after ${name}`);
      return got;
    };
  return {
    postJudgements: around("the judgement", (...sent: Parameters<EdgePort["postJudgements"]>) => edge.postJudgements(...sent)),
    putFile: around("a file", (...sent: Parameters<EdgePort["putFile"]>) => edge.putFile(...sent)),
    publish: around("the version", (...sent: Parameters<EdgePort["publish"]>) => edge.publish(...sent)),
    advanceCursor: around("the cursor", (...sent: Parameters<EdgePort["advanceCursor"]>) => edge.advanceCursor(...sent)),
  };
}

const shape = parseModelConfig(JSON.parse(readFileSync(join(base, "config.json"), "utf8")));
const loop = loopOf(agent, {
  edge: { url, key: process.env["NEXTSTATE_TRAINER_KEY"] ?? "" },
  shape,
  judge: judging(REJECTS),
  learner: learning(shape),
  changed: watched,
});
process.stdout.write(await loop.step(2_000));
