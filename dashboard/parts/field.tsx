/** What all fields have: a label, and below it what is wrong with what was written, or else what there is to say of it. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** For the element that is filled in, so that a screen reader reads the words below with it. */
export type Told = { readonly "aria-invalid"?: true; readonly "aria-describedby"?: string };

type Labelled = {
  label: ComponentChildren;
  problem?: string | undefined;
  note?: ComponentChildren;
  children: (told: Told) => ComponentChildren;
};

export function Field({ label, problem, note, children }: Labelled) {
  const words = useId();
  const below = problem ?? note;
  const told: Told = {
    ...(problem === undefined ? {} : { "aria-invalid": true }),
    ...(below === undefined ? {} : { "aria-describedby": words }),
  };
  return (
    <div>
      <label>
        {label}
        {children(told)}
      </label>
      {below !== undefined && (
        <small id={words} class={problem === undefined ? undefined : "wrong"}>
          {below}
        </small>
      )}
    </div>
  );
}
