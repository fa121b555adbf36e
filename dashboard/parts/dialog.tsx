/** A question before something is changed. The browser's own dialog: it keeps the focus, and Escape closes it. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAction } from "../resource.ts";
import { Problem } from "./shown.tsx";

type Asked = {
  title: string;
  /** What the button does, as a verb. */
  verb: string;
  /** What the other button does, which closes the dialog. */
  keep?: string;
  danger?: boolean;
  disabled?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
};

export function Dialog({ title, verb, keep = "Cancel", danger = false, disabled = false, onConfirm, onClose, children }: Asked) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { run, busy, error } = useAction();
  useEffect(() => element.current?.showModal(), []);
  const confirm = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await onConfirm();
      element.current?.close();
    });
  };
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={onClose}>
      <article>
        <form onSubmit={confirm}>
          <h2 id={heading}>{title}</h2>
          {children}
          <Problem error={error} />
          <footer>
            <button type="button" class="secondary" onClick={() => element.current?.close()}>
              {keep}
            </button>
            <button type="submit" class={danger ? "danger" : ""} aria-busy={busy} disabled={busy || disabled}>
              {verb}
            </button>
          </footer>
        </form>
      </article>
    </dialog>
  );
}
