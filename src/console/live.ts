/** Changes that others make, as they come: one stream for all tabs of this browser. */
import { useEffect, useRef } from "preact/hooks";
import { api } from "./api.ts";

/** A kind of change: `memory`, `fact`, `document`, `job`, `user`; null: anything may have. */
type Changed = string | null;

const LOCK = "memoryd.changes";
const heard = new EventTarget();
const otherTabs = new BroadcastChannel(LOCK);
otherTabs.addEventListener("message", ({ data }: MessageEvent<Changed>) => tellHere(data));

/** A page is not loaded again more often than this, however much is imported. */
const AT_MOST_EVERY_MS = 1_500;
const PAUSE_MS = 5_000;

function tellHere(changed: Changed): void {
  heard.dispatchEvent(new CustomEvent("change", { detail: changed }));
}

/** Runs while somebody is signed in; the tab that has the lock follows the changes and tells the others. */
export function followChanges(signal: AbortSignal): void {
  const follow = async () => {
    while (!signal.aborted) {
      try {
        for await (const change of api.changes({ signal })) {
          const changed = "kind" in change ? (change.kind.split(".")[0] ?? null) : null;
          tellHere(changed);
          otherTabs.postMessage(changed);
        }
      } catch {
        // The frame says when the daemon is gone; this goes on when it is back.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  // Locks are there only where the page came over HTTPS or from this machine.
  if (isSecureContext) navigator.locks.request(LOCK, { signal }, follow).catch(() => undefined);
  else void follow();
}

/** Runs soon after something of these kinds changed. */
export function useChanges(kinds: readonly string[], run: () => void): void {
  const latest = useRef({ kinds, run });
  latest.current = { kinds, run };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastAt = 0;
    const changed = (event: Event) => {
      const { detail: kind } = event as CustomEvent<Changed>;
      if (timer !== undefined || (kind !== null && !latest.current.kinds.includes(kind))) return;
      const wait = Math.max(0, lastAt + AT_MOST_EVERY_MS - Date.now());
      timer = setTimeout(() => {
        timer = undefined;
        lastAt = Date.now();
        latest.current.run();
      }, wait);
    };
    heard.addEventListener("change", changed);
    return () => {
      clearTimeout(timer);
      heard.removeEventListener("change", changed);
    };
  }, []);
}
