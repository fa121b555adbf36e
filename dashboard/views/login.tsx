/** Where a person comes in: an admin key for a cookie. */
import { useState } from "preact/hooks";
import type { Login } from "../../shared/api.ts";
import { ApiError, logIn } from "../api.ts";
import { Problem } from "../parts/shown.tsx";
import { useAction } from "../resource.ts";

function explain(thrown: unknown): never {
  throw thrown instanceof ApiError && thrown.status === 401 ? new Error("This key is not known, or was revoked or has expired.") : thrown;
}

/** @param props.ended there was a login, and it ended by itself */
export function LoginForm({ ended, onLogin }: { ended: boolean; onLogin: (login: Login) => void }) {
  const [key, setKey] = useState("");
  const { run, busy, error } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => onLogin(await logIn(key.trim()).catch(explain)));
  };
  return (
    <main class="container login">
      <article>
        <h1>Nextstate</h1>
        {ended && <p role="status">Your login has ended, as it does after 12 hours or when its key changes. Log in again.</p>}
        <form onSubmit={submit}>
          <label>
            Admin key
            <input
              type="password"
              name="key"
              autocomplete="current-password"
              required
              value={key}
              aria-describedby="where"
              onInput={({ currentTarget }) => setKey(currentTarget.value)}
            />
          </label>
          <small id="where">
            <code>npm start</code> says where it is: <code>admin</code> in the <code>keys.json</code> of its state folder,{" "}
            <code>.nextstate</code> where no other was named.
          </small>
          <Problem error={error} />
          <button type="submit" aria-busy={busy} disabled={busy || key.trim() === ""}>
            Log in
          </button>
        </form>
      </article>
    </main>
  );
}
