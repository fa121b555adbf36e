/** One work at a time, in the order in which it comes. Updates and gates of all lines share one engine so, a gate before every update that waits. */
export type WorkQueue = {
  /** A candidate that is finished and waits for its gate serves nobody, while an update that waits has cost nothing yet. @param options.first before all that waits without it */
  <T>(work: () => Promise<T>, options?: { readonly first?: boolean }): Promise<T>;
  /** Whether nothing is at work and nothing waits. */
  idle(): boolean;
};

export type Queued = <T>(work: () => Promise<T>) => Promise<T>;

export function createWorkQueue(): WorkQueue {
  const gates: (() => Promise<void>)[] = [];
  const others: (() => Promise<void>)[] = [];
  let atWork = false;
  const next = async (): Promise<void> => {
    if (atWork) return;
    atWork = true;
    for (let work = take(); work !== undefined; work = take()) await work();
    atWork = false;
  };
  const take = (): (() => Promise<void>) | undefined => gates.shift() ?? others.shift();
  const queued = <T>(work: () => Promise<T>, { first = false }: { readonly first?: boolean } = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      // The caller hears of a failure; the others go on.
      (first ? gates : others).push(async () => {
        try {
          resolve(await work());
        } catch (thrown) {
          reject(thrown);
        }
      });
      void next();
    });
  return Object.assign(queued, { idle: () => !atWork });
}
