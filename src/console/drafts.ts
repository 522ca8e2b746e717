/** What was typed and not saved yet: it outlives the form that it was typed in, until the tab is closed. */
import { useState } from "preact/hooks";

const drafts = new Map<string, unknown>();

addEventListener("beforeunload", (event) => {
  if (drafts.size > 0) event.preventDefault();
});

export const hasDraft = (name: string): boolean => drafts.has(name);

/** The fields of the form of that name. They are no draft while they are as at its beginning. */
export function useDraft<T extends object>(name: string, empty: T) {
  const [draft, setDraft] = useState(() => (drafts.get(name) as T | undefined) ?? empty);
  return {
    draft,
    change: (changes: Partial<T>) => {
      const next = { ...draft, ...changes };
      if (JSON.stringify(next) === JSON.stringify(empty)) drafts.delete(name);
      else drafts.set(name, next);
      setDraft(next);
    },
    forget: () => {
      drafts.delete(name);
      setDraft(empty);
    },
  };
}
