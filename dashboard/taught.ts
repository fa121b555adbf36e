/** What corrections said, by the event that each stands in: those of the notes and of the versions that are listed first. */
import { API } from "../shared/api-routes.ts";
import { eventIdOf } from "../shared/hint-id.ts";
import type { Line } from "./address.ts";
import { useResource } from "./resource.ts";

/** @param version another one loads again */
export function useTaught({ agent, line }: Line, version: number): ReadonlyMap<string, readonly string[]> {
  const notes = useResource(API.notes.at({ agent }, { line }), version);
  const versions = useResource(API.versions.at({ agent }, { line }), version);
  const said = [
    ...(notes.data?.notes ?? []).map(({ eventId, text }) => ({ eventId, text })),
    ...(versions.data?.versions ?? []).flatMap(({ events }) =>
      events.flatMap(({ eventId, hint }) => (hint === undefined ? [] : [{ eventId, text: hint }])),
    ),
  ];
  const taught = new Map<string, string[]>();
  for (const { eventId, text } of said) {
    const known = taught.get(eventIdOf(eventId)) ?? [];
    if (!known.includes(text)) taught.set(eventIdOf(eventId), [...known, text]);
  }
  return taught;
}
