/**
 * Which adapter has which number in llama.cpp's server: its place among those that the server was started with (pure).
 *
 * The edge reads the numbers and then asks by them. A takeover may come between the two, so a number never means another adapter that is
 * still there: who stays keeps its own, who is new gets one whose adapter is gone, and one that nobody wants holds an adapter once more.
 */

/** @param before adapters by their numbers until now. @param present those that are there, each once */
export function inOrder(before: readonly string[], present: readonly string[]): string[] {
  const newcomers = present.filter((name) => !before.includes(name));
  const kept = before.map((name, id) => (present.includes(name) && before.indexOf(name) === id ? name : newcomers.shift()));
  const [spare] = present;
  return spare === undefined ? [] : [...kept.map((name) => name ?? spare), ...newcomers];
}
