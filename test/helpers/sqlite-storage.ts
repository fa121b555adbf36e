/** A Durable Object's storage over node:sqlite, for what is pure SQL and needs another clock, or an object of an earlier release. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

export function sqliteStorage(): DurableObjectStorage {
  const database = new DatabaseSync(":memory:");
  const exec = (query: string, ...bindings: SQLInputValue[]) => {
    const rows =
      /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(query) && !/;\s*\S/.test(query)
        ? database.prepare(query).all(...bindings)
        : (database.exec(query), []);
    return { toArray: () => rows, one: () => rows[0], [Symbol.iterator]: () => rows[Symbol.iterator]() };
  };
  const transactionSync = <Value>(body: () => Value): Value => {
    database.exec("SAVEPOINT step");
    try {
      return body();
    } finally {
      database.exec("RELEASE step");
    }
  };
  return { sql: { exec }, transactionSync } as unknown as DurableObjectStorage;
}
