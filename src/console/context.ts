/** Shared by every page: who is signed in, and how to say what was done. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "./api.ts";
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

/** Only asked below the provider that the frame makes of a session. */
export const SessionContext = createContext({} as Session);
export const MessageContext = createContext<(message: Message | undefined) => void>(() => undefined);

/** The owner of this tab. */
export const useSession = (): Session => useContext(SessionContext);

/** Tells at the edge of the page what was done, in place of what stands there; undefined: nothing any more. */
export const useTell = (): ((message: Message | undefined) => void) => useContext(MessageContext);
