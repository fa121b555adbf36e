/** Every route for clients and people, as the OpenAPI document tells of it. A test holds the list to the routes. */
import { z, type ZodType } from "zod";
import { Parameters } from "../openai/request.ts";
import { InputItemsQuery } from "../responses/input-items.ts";
import { ResponseParameters } from "../responses/request.ts";
import { AgentDeletionQuery } from "../routes/api-agent-deletion.ts";
import { SettingsRequest } from "../routes/agent-settings.ts";
import { AuditQuery, EventsQuery } from "../routes/api-agents.ts";
import { KeyRequest, RevokeQuery } from "../routes/api-keys.ts";
import { LoginRequest } from "../routes/api-login.ts";
import { NotesQuery } from "../routes/api-notes.ts";
import { PlaygroundRequest } from "../routes/api-playground.ts";
import { BarRequest, LetInRequest, QuarantinePage } from "../routes/api-quarantine.ts";
import { PromoteRequest, RollbackRequest } from "../routes/api-release.ts";
import { SeriesQuery } from "../routes/api-series.ts";
import { StreamQuery } from "../routes/api-stream.ts";
import { CasePage, CaseRequest } from "../routes/api-suite.ts";
import { TurnsQuery } from "../routes/api-turns.ts";
import { Feedback } from "../routes/feedback.ts";
import { RetrieveQuery } from "../routes/responses.ts";
import { WhoQuery } from "../routes/api-users.ts";
import { VersionsQuery } from "../routes/api-versions.ts";
import { BackwardPage, ForwardPage, LineQuery } from "../routes/params.ts";

export type Operation = {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly key: "client" | "admin" | null;
  readonly query?: ZodType;
  readonly body?: ZodType;
  /** Status of success, 200 where left out. */
  readonly status?: 200 | 201;
  /** What has begun where the answer is 202 instead. */
  readonly later?: string;
  readonly type?: "application/json" | "text/event-stream" | "application/octet-stream";
};

const AGENT = "/api/agents/{agent}";
const MergePatch = z.record(z.string(), z.unknown()).describe("JSON merge patch (RFC 7396) of the settings");

const CLIENT: readonly Omit<Operation, "key">[] = [
  { method: "post", path: "/v1/chat/completions", summary: "An answer, whole or streamed", body: Parameters },
  {
    method: "post",
    path: "/v1/responses",
    summary: "An answer in the form of the Responses API, whole or streamed",
    body: ResponseParameters,
  },
  { method: "get", path: "/v1/responses/{response}", summary: "A stored response", query: RetrieveQuery },
  {
    method: "get",
    path: "/v1/responses/{response}/input_items",
    summary: "What a stored response was given, in pages",
    query: InputItemsQuery,
  },
  { method: "delete", path: "/v1/responses/{response}", summary: "Ends that a response can be read or continued by its id" },
  { method: "get", path: "/v1/models", summary: "The agents that the key reaches, as models" },
  { method: "get", path: "/v1/models/{model}", summary: "One agent, as a model" },
  {
    method: "post",
    path: "/v1/feedback",
    summary: "Score, correction, the answer as it should have been, or comment for an answer, by its id",
    body: Feedback,
  },
];

