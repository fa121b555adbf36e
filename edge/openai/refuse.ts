/** Refusals of a request, each naming the parameter at fault as OpenAI clients expect it. */
import { AppError } from "../../shared/errors.ts";

/** A value of the wrong shape or out of range. */
export function invalid(param: string, message: string): AppError {
  return new AppError("input/invalid", `${param}: ${message}`, { details: { param } });
}

/** A value that the API knows and this server cannot honour. */
export function unsupported(param: string, message: string): AppError {
  return new AppError("input/unsupported", `${param}: ${message}`, { details: { param } });
}
