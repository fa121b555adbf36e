/** Who judges an agent's answers: the base, or a model behind any server that speaks OpenAI's chat completions. */
import { z } from "zod";
import { type EngineSettings, type TemplateArguments, templateArgumentsOf } from "./engine.ts";
import { AppError } from "./errors.ts";

export const JudgeSettings = z.object({
  kind: z.enum(["embedded", "llm"]).default("embedded"),
  /** What `/chat/completions` is appended to; null: the agent's own engine. */
  url: z
    .url({ protocol: /^https?$/, message: "an http or https URL expected" })
    .refine((url) => !/[?#]|\/\/[^/]*@/.test(url), "a URL without user, query and fragment expected; name the key as `secret`")
    .nullable()
    .default(null),
  model: z.string().min(1).max(200).nullable().default(null),
  /** Names the key in the trainer's own environment: NEXTSTATE_JUDGE_<secret>_KEY, sent only to NEXTSTATE_JUDGE_<secret>_URL. Null: no key is sent. */
  secret: z
    .string()
    .regex(
      /^[A-Z][A-Z0-9_]{0,63}$/,
      "upper-case letters, digits and _ expected, at most 64; the key itself stays in the trainer's environment",
    )
    .nullable()
    .default(null),
});
export type JudgeSettings = z.infer<typeof JudgeSettings>;

export type JudgeServer = {
  readonly url: string;
  readonly model: string;
  readonly secret: string | null;
  /** What its chat template is given, of the agent's own engine; a server that was named for the judge alone is given nothing. */
  readonly templateArguments?: TemplateArguments;
};

/** What a judge needs to know of an agent. */
type Judged = { readonly engine: EngineSettings; readonly learning: { readonly judge: JudgeSettings } };

/** The server that judges an agent's answers; undefined where its base does. @throws {input/invalid} naming the setting at fault */
export function judgeServerOf({ engine, learning: { judge } }: Judged): JudgeServer | undefined {
  if (judge.kind === "embedded") return undefined;
  if (judge.url !== null && judge.model === null)
    throw new AppError("input/invalid", `learning.judge.model: the name of a model at ${judge.url} expected, got null`, {
      details: { param: "learning.judge.model" },
    });
  const own = engineServerOf(engine);
  const [url, model] = [judge.url ?? own?.url, judge.model ?? own?.model];
  const templateArguments = judge.url === null ? templateArgumentsOf(engine) : {};
  if (url !== undefined && model !== undefined)
    return { url, model, secret: judge.secret, ...(Object.keys(templateArguments).length > 0 && { templateArguments }) };
  throw new AppError(
    "input/invalid",
    `learning.judge.url: a URL expected, got null, and the agent's engine ${engine.kind} is no server that could judge`,
    {
      details: { param: "learning.judge.url" },
    },
  );
}

/** Where the agent's own engine answers chat completions, and as which model; undefined where it has no server. */
function engineServerOf(engine: EngineSettings): { url: string; model: string } | undefined {
  // The embedded policy answers inside a Durable Object, and Workers AI behind a binding.
  return engine.kind === "openai" ? { url: `${engine.url}/v1`, model: engine.model } : undefined;
}
