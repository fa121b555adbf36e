/** The edge's one logger: a JSON object per line. */
type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Logs a thrown value with its stack; stacks go to the log and never to a client. */
export function logError(event: string, thrown: unknown, fields: LogFields = {}): void {
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  // oxlint-disable-next-line no-console -- the one logger
  console.error(JSON.stringify({ event, ...fields, error: stack }));
}
