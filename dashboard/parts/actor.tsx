/** Who made a move: a key by its name, where whoever looks may know it, else by what the audit wrote down. */
import { API } from "../../shared/api-routes.ts";
import { useResource } from "../resource.ts";

export type KeyNames = ReadonlyMap<string, string>;

/** Names of keys by id, those of revoked ones too; empty while they are loaded. */
export function useKeyNames(): KeyNames {
  const keys = useResource(API.keys.at({}));
  return new Map((keys.data?.keys ?? []).map(({ id, name }) => [id, name]));
}

export function Actor({ actor, names }: { actor: string; names: KeyNames }) {
  const name = names.get(actor.slice(actor.indexOf(":") + 1));
  return name === undefined ? <code>{actor}</code> : <span title={actor}>{name}</span>;
}
