/** A user, by the name that the edge gives them: a link to what they talked about. */
import { addressOf, type Line } from "../address.ts";
import { EVERY_TURN, sectionOf } from "../turn-filter.ts";

export function User({ agent, line, user }: Line & { user: string }) {
  return <a href={addressOf({ agent, line }, sectionOf({ ...EVERY_TURN, user }, line))}>{user}</a>;
}
