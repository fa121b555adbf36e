/** What was changed and not saved is not lost without a question: by a link, or the page being closed. */
import { useEffect } from "preact/hooks";

const QUESTION = "There are changes that are not saved. Leave them behind?";

export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const close = (event: BeforeUnloadEvent): void => event.preventDefault();
    const follow = (event: MouseEvent): void => {
      const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
      const stays = link === undefined || link.target !== "" || event.ctrlKey || event.metaKey || event.shiftKey;
      if (stays || link.getAttribute("href")?.startsWith("#") === true || window.confirm(QUESTION)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("beforeunload", close);
    // Before whoever follows links hears of it.
    document.addEventListener("click", follow, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", close);
      document.removeEventListener("click", follow, { capture: true });
    };
  }, [isUnsaved]);
}
