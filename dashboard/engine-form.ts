/** An engine between settings and form: what is left empty is left out, and the edge puts its default there. */
import type { EngineSettings } from "../shared/engine.ts";

/** All as texts, whatever the kind: what was typed for one stays while another is looked at. */
export type EngineForm = {
  readonly kind: EngineSettings["kind"];
  readonly flavour: Extract<EngineSettings, { kind: "openai" }>["flavour"];
  readonly url: string;
  readonly model: string;
  readonly keySecret: string;
  /** As JSON. */
  readonly templateArguments: string;
  readonly hostUrl: string;
  readonly hostKeySecret: string;
  readonly base: string;
  readonly answerTokens: string;
  readonly timeoutMs: string;
  readonly accountId: string;
  readonly accountKeySecret: string;
  readonly modelType: "mistral" | "gemma" | "llama";
  readonly slots: string;
  readonly apiUrl: string;
};

const EMPTY: EngineForm = {
  kind: "embedded",
  flavour: "vllm",
  url: "",
  model: "",
  keySecret: "",
  templateArguments: "",
  hostUrl: "",
  hostKeySecret: "",
  base: "",
  answerTokens: "",
  timeoutMs: "",
  accountId: "",
  accountKeySecret: "",
  modelType: "llama",
  slots: "",
  apiUrl: "",
};

export function engineFormOf(engine: EngineSettings): EngineForm {
  if (engine.kind === "embedded") return EMPTY;
  const { kind, model, base = "", answerTokens, timeoutMs } = engine;
  const form = { ...EMPTY, kind, model, base, answerTokens: String(answerTokens), timeoutMs: String(timeoutMs) };
  if (engine.kind === "openai") {
    const { flavour, url, keySecret = "", adapterHost, templateArguments } = engine;
    const host = { hostUrl: adapterHost?.url ?? "", hostKeySecret: adapterHost?.keySecret ?? "" };
    return { ...form, flavour, url, keySecret, ...host, templateArguments: templateArguments ? JSON.stringify(templateArguments) : "" };
  }
  if (engine.adapters === undefined) return form;
  const { accountId, keySecret: accountKeySecret, modelType, slots, apiUrl } = engine.adapters;
  return { ...form, accountId, accountKeySecret, modelType, slots: String(slots), apiUrl };
}

/** As the edge is sent it. */
export function engineOf(form: EngineForm): object {
  const { kind, model, base } = form;
  if (kind === "embedded") return { kind };
  const shared = { kind, model, ...given({ base }), ...numbers({ answerTokens: form.answerTokens, timeoutMs: form.timeoutMs }) };
  if (kind === "openai") {
    const { flavour, url, keySecret, hostUrl, hostKeySecret, templateArguments } = form;
    const host = hostUrl === "" ? {} : { adapterHost: { url: hostUrl, keySecret: hostKeySecret } };
    const template = templateArguments === "" || flavour === "generic" ? {} : { templateArguments: readJson(templateArguments) };
    return { ...shared, flavour, url, ...given({ keySecret }), ...host, ...template };
  }
  const { accountId, accountKeySecret: keySecret, modelType, slots, apiUrl } = form;
  if (accountId === "" && keySecret === "") return shared;
  return { ...shared, adapters: { accountId, keySecret, modelType, ...numbers({ slots }), ...given({ apiUrl }) } };
}

/** Text that is no JSON is sent as it is, and the edge says what it expects. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function given(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));
}

function numbers(texts: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.entries(given(texts)).map(([name, text]) => [name, Number(text)]));
}
