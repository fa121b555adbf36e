/**
 * A Worker with the embedded policy and nothing else: what `bench/edge.ts` measures and a test compares with Node.
 * `PUT /files/<digest>` stores a file in the isolate; `POST /complete?base=<digest>` answers a CompletionRequest at
 * once, with all its steps; `GET /stats?base=<digest>`.
 */
import kernelModule from "../edge/kernel/kernel.wasm";
import type { Policy } from "../edge/policy/policy.ts";
import { residentPolicy } from "../edge/policy/resident.ts";
import { toErrorRecord } from "../shared/errors.ts";
import type { PostedAnswer, PostedRequest } from "./edge-protocol.ts";

const files = new Map<string, Uint8Array<ArrayBuffer>>();

export default { fetch: answer };

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  try {
    if (pathname.startsWith("/files/")) {
      files.set(pathname.slice("/files/".length), new Uint8Array(await request.arrayBuffer()));
      return new Response();
    }
    const policy = await residentPolicy({ kernelModule, baseDigest: searchParams.get("base") ?? "", readFile });
    return Response.json(pathname === "/stats" ? policy.stats() : await complete(policy, request));
  } catch (thrown) {
    return Response.json(toErrorRecord(thrown), { status: 500 });
  }
}

async function complete(policy: Policy, request: Request): Promise<PostedAnswer> {
  const posted = (await request.json()) as PostedRequest; // its only senders are this repository's bench and test
  const tokens: PostedAnswer["tokens"] = [];
  for await (const step of policy.complete({ ...posted, readFile })) {
    if (step.kind === "end") return { tokens, end: step };
    tokens.push({ tokenId: step.tokenId, logProb: step.logProb });
  }
  return { tokens, end: undefined };
}

async function readFile(digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = files.get(digest);
  if (bytes === undefined) throw new Error(`file ${digest} expected, got none`);
  return bytes;
}
