/** The engine's thread. */
import { workerData } from "node:worker_threads";
import { serve } from "../threads/serve.ts";
import { EngineCore } from "./core.ts";
import type { EngineOptions } from "./protocol.ts";

serve(new EngineCore(workerData as EngineOptions));
