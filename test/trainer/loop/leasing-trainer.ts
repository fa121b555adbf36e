/**
 * A trainer as a process that follows one agent under a lease: `leasing-trainer.ts <edge> <agent> <name> <lease ms>`. It says what the
 * trainer says, and before it learns waits for a line on its input.
 */
import { once } from "node:events";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { followAgents } from "../../../trainer/follow.ts";
import type { Metrics } from "../../../trainer/metrics.ts";
import { judging, learning, loopOf, REJECTS } from "./stand-ins.ts";

const [url = "", agent = "", name = "", leaseMs = ""] = process.argv.slice(2);
const key = process.env["NEXTSTATE_TRAINER_KEY"] ?? "";
const shape = JSON.parse(process.env["NEXTSTATE_SHAPE"] ?? "") as ModelConfig;
const metrics: Metrics = (event, fields) => void process.stdout.write(`${event} ${JSON.stringify(fields)}\n`);
const learner = learning(shape);

await followAgents(
  {
    edge: { ...createEdgeClient({ edge: url, key }), listAgents: async () => [{ agent, line: "shared" }] },
    metrics,
    name,
    leaseMs: Number(leaseMs),
    waitMs: 500,
    trains: async () => true,
    openLoop: (_, lease) =>
      loopOf(agent, {
        edge: { url, key, lease },
        shape,
        judge: judging(REJECTS),
        learner: {
          update: async (request) => {
            process.stdout.write("learning\n");
            await once(process.stdin, "data");
            return learner.update(request);
          },
        },
        metrics,
      }),
  },
  new AbortController(),
).catch((error: unknown) => {
  process.stdout.write(`ended ${String(error)}\n`);
  process.exit(1);
});
