/**
 * The conformance suite against a real llama.cpp server, where one is named:
 *
 *     llama-server -m model.gguf --port 8080 --jinja
 *     NEXTSTATE_LLAMA_SERVER=http://127.0.0.1:8080 npm test -- llama-server
 */
import { describe } from "vitest";
import { capabilitiesOf, EngineSettings } from "../../../shared/engine.ts";
import { withEdge } from "../../helpers/edge.ts";
import { testEngine } from "./conformance.ts";

const url = process.env["NEXTSTATE_LLAMA_SERVER"];
const engine = (changes: object = {}) => ({
  ...{ kind: "openai", flavour: "llamacpp", url: url ?? "http://127.0.0.1:8080", model: "default" },
  ...changes,
});

describe.skipIf(url === undefined)("where NEXTSTATE_LLAMA_SERVER names one", () =>
  testEngine(withEdge(), { name: "llama-server", capabilities: capabilitiesOf(EngineSettings.parse(engine())), settings: engine }),
);
