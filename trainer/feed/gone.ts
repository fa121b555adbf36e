/** What the edge has no more, such as the files of a version that went. */
import { AppError } from "../../shared/errors.ts";

const GONE = 404;

/** What was read; undefined where the edge answers that it is not there. */
export async function unlessGone<Read>(read: () => Promise<Read>): Promise<Read | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.details["status"] === GONE) return undefined;
    throw error;
  }
}
