/** A user, by the name that the edge gives them: a link to what they talked about. */
import { addressOf, type Line } from "../address.ts";
import { sectionOf } from "../turn-filter.ts";

export function User({ agent, line, user }: Line & { user: string }) {
  const turns = { words: "", reward: "", version: "", user };
  return <a href={addressOf({ agent, line }, sectionOf(turns, line))}>{user}</a>;
}
