/** Invariants: breaks are bugs of ours, so their messages start with `internal:`. */
import { AppError } from "./errors.ts";

/** Narrows to a true condition. @throws {internal} where it is false. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AppError("internal", `internal: ${message}`);
}

/** Marks a branch the types exclude. @throws {internal} where a value reaches it all the same. */
export function assertNever(value: never): never {
  throw new AppError("internal", `internal: unreachable value ${JSON.stringify(value)}`);
}

/** The element at `index`. @throws {internal} outside the array: for loops whose bounds the compiler cannot see. */
export function at<T>(values: ArrayLike<T>, index: number): T {
  const value = values[index];
  invariant(value !== undefined, `index ${index} below ${values.length} expected`);
  return value;
}

/** Pairs two arrays element by element. @throws {internal} where their lengths differ. */
export function zipStrict<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  invariant(left.length === right.length, `equal lengths expected, got ${left.length} and ${right.length}`);
  return left.map((value, index) => [value, at(right, index)]);
}
