/** /trainer/v1/files: bytes by digest. */
import { z } from "zod";
import { Digest } from "../../shared/policy.ts";
import { getArtifact, putArtifact } from "../artifacts.ts";
import type { App } from "../env.ts";
import { parseWith } from "../http-errors.ts";
import { found } from "./params.ts";

const DigestParam = z.object({ digest: Digest });

export function mountTrainerFiles(app: App): void {
  app.put("/trainer/v1/files/:digest", async (context) => {
    const { digest } = parseWith(DigestParam, context.req.param());
    const bytes = new Uint8Array(await context.req.arrayBuffer());
    await putArtifact(context.env.ARTIFACTS, digest, bytes);
    return context.json({ digest, bytes: bytes.length });
  });

  app.get("/trainer/v1/files/:digest", async (context) => {
    const { digest } = parseWith(DigestParam, context.req.param());
    const bytes = found(await getArtifact(context.env.ARTIFACTS, digest), `file ${digest}`);
    return context.body(bytes, 200, { "content-type": "application/octet-stream" });
  });
}
