/** Versions by their numbers, each a link to its page. */
import { Fragment } from "preact";
import { addressOf, type Line } from "../address.ts";

export function VersionLinks({ agent, line, versions }: Line & { versions: readonly number[] }) {
  return (
    <>
      {versions.map((version, at) => (
        <Fragment key={version}>
          {at > 0 && ", "}
          <a href={addressOf({ agent, line }, `versions/${version}`)}>version {version}</a>
        </Fragment>
      ))}
    </>
  );
}
