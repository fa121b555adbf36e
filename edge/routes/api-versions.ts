/** /api/agents/:agent/lines and …/versions: every line's versions, what each was made of, and its files. */
import { z } from "zod";
import { agentOf } from "../agent/port.ts";
import { servedArtifact } from "../artifacts.ts";
import type { App } from "../env.ts";
import { parseWith } from "../http-errors.ts";
import { agentParam, BackwardPage, ForwardPage, found, lineQuery, LineQuery, queryOf, titleOf, versionParam } from "./params.ts";

/** An adapter in PEFT's format. */
const ADAPTER_FILES = ["adapter_config.json", "adapter_model.safetensors"] as const;
export const VersionsQuery = BackwardPage.extend(LineQuery.shape);

export function mountVersions(app: App): void {
  app.get("/api/agents/:agent/lines", async (context) => {
    const name = agentParam(context);
    const page = queryOf(context, ForwardPage);
    return context.json({ lines: found(await agentOf(context.env, name).lines(page), `agent ${name}`) });
  });

  app.get("/api/agents/:agent/versions", async (context) => {
    const name = agentParam(context);
    const { line, ...page } = queryOf(context, VersionsQuery);
    const head = found(await agentOf(context.env, name).head(line), titleOf(name, line));
    const versions = await agentOf(context.env, name).versions(line, page);
    return context.json({ stable: head.stable, latest: head.latest, cursor: head.cursor, versions });
  });

  app.get("/api/agents/:agent/versions/:version", async (context) => {
    const [name, line, version] = [agentParam(context), lineQuery(context), versionParam(context)];
    const listed = found(await agentOf(context.env, name).version(line, version), `version ${version} of ${titleOf(name, line)}`);
    return context.json({ ...listed, users: [...new Set(listed.events.map(({ user }) => user))] });
  });

  app.get("/api/agents/:agent/versions/:version/files/:file", async (context) => {
    const [name, line, version] = [agentParam(context), lineQuery(context), versionParam(context)];
    const { file } = parseWith(z.object({ file: z.enum(ADAPTER_FILES) }), context.req.param());
    const { adapter } = found(await agentOf(context.env, name).version(line, version), `version ${version} of ${titleOf(name, line)}`);
    const digest = file === "adapter_config.json" ? adapter?.configDigest : adapter?.weightsDigest;
    const stored = digest === undefined ? undefined : await servedArtifact(context.env.ARTIFACTS, digest);
    const bytes = found(stored, `${file} of version ${version} of ${titleOf(name, line)}`);
    context.header("content-disposition", `attachment; filename="${file}"`);
    context.header("content-type", file.endsWith(".json") ? "application/json" : "application/octet-stream");
    return context.body(bytes);
  });
}
