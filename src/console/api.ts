/** The daemon as this tab sees it: one client, with the key or token of whoever signed in. */
import { createClient, type MemorydClient, MemorydError, type Session } from "../client/client.ts";

/** Sent on `window` when the daemon wants a key that this tab does not have, or no longer. */
export const SIGNED_OUT = "memoryd:signed-out";

/** In the storage of this tab alone: another tab, and the next start of the browser, do not have it. */
const KEPT_KEY = "memoryd.key";

const CLIENT = "console";

/** The one client; a page must not keep it over a sign-in. */
export let api: MemorydClient = connect(sessionStorage.getItem(KEPT_KEY) ?? undefined);

/** One request as it stands, whatever is answered; for the reference, also of a tab that is signed out. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ "x-memoryd-client": CLIENT, ...(init.headers as Record<string, string>) });
  const key = sessionStorage.getItem(KEPT_KEY);
  if (key !== null) headers.set("authorization", `Bearer ${key}`);
  return await fetch(path, { ...init, headers, cache: "no-store" });
}

function connect(apiKey: string | undefined): MemorydClient {
  let refused: Response | undefined;
  return createClient({
    url: location.origin,
    clientName: CLIENT,
    ...(apiKey !== undefined && { apiKey }),
    fetch: async (input, init) => {
      // A key that was refused is not sent again: pages that wait below the sign-in would ask all the time.
      if (refused !== undefined && new Request(input).url !== `${location.origin}/livez`)
        return refused.clone();
      const response = await fetch(input, { ...init, cache: "no-store" });
      if (response.status === 401) {
        refused = response.clone();
        dispatchEvent(new Event(SIGNED_OUT));
      }
      return response;
    },
  });
}

export function useKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(KEPT_KEY);
  else sessionStorage.setItem(KEPT_KEY, key);
  api = connect(key);
}

const SIGN_IN = /^#code=([\w-]+)$/;

/** Whether the fragment of an address holds a code of `memoryd open`. */
export const isSignIn = (hash: string): boolean => SIGN_IN.test(hash);

/** The session of this tab. Uses up a code that `memoryd open` left in the address. @throws {MemorydError} UNAUTHORIZED. */
export async function openSession(): Promise<Session> {
  const code = SIGN_IN.exec(location.hash)?.[1];
  if (code !== undefined) {
    // Before anything else, so that it stands in no history.
    history.replaceState(null, "", location.pathname);
    useKey(undefined);
    const { token } = await api.call<{ token: string }>({ method: "POST", path: "/session", body: { code } });
    useKey(token);
  }
  return await api.call<Session>({ method: "GET", path: "/session" });
}

/** Ends the token of `memoryd open`; a key is only forgotten by this tab. */
export async function closeSession(): Promise<void> {
  try {
    await api.call({ method: "DELETE", path: "/session" });
  } finally {
    useKey(undefined);
  }
}

const AT_ONCE = 8;

/** Changes notes, some at a time. One that is gone meanwhile is no error. */
export async function forEach<T>(items: readonly T[], change: (item: T) => Promise<unknown>): Promise<void> {
  const unlessGone = (error: unknown) => {
    if (!(error instanceof MemorydError && error.status === 404)) throw error;
  };
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map((item) => change(item).catch(unlessGone)));
}

/** For people. */
export function reasonOf(error: unknown): string {
  return error instanceof MemorydError ? error.detail : String(error);
}
