/** What a refusal says, and of which parameter. */
import { AppError } from "../../shared/errors.ts";

export function refusal(run: () => unknown): { param: unknown; message: string } {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof AppError) return { param: thrown.details["param"], message: thrown.message };
    throw thrown;
  }
  throw new Error("a refusal expected, got none");
}
