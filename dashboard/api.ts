/** `/api` as the dashboard asks it: with the login's cookie, and the token that goes with it where something changes. */
import type { Login } from "../shared/api.ts";
import { API, type Asked } from "../shared/api-routes.ts";

type Refusal = { readonly message: string; readonly param: string | null };

/** What the edge refused, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  /** The member of the request that is at fault, as a path. */
  readonly param: string | null;

  constructor(status: number, { message, param }: Refusal) {
    super(message);
    this.status = status;
    this.param = param;
  }
}

/** No answer came, not even a refusal. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("Nextstate cannot be reached; try again.", { cause });
  }
}

let csrf = "";
let onEnded = (): void => {};
let onReached = (_reached: boolean): void => {};

/** Tells when the edge no longer knows the login. */
export function whenLoginEnds(listener: () => void): void {
  onEnded = listener;
}

/** Tells after each request whether it was answered. */
export function whenReached(listener: (reached: boolean) => void): void {
  onReached = listener;
}

/** Who is logged in; null where nobody is, or no longer. */
export async function readLogin(): Promise<Login | null> {
  try {
    const { login } = await get(API.login.at({}));
    return login === null ? null : remember(login);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export async function logIn(key: string): Promise<Login> {
  return remember(await send(API.logIn.at({}), { key }));
}

export async function logOut(): Promise<void> {
  await send(API.logOut.at({}));
}

export function get<Answer>(asked: Asked<Answer>): Promise<Answer> {
  return send(asked);
}

/** @throws {ApiError | Unreachable} with what the edge says is wrong, or that nothing answers */
export async function send<Answer, Body>(asked: Asked<Answer, Body>, ...[body]: Body extends undefined ? [] : [Body]): Promise<Answer> {
  const response = await request(asked, body);
  return (await response.json()) as Answer;
}

/** The answer as it comes, for streams. @throws {ApiError | Unreachable} */
export async function request({ method, path }: Asked<unknown, unknown>, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(method === "GET" ? {} : { "x-csrf-token": csrf }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    onReached(false);
    throw new Unreachable(cause);
  });
  onReached(true);
  if (response.status === 401 && path !== API.login.template) onEnded();
  if (!response.ok) throw new ApiError(response.status, await refusalOf(response));
  return response;
}

async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Refusal> };
    return { message: error?.message ?? text, param: error?.param ?? null };
  } catch {
    return { message: text === "" ? `${response.status} ${response.statusText}` : text, param: null };
  }
}

function remember(login: Login): Login {
  csrf = login.csrf;
  return login;
}
