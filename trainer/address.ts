/** Which system a person's command is for: what it was told, then the environment, then what runs from the state folder. */
import { AppError } from "../shared/errors.ts";
import { hostOf } from "./host.ts";

const DEFAULT_URL = "http://127.0.0.1:8787";

/**
 * The address of the system, without a slash at its end. Where nothing runs from the folder it is that of a start without options.
 * @throws {input/invalid} where what was told is no address
 * @throws {upstream/unreachable} where the folder's system is not up yet, or ended without a chance to clean up
 */
export function addressOf({ url, stateFolder }: { url: string | undefined; stateFolder: string }): string {
  const told = url ?? process.env["NEXTSTATE_URL"];
  if (told !== undefined) return checked(told, url === undefined ? "NEXTSTATE_URL" : "--url");
  const host = hostOf(stateFolder);
  if (host === undefined) return DEFAULT_URL;
  const advice = "--url, or NEXTSTATE_URL, names another system";
  if (!host.alive) {
    const where = host.url === undefined ? "" : `, at ${host.url},`;
    throw new AppError(
      "upstream/unreachable",
      `the system of ${stateFolder}${where} has ended; \`npm start\` with the options that it had starts it again; ${advice}`,
    );
  }
  if (host.url === undefined)
    throw new AppError("upstream/unreachable", `the system of ${stateFolder} is starting; wait until it says that it is up; ${advice}`);
  return host.url;
}

function checked(url: string, source: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new AppError("input/invalid", `${source}: http://… or https://… expected, got ${url}`);
  return url.replace(/\/+$/, "");
}
