/** Keys of judge servers, in the trainer's own environment: NEXTSTATE_JUDGE_<name>_KEY, and in …_URL the one place that it may be sent to. */
import { AppError } from "../../../shared/errors.ts";
import type { JudgeServer } from "../../../shared/judge.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The key to send; undefined where the settings name none. Whoever may set an agent's judge names a key and a URL, and could name a key of
 * somebody else's and a URL of their own: so the trainer's owner says where each key goes. @throws {judge/unavailable}
 */
export function judgeKey({ secret, url }: JudgeServer, environment: Environment): string | undefined {
  if (secret === null) return undefined;
  const [keyName, urlName] = [`NEXTSTATE_JUDGE_${secret}_KEY`, `NEXTSTATE_JUDGE_${secret}_URL`];
  const [key, home] = [environment[keyName], environment[urlName]];
  if (key === undefined || home === undefined) {
    const missing = [keyName, urlName].filter((name) => environment[name] === undefined);
    throw unavailable(`${keyName} and ${urlName} expected in the trainer's environment, got no ${missing.join(" and no ")}`);
  }
  if (!isWithin(url, home)) throw unavailable(`a URL at ${home}, which ${urlName} names for this key, expected, got ${url}`);
  return key;
}

/** Same origin, and the path at or below the other's. */
function isWithin(url: string, home: string): boolean {
  if (!URL.canParse(home)) return false;
  const [inner, outer] = [new URL(url), new URL(home)];
  const folder = (path: string): string => `${path.replace(/\/+$/, "")}/`;
  return inner.origin === outer.origin && folder(inner.pathname).startsWith(folder(outer.pathname));
}

function unavailable(detail: string): AppError {
  return new AppError("judge/unavailable", `learning.judge: ${detail}`);
}
