import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MemorydError } from "../client/client.ts";
import { reasonOf } from "./api.ts";

export interface Loaded<T> {
  /** The last that came; undefined before the first. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const RETRY_MS = 5_000;

/** Loads whenever something in `inputs` is another, and again while the daemon cannot be reached; what is under way then is given up. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>(NOTHING);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  useEffect(() => {
    const control = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    setState(({ value }) => ({ value, error: undefined, isLoading: true }));
    load(control.signal).then(
      (value) => {
        if (!control.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (control.signal.aborted) return;
        const isUnreachable = error instanceof MemorydError && error.status === 0;
        if (isUnreachable) retry = setTimeout(reload, RETRY_MS);
        setState(({ value }) => ({ value, error: reasonOf(error), isLoading: false }));
      },
    );
    return () => {
      control.abort();
      clearTimeout(retry);
    };
  }, [...inputs, round]);
  return { ...state, reload };
}

const NOTHING = { value: undefined, error: undefined, isLoading: true };

/** The value once it has stayed the same for that long. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Runs again and again while `isOn`, that long apart. */
export function useEvery(ms: number, isOn: boolean, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

export type Route = { readonly page: string; readonly at: Readonly<Record<string, string>> };

/** The page and parameters of an address: `#/notes?tag=garden`. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { page: path === "" ? "home" : path, at: Object.fromEntries(new URLSearchParams(query)) };
}

export function hashOf(page: string, at: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(at))
    if (value !== undefined && value !== "") query.set(name, value);
  return `#/${page}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", changed);
    // It may have changed since the first look.
    changed();
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** Goes there; `replace`: without a step back. */
export function go(hash: string, { replace = false } = {}): void {
  if (hash === location.hash) return;
  if (!replace) location.hash = hash;
  else {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

/** For what takes the focus as it appears: the attribute does that only once in a document. */
export function useFocus<T extends HTMLElement>(isOn = true): RefObject<T | null> {
  const ref = useRef<T>(null);
  useLayoutEffect(() => {
    if (isOn) ref.current?.focus();
  }, []);
  return ref;
}

/** Keys that move from a question to its answers. */
const LEAVING = new Set(["ArrowDown", "ArrowUp", "Enter"]);

/** Keys of the page, but not while somebody writes in a field. `handlers` by `event.key`. */
export function useKeys(handlers: Readonly<Record<string, () => void>>): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  // Before the page is painted: a key pressed at what is seen is heard.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      const isSearch = target instanceof HTMLInputElement && target.type === "search";
      // A closed dialog keeps the focus until the next paint.
      const isField =
        target instanceof HTMLElement && target.closest("input,textarea,select,dialog[open]") !== null;
      if (isField && !(isSearch && LEAVING.has(event.key))) return;
      const run = latest.current[event.key];
      if (run === undefined) return;
      event.preventDefault();
      // The next key is for the note that opens.
      if (isSearch && event.key === "Enter") target.blur();
      run();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Moves through the rows of a list by arrows, `j` and `k`; Enter opens one. @returns its index, -1 before the first move. */
export function useRows<T>(rows: readonly T[], open: (row: T) => void): number {
  const [current, setCurrent] = useState(-1);
  const move = (step: number) => setCurrent((n) => Math.max(0, Math.min(rows.length - 1, n + step)));
  useKeys({
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows[current];
      if (row !== undefined) open(row);
    },
  });
  return current;
}
