/** The end of an agent: asked for by its name, since nothing of it can be had back. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import { send } from "../api.ts";
import { Dialog } from "./dialog.tsx";

export function DeleteAgent({ agent, onDeleted }: { agent: string; onDeleted: () => void }) {
  const [asking, setAsking] = useState(false);
  const [typed, setTyped] = useState("");
  const { route } = useLocation();
  const remove = async (): Promise<void> => {
    await send(API.deleteAgent.at({ agent }, { confirm: typed }));
    onDeleted();
    route("/");
  };
  return (
    <section>
      <h2>Delete the agent</h2>
      <p>Its endpoint answers 404 from then on, and nothing of it can be had back.</p>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete {agent}
      </button>
      {asking && (
        <Dialog
          title={`Delete ${agent}?`}
          verb={`Delete ${agent}`}
          keep="Keep it"
          danger
          disabled={typed !== agent}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        >
          <p>
            Its versions, all that was said to it, its notes, suite and settings go for good, and keys that reach it alone are revoked. A
            line under Keys says that it was there.
          </p>
          <label>
            Its name, so that it is this one
            <input name="confirm" autocomplete="off" value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </label>
        </Dialog>
      )}
    </section>
  );
}