const ADMIN: readonly Omit<Operation, "key">[] = [
  { method: "get", path: "/api/agents", summary: "The agents that the key reaches, by name, with what answers", query: ForwardPage },
  { method: "get", path: AGENT, summary: "An agent with its settings" },
  { method: "put", path: AGENT, summary: "Creates an agent, or replaces all its settings", body: SettingsRequest },
  { method: "patch", path: AGENT, summary: "Changes some settings", body: MergePatch },
  {
    method: "delete",
    path: AGENT,
    summary: "Deletes an agent with all that it has and all that was said to it",
    query: AgentDeletionQuery,
  },
  { method: "get", path: `${AGENT}/deletion`, summary: "Whether the deletion of an agent is done, or still erasing" },
  { method: "post", path: `${AGENT}/pause`, summary: "Stops learning; serving goes on" },
  { method: "post", path: `${AGENT}/resume`, summary: "Goes on learning" },
  {
    method: "get",
    path: `${AGENT}/lines`,
    summary: "The shared line, and those of users who have a version of their own",
    query: ForwardPage,
  },
  { method: "get", path: `${AGENT}/versions`, summary: "Versions with lineage, newest first", query: VersionsQuery },
  {
    method: "get",
    path: `${AGENT}/versions/{version}`,
    summary: "One version: events, users, hints, gate report, changes",
    query: LineQuery,
  },
  {
    method: "get",
    path: `${AGENT}/versions/{version}/files/{file}`,
    summary: "adapter_config.json or adapter_model.safetensors of a version, as PEFT writes them",
    query: LineQuery,
    type: "application/octet-stream",
  },
  { method: "get", path: `${AGENT}/release`, summary: "What answers, and how the trial of the canary stands", query: LineQuery },
  {
    method: "post",
    path: `${AGENT}/promote`,
    summary: "Makes a version in flight the stable one",
    query: LineQuery,
    body: PromoteRequest,
  },
  {
    method: "post",
    path: `${AGENT}/rollback`,
    summary: "Makes another version the stable one, and un-learns what is left",
    query: LineQuery,
    body: RollbackRequest,
  },
  { method: "get", path: `${AGENT}/engine`, summary: "The engine: what it can do, which adapters it holds, which could not be unloaded" },
  { method: "get", path: `${AGENT}/audit`, summary: "Who moved what and why, newest first", query: AuditQuery },
  { method: "get", path: `${AGENT}/events`, summary: "The log, oldest first", query: EventsQuery },
  { method: "get", path: `${AGENT}/events/{event}`, summary: "One event, and the versions that learned from it" },
  {
    method: "get",
    path: `${AGENT}/turns`,
    summary: "Turns with what followed them, judgements and hints, newest first",
    query: TurnsQuery,
  },
  { method: "post", path: `${AGENT}/feedback`, summary: "The same for any user's completion", body: Feedback },
  {
    method: "get",
    path: `${AGENT}/trainer`,
    summary: "What the trainer is doing, and what is missing until it learns again",
    query: LineQuery,
  },
  { method: "get", path: `${AGENT}/series`, summary: "Turns, rewards and corrections by hour or day", query: SeriesQuery },
  { method: "get", path: `${AGENT}/stream`, summary: "Events and moves as they happen", query: StreamQuery, type: "text/event-stream" },
  { method: "get", path: `${AGENT}/users/{user}`, summary: "What was learned from a user, and by which versions" },
  {
    method: "post",
    path: `${AGENT}/playground`,
    summary: "An answer of what users get now, kept, or of a version of choice, not kept",
    body: PlaygroundRequest,
  },
  { method: "get", path: `${AGENT}/quarantine`, summary: "Events barred from learning", query: QuarantinePage },
  { method: "post", path: `${AGENT}/quarantine`, summary: "Bars events, or all that a user said, from learning", body: BarRequest },
  { method: "post", path: `${AGENT}/quarantine/release`, summary: "Lets events be learned from again", body: LetInRequest },
  { method: "get", path: `${AGENT}/suite`, summary: "What every version must still do, oldest first", query: CasePage },
  { method: "post", path: `${AGENT}/suite`, summary: "Adds a case", body: CaseRequest, status: 201 },
  { method: "delete", path: `${AGENT}/suite/{case}`, summary: "Deletes a case", query: LineQuery },
  { method: "get", path: `${AGENT}/notes`, summary: "Notes with their status, newest first", query: NotesQuery },
  { method: "delete", path: `${AGENT}/notes/{note}`, summary: "Takes a note out of force", query: LineQuery },
  { method: "get", path: "/api/keys", summary: "The keys whose agents the asking key reaches, newest first" },
  { method: "post", path: "/api/keys", summary: "Makes a key, and shows it once", body: KeyRequest, status: 201 },
  { method: "post", path: "/api/keys/{key}/rotate", summary: "Gives a key another secret; the old one is dead at once" },
  { method: "delete", path: "/api/keys/{key}", summary: "Revokes a key at once, and with it what it has made", query: RevokeQuery },
  {
    method: "get",
    path: "/api/audit",
    summary: "Who made, rotated or revoked which key and deleted which agent, newest first",
    query: BackwardPage,
  },
  { method: "get", path: "/api/users", summary: "The id of a user, by key and name", query: WhoQuery },
  {
    method: "delete",
    path: "/api/users/{user}",
    summary: "Deletes what a user said, and has versions made with it rebuilt without",
    later: "What the user said is deleted; versions are being rebuilt",
  },
  { method: "get", path: "/api/users/{user}/deletion", summary: "Whether a deletion is done, or still erasing or rebuilding" },
  { method: "get", path: "/api/stats", summary: "Totals by agent" },
];

const OPEN: readonly Omit<Operation, "key">[] = [
  { method: "get", path: "/api/openapi.json", summary: "This document" },
  { method: "post", path: "/api/login", summary: "Turns an admin key into a cookie, for the dashboard", body: LoginRequest },
  { method: "get", path: "/api/login", summary: "Who is logged in, null where nobody is, and what changes have to carry as x-csrf-token" },
  { method: "delete", path: "/api/login", summary: "Ends the login" },
  { method: "get", path: "/healthz", summary: "Whether the edge is up" },
];

export const OPERATIONS: readonly Operation[] = [
  ...CLIENT.map((operation) => ({ ...operation, key: "client" as const })),
  ...ADMIN.map((operation) => ({ ...operation, key: "admin" as const })),
  ...OPEN.map((operation) => ({ ...operation, key: null })),
];
