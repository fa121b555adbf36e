/**
 * Where an agent's answers are made: by the embedded policy, by an OpenAI-compatible engine, or by Workers AI; and what
 * each of them can do. A key is named, never stored: the name is that of a Worker secret.
 */
import { z } from "zod";
import { DIGEST } from "./digest.ts";

export const ENGINE_FLAVOURS = ["vllm", "sglang", "llamacpp", "generic"] as const;
export type EngineFlavour = (typeof ENGINE_FLAVOURS)[number];

/** Only secrets that are meant for engines can be sent to one. */
export const SECRET_PREFIX = "ENGINE_KEY_";
const SecretName = z
  .string()
  .regex(
    /^ENGINE_KEY_[A-Z0-9_]{1,50}$/,
    `the name of a Worker secret that begins with ${SECRET_PREFIX} expected; a key itself is never stored`,
  );

/** An address without credentials, query or fragment, kept without the slash at its end. */
const EngineUrl = z
  .string()
  .max(500)
  .refine((text) => isPlainAddress(text), "an http or https address without credentials, query and fragment expected")
  .transform((text) => text.replace(/\/+$/, ""));

const Shared = {
  /** Digest of a stored base manifest, for whoever trains adapters for it; without it the name of the model is the base. */
  base: z.string().regex(DIGEST, "a lower-case hex SHA-256 expected").optional(),
  /** Most tokens of an answer whose request sets no limit. */
  answerTokens: z.number().int().min(1).max(131_072).default(1_024),
  /** How long the engine may be silent, before its first byte and between two. */
  timeoutMs: z.number().int().min(100).max(600_000).default(60_000),
};

export const EmbeddedEngine = z.strictObject(
  { kind: z.literal("embedded") },
  'the embedded policy takes no further settings; PATCH with {"engine": null} goes back to it from another engine',
);

/** What each prompt holds by itself, or engines take from nobody. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...["messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "chat_template", "tokenize"],
]);
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** What a chat template is given beside the conversation, by name. */
export const TemplateArguments = z
  .record(
    z.string(),
    z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()], "text, a number, true, false or null expected"),
    "an object of the chat template's variables expected",
  )
  .superRefine((given, context) => {
    for (const name of Object.keys(given))
      if (!VARIABLE.test(name) || OWN_NAMES.has(name))
        context.addIssue({ code: "custom", path: [name], message: "the name of a variable that the prompt does not set itself expected" });
  });
export type TemplateArguments = Readonly<z.infer<typeof TemplateArguments>>;

/** Qwen3's template writes an empty thought then: a trainer's answers are cut before one would have come to its end. Templates that do not know it read past it. */
export const UNTHINKING: TemplateArguments = { enable_thinking: false };

export const OpenAiEngine = z
  .strictObject({
    kind: z.literal("openai"),
    flavour: z.enum(ENGINE_FLAVOURS),
    /** Of the server, without `/v1`. */
    url: EngineUrl,
    /** The base model as the server names it. */
    model: z.string().min(1).max(200),
    keySecret: SecretName.optional(),
    /** The `npm run adapters` process beside the engine, which puts adapter files where the engine reads them. */
    adapterHost: z.strictObject({ url: EngineUrl, keySecret: SecretName }).optional(),
    /** What its chat template is given, by the engine and by whoever trains for it. Absent: as `templateArgumentsOf` has it. */
    templateArguments: TemplateArguments.optional(),
    ...Shared,
  })
  .refine(({ flavour, templateArguments }) => flavour !== "generic" || templateArguments === undefined, {
    path: ["templateArguments"],
    error: "flavour vllm, sglang or llamacpp expected where there are any, got generic, which is sent none; leave them out",
  });
export type OpenAiEngine = z.infer<typeof OpenAiEngine>;

