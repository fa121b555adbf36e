/** Who made a move: a key by its name and kind, where whoever looks may know it, else by what the audit wrote down. */
import { API } from "../../shared/api-routes.ts";
import { useResource } from "../resource.ts";

export type KeyNames = ReadonlyMap<string, string>;

/** Names of keys by id, those of revoked ones too; empty while they are loaded. */
export function useKeyNames(): KeyNames {
  const keys = useResource(API.keys.at({}));
  return new Map((keys.data?.keys ?? []).map(({ id, name }) => [id, name]));
}

export function Actor({ actor, names }: { actor: string; names: KeyNames }) {
  const [kind, id = ""] = actor.split(":", 2);
  const name = names.get(id);
  if (kind === "edge") return <span title={actor}>{id === "canary" ? "the trial" : "Nextstate"}, by itself</span>;
  if (name === undefined) return <code>{actor}</code>;
  return (
    <span title={actor}>
      {name} ({kind})
    </span>
  );
}
