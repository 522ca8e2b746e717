/** Shared by every page: who is signed in, and how to say what was done. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "../client/client.ts";
import type { Route } from "./hooks.ts";

export interface PageProps {
  /** The parameters in the address. */
  readonly at: Route["at"];
}

export interface Message {
  readonly text: string;
  /** Takes back what was done, or what `label` says. */
  readonly undo?: () => Promise<unknown>;
  readonly label?: string;
}

export const SessionContext = createContext<Session | undefined>(undefined);
export const MessageContext = createContext<(message: Message | undefined) => void>(() => undefined);

/** The owner of this tab; only asked below a session. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new TypeError("outside of a session");
  return session;
}

/** Whether this tab may change anything. */
export const useMayWrite = (): boolean => useSession().scope !== "read";

/** Tells at the edge of the page what was done, in place of what stands there; undefined: nothing any more. */
export const useTell = (): ((message: Message | undefined) => void) => useContext(MessageContext);