export const WorkersAiEngine = z.strictObject({
  kind: z.literal("workers-ai"),
  /** `@cf/…` */
  model: z
    .string()
    .regex(/^@[a-z0-9./_-]{1,150}$/i, "a model of the Workers AI catalogue, as @cf/meta/llama-3.2-11b-vision-instruct, expected"),
  /** What adapters are uploaded with; without it only the bare model answers. */
  adapters: z
    .strictObject({
      accountId: z.string().regex(/^[0-9a-f]{32}$/, "the 32 hex digits of a Cloudflare account expected"),
      keySecret: SecretName,
      /** As the service wants it in `adapter_config.json`. */
      modelType: z.enum(["mistral", "gemma", "llama"]),
      /** Adapters that the account may ever hold: none can be deleted. */
      slots: z.number().int().min(1).max(1_000).default(30),
      apiUrl: EngineUrl.default("https://api.cloudflare.com/client/v4"),
    })
    .optional(),
  ...Shared,
});
export type WorkersAiEngine = z.infer<typeof WorkersAiEngine>;

export const EngineSettings = z.discriminatedUnion("kind", [EmbeddedEngine, OpenAiEngine, WorkersAiEngine]);
export type EngineSettings = z.infer<typeof EngineSettings>;
/** One that is not the policy in the Worker. */
export type RemoteEngine = OpenAiEngine | WorkersAiEngine;

export const EMBEDDED: EngineSettings = { kind: "embedded" };

/** `untooled`: of answers to requests without tools, JSON formats and log-probs of their own. */
export type Reported = "always" | "untooled" | "never";

export type EngineCapabilities = {
  /** Another version than the bare base can answer. */
  readonly adapters: boolean;
  /** Adapters come while it runs. */
  readonly loadAtRuntime: boolean;
  /** Adapters go while it runs. */
  readonly unload: boolean;
  /** Adapters that wait for their invocation (arXiv:2504.12397); others would act on every token, as another policy. */
  readonly activated: boolean;
  /** Ids of prompt and answer as it saw and sampled them. */
  readonly tokenIds: Reported;
  /** ln p of each token when it was sampled. */
  readonly logProbs: Reported;
};

const CAPABILITIES: Record<EngineFlavour | "embedded" | "workers-ai", EngineCapabilities> = {
  embedded: { adapters: true, loadAtRuntime: true, unload: true, activated: true, tokenIds: "always", logProbs: "always" },
  vllm: { adapters: true, loadAtRuntime: true, unload: true, activated: false, tokenIds: "always", logProbs: "always" },
  // Chat completions that stream report no ids there, so free text is asked for by the native route.
  sglang: { adapters: true, loadAtRuntime: true, unload: true, activated: false, tokenIds: "untooled", logProbs: "untooled" },
  // Adapters are named when the server starts, and a stream with tools reports no log-probs.
  llamacpp: { adapters: true, loadAtRuntime: false, unload: false, activated: true, tokenIds: "untooled", logProbs: "untooled" },
  generic: { adapters: false, loadAtRuntime: false, unload: false, activated: false, tokenIds: "never", logProbs: "never" },
  "workers-ai": { adapters: true, loadAtRuntime: true, unload: false, activated: false, tokenIds: "never", logProbs: "never" },
};

export function capabilitiesOf(engine: EngineSettings): EngineCapabilities {
  return CAPABILITIES[engine.kind === "openai" ? engine.flavour : engine.kind];
}

/** What this engine's chat template is given beside messages and tools: nothing where the engine is not known to take it. */
export function templateArgumentsOf(engine: EngineSettings): TemplateArguments {
  if (engine.kind !== "openai" || engine.flavour === "generic") return {};
  return engine.templateArguments ?? UNTHINKING;
}

/** For people: `vllm Qwen/Qwen3-4B`. */
export function engineTitle(engine: EngineSettings): string {
  if (engine.kind === "embedded") return "embedded";
  return `${engine.kind === "openai" ? engine.flavour : engine.kind} ${engine.model}`;
}

/** What an adapter is called where it is loaded. It holds the digest of base and adapter, so no name ever means two things. */
export function adapterName(policyDigest: string): string {
  return `nextstate-${policyDigest}`;
}

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === "");
}
