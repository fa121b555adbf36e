/** Fields that narrow turns down: what is in them goes into the address, so that it can be sent on, and is there again on the way back. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { addressOf, type Line } from "../address.ts";
import { filterOf, REWARDS, sectionOf, type TurnFilter } from "../turn-filter.ts";

const TYPED_MS = 300; // what is being typed is not asked for letter by letter

export function TurnFilters({ agent, line }: Line) {
  const { query, route } = useLocation();
  const asked = filterOf(query, line);
  const [draft, setDraft] = useState(asked);
  const address = addressOf({ agent, line }, sectionOf(asked, line));
  const own = useRef(address);
  useEffect(() => {
    // Somebody followed a link: what was typed here is in the address already.
    if (own.current !== address) setDraft(asked);
    own.current = address;
  }, [address]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const wanted = addressOf({ agent, line }, sectionOf(draft, line));
      if (wanted === own.current) return;
      own.current = wanted;
      route(wanted, true);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  const set = (change: Partial<TurnFilter>): void => setDraft({ ...draft, ...change });
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Words
          <input type="search" maxLength={200} value={draft.words} onInput={({ currentTarget }) => set({ words: currentTarget.value })} />
        </label>
        <label>
          Judged
          <select value={draft.reward} onChange={({ currentTarget }) => set({ reward: currentTarget.value })}>
            {["", "1", "0", "-1", "none"].map((reward) => (
              <option key={reward} value={reward}>
                {REWARDS[reward]}
              </option>
            ))}
          </select>
        </label>
        <label>
          Version
          <input
            inputMode="numeric"
            pattern="[0-9]*"
            value={draft.version}
            onInput={({ currentTarget }) => set({ version: currentTarget.value })}
          />
        </label>
        <label>
          User
          <input value={draft.user} onInput={({ currentTarget }) => set({ user: currentTarget.value })} />
        </label>
      </form>
    </search>
  );
}
