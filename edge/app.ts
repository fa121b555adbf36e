/** The routes, and what every request passes through before it reaches one. */
import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { App, AppEnv } from "./env.ts";
import { onError, onMethodNotAllowed, onNotFound } from "./http-errors.ts";
import { requireKey } from "./middleware/auth.ts";
import { clientCors } from "./middleware/cors.ts";
import { drainBody } from "./middleware/drain.ts";
import { noStore } from "./middleware/no-store.ts";
import { rateLimit } from "./middleware/rate-limit.ts";
import { bodyLimit } from "./middleware/limits.ts";
import { requestId } from "./middleware/request-id.ts";
import { mountPages } from "./pages.ts";
import { mountAgentDeletion } from "./routes/api-agent-deletion.ts";
import { mountAgents } from "./routes/api-agents.ts";
import { mountDeploymentAudit } from "./routes/api-audit.ts";
import { mountKeys } from "./routes/api-keys.ts";
import { mountLogin } from "./routes/api-login.ts";
import { mountNotes } from "./routes/api-notes.ts";
import { mountOpenApi } from "./routes/api-openapi.ts";
import { mountPlayground } from "./routes/api-playground.ts";
import { mountQuarantine } from "./routes/api-quarantine.ts";
import { mountRelease } from "./routes/api-release.ts";
import { mountSuite } from "./routes/api-suite.ts";
import { mountSeries } from "./routes/api-series.ts";
import { mountStream } from "./routes/api-stream.ts";
import { mountTrainer } from "./routes/api-trainer.ts";
import { mountTurns } from "./routes/api-turns.ts";
import { mountUsers } from "./routes/api-users.ts";
import { mountVersions } from "./routes/api-versions.ts";
import { mountStats } from "./routes/api-stats.ts";
import { mountCompletions } from "./routes/completions.ts";
import { mountFeedback, mountReview } from "./routes/feedback.ts";
import { mountResponses } from "./routes/responses.ts";
import { mountHealth } from "./routes/health.ts";
import { mountModels } from "./routes/models.ts";
import { mountTrainerFeed } from "./routes/trainer-feed.ts";
import { mountTrainerFiles } from "./routes/trainer-files.ts";
import { mountTrainerLease } from "./routes/trainer-lease.ts";
import { mountTrainerJudgements } from "./routes/trainer-judgements.ts";
import { mountTrainerLines } from "./routes/trainer-lines.ts";
import { mountTrainerMoves } from "./routes/trainer-moves.ts";

export function createApp(): App {
  const app = new Hono<AppEnv>();
  app.onError(onError);
  app.notFound(onNotFound);
  app.use(requestId(), drainBody());
  // A browser's preflight carries no key, so CORS stands before the keys.
  app.use("/v1/*", clientCors());
  for (const path of ["/v1/*", "/api/*", "/trainer/v1/*"]) app.use(path, noStore());
  mountOpenApi(app);
  mountLogin(app);
  app.use("/v1/*", requireKey("client"));
  app.use("/api/*", requireKey("admin"));
  app.use("/trainer/v1/*", requireKey("trainer"));
  for (const path of ["/v1/*", "/api/*", "/trainer/v1/*"]) app.use(path, rateLimit());
  app.use(bodyLimit(), methodNotAllowed({ app, onMethodNotAllowed }));
  mountHealth(app);
  mountPages(app);
  for (const mount of [mountCompletions, mountResponses, mountModels, mountFeedback]) mount(app);
  for (const mount of [
    mountAgents,
    mountAgentDeletion,
    mountVersions,
    mountRelease,
    mountQuarantine,
    mountReview,
    mountSuite,
    mountNotes,
    mountPlayground,
    mountKeys,
    mountDeploymentAudit,
    mountSeries,
    mountStream,
    mountTrainer,
    mountTurns,
    mountUsers,
    mountStats,
  ])
    mount(app);
  for (const mount of [
    mountTrainerFeed,
    mountTrainerFiles,
    mountTrainerLease,
    mountTrainerLines,
    mountTrainerMoves,
    mountTrainerJudgements,
  ])
    mount(app);
  return app;
}
