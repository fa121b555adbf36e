/** /trainer/v1/files: bytes by digest. */
import { z } from "zod";
import { Digest } from "../../shared/policy.ts";
import { getArtifact, missingArtifacts, putArtifact } from "../artifacts.ts";
import type { App } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { found } from "./params.ts";

const DigestParam = z.object({ digest: Digest });

/** Each is asked of R2 by itself, and a request may ask it 50 times on every plan. */
const MOST_ASKED = 40;
const Asked = z.object({ digests: z.array(Digest).max(MOST_ASKED) });

export function mountTrainerFiles(app: App): void {
  // Before an upload that goes on where it broke off.
  app.post("/trainer/v1/files/missing", async (context) => {
    const { digests } = await parseJson(context.req.raw, Asked);
    return context.json({ missing: await missingArtifacts(context.env.ARTIFACTS, digests) });
  });

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
