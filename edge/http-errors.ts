/** Errors → HTTP: the OpenAI error shape on every route. Statuses come from the traits in shared/errors.ts. */
import type { Context, ErrorHandler, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z, type ZodType } from "zod";
import { AppError, ERROR_TRAITS, type ErrorCode } from "../shared/errors.ts";
import type { AppEnv } from "./env.ts";
import { issueWords } from "./issue-words.ts";
import { logError } from "./log.ts";

type ErrorBody = { error: { message: string; type: string; param: string | null; code: string | null } };

/**
 * The body of an error. `details.param` names the parameter at fault and `details.code` replaces our code where
 * OpenAI clients look for a code of their own (`context_length_exceeded`, `model_not_found`).
 */
export function errorBody({ code, message, details }: AppError): ErrorBody {
  const { param, code: openaiCode } = details;
  return {
    error: {
      message,
      type: errorType(code),
      param: param === undefined ? null : String(param),
      code: openaiCode === undefined ? code : String(openaiCode),
    },
  };
}

/** The only renderer of errors. What is not ours answers a bare 500 with the request id; the cause goes to the log. */
export const onError: ErrorHandler<AppEnv> = (thrown, context) => {
  if (thrown instanceof AppError && thrown.code !== "internal") return render(context, thrown);
  if (thrown instanceof HTTPException && thrown.status < 500)
    return render(context, new AppError(codeOfRefusal(thrown.status), thrown.message));
  const requestId = context.get("requestId");
  logError("request:failed", thrown, { requestId, method: context.req.method, path: context.req.path });
  return render(context, new AppError("internal", `internal error; the log has it under request ${requestId}`));
};

export const onNotFound: NotFoundHandler<AppEnv> = (context) =>
  render(context, new AppError("input/notFound", `no route ${context.req.method} ${context.req.path}`));

/** A route that exists, called by a method that it has not. */
export function onMethodNotAllowed(context: Context, methods: readonly string[]): Response {
  const message = `${context.req.path}: ${methods.join(" or ")} expected, got ${context.req.method}`;
  context.header("allow", methods.join(", "));
  return render(context, new AppError("input/methodNotAllowed", message));
}

/** Parses a JSON body. @throws {input/invalid} naming the first member that is wrong. */
export async function parseJson<Value>(request: Request, schema: ZodType<Value>): Promise<Value> {
  return parseWith(schema, await readJson(request));
}

/** @throws {input/invalid} where the body is not JSON in UTF-8, as it stands. */
export async function readJson(request: Request): Promise<unknown> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new AppError("input/invalid", `content-encoding: a body as it stands expected, got one in ${encoding}; send it uncompressed`, {
      details: { param: "content-encoding" },
    });
  const text = decode(await request.arrayBuffer());
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("input/invalid", `body: JSON expected, got ${describe(text)}`, { cause });
  }
}

/** What is no UTF-8 would be read as other words than were sent. */
function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (cause) {
    throw new AppError("input/invalid", `body: JSON in UTF-8 expected, got ${bytes.byteLength} bytes that are none`, { cause });
  }
}

/** The first member that is wrong is told, so none behind it is looked at: a list may have half a million, and their issues would not fit the stack. */
const CONTEXT = { error: issueWords, abortEarly: true };

/** @throws {input/invalid} naming the first member that is wrong as `param`. */
export function parseWith<Value>(schema: ZodType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, CONTEXT);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const issue = first && innermost(first);
  const path = issue?.path ?? [];
  const place = path.map(String).join(".");
  const message = issue?.message ?? "not as expected";
  // The message names what is not known; where it stands is known alone.
  const param = issue?.code === "unrecognized_keys" ? [...path, ...issue.keys.slice(0, 1)].map(String).join(".") : place;
  throw new AppError("input/invalid", place === "" ? message : `${place}: ${message}`, { details: param === "" ? {} : { param } });
}

/** Where a value may be one thing or a list of others, and is a list: what is wrong within it. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const within = issue.errors.flatMap(([first]) => first ?? []).find(isOfList);
  return within === undefined ? issue : innermost({ ...within, path: [...issue.path, ...within.path] });
}

function isOfList(issue: z.core.$ZodIssue): boolean {
  return typeof issue.path[0] === "number" || (issue.code === "too_small" && issue.origin === "array");
}

function render(context: Context, error: AppError): Response {
  const { retryAfterSeconds } = error.details;
  if (retryAfterSeconds !== undefined) context.header("retry-after", String(retryAfterSeconds));
  return context.json(errorBody(error), error.status as ContentfulStatusCode);
}

function describe(text: string): string {
  return text === "" ? "nothing" : `${text.length} characters that do not parse`;
}

function errorType(code: ErrorCode): string {
  const { status } = ERROR_TRAITS[code];
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

function codeOfRefusal(status: number): ErrorCode {
  if (status === 401) return "auth/missing";
  if (status === 403) return "auth/forbidden";
  if (status === 404) return "input/notFound";
  return status === 413 ? "input/tooLarge" : "input/invalid";
}
