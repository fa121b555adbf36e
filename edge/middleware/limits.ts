import { bodyLimit as honoBodyLimit } from "hono/body-limit";
import { AppError } from "../../shared/errors.ts";
import { MAX_ARTIFACT_BYTES } from "../artifacts.ts";
import type { Middleware } from "../env.ts";

const MAX_BODY_BYTES = 1_048_576;
const FILES_PATH = "/trainer/v1/files/";

/** Refuses a body over 1 MB, or over an artifact's size where a file is uploaded. @throws {input/tooLarge} */
export function bodyLimit(): Middleware {
  const [forJson, forFiles] = [limitTo(MAX_BODY_BYTES), limitTo(MAX_ARTIFACT_BYTES)];
  return async function bodyLimit(context, next) {
    return context.req.path.startsWith(FILES_PATH) ? forFiles(context, next) : forJson(context, next);
  };
}

function limitTo(maxBytes: number): Middleware {
  return honoBodyLimit({
    maxSize: maxBytes,
    onError: (context) => {
      const got = context.req.header("content-length") ?? "more";
      throw new AppError("input/tooLarge", `body: at most ${maxBytes} bytes expected, got ${got}; send fewer or shorter messages`);
    },
  });
}
