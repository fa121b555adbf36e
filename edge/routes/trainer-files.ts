/** /trainer/v1/files: bytes by digest. */
import { z } from "zod";
import { ADAPTER_PART_BYTES, Digest, PartsRequest } from "../../shared/policy.ts";
import { joinParts, putPart } from "../artifact-parts.ts";
import { artifactBytes, missingArtifacts, openArtifact, putArtifact, servedArtifact } from "../artifacts.ts";
import type { App } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { found, queryOf } from "./params.ts";
import { wholeNumber } from "../whole-number.ts";

const DigestParam = z.object({ digest: Digest });
const PartParam = DigestParam.extend({ part: Digest });
const Place = z.object({ start: wholeNumber().optional() });

/** Each is asked of R2 by itself, and a request may ask it 50 times on every plan. */
const MOST_ASKED = 40;
const Asked = z.object({ digests: z.array(Digest).max(MOST_ASKED) });
const BINARY = { "content-type": "application/octet-stream" };

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

  // What is larger than a request may be comes in parts, and is a file once they are joined.
  app.put("/trainer/v1/files/:digest/parts/:part", async (context) => {
    const { digest, part } = parseWith(PartParam, context.req.param());
    const bytes = new Uint8Array(await context.req.arrayBuffer());
    await putPart(context.env.ARTIFACTS, { digest, part }, bytes);
    return context.json({ digest: part, bytes: bytes.length });
  });

  app.post("/trainer/v1/files/:digest/parts", async (context) => {
    const { digest } = parseWith(DigestParam, context.req.param());
    const { parts } = await parseJson(context.req.raw, PartsRequest);
    return context.json({ missing: await joinParts(context.env.ARTIFACTS, digest, parts) });
  });

  // With `start`, a part from there on, empty behind the end; whoever asks so checks the whole.
  app.get("/trainer/v1/files/:digest", async (context) => {
    const { digest } = parseWith(DigestParam, context.req.param());
    const { start } = queryOf(context, Place);
    const { ARTIFACTS } = context.env;
    if (start === undefined) return context.body(found(await servedArtifact(ARTIFACTS, digest), `file ${digest}`), 200, BINARY);
    const bytes = found(await artifactBytes(ARTIFACTS, digest), `file ${digest}`);
    if (start >= bytes) return context.body(null, 200, BINARY);
    const range = { offset: start, length: Math.min(ADAPTER_PART_BYTES, bytes - start) };
    return context.body(found(await openArtifact(ARTIFACTS, digest, range), `file ${digest}`).body, 200, BINARY);
  });
}
