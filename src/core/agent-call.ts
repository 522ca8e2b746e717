import type { DocumentOperations } from "./documents/document-operations.ts";
import type { Operations } from "./operations.ts";

/** A request of an agent, past every guard; the operations are its caller's. `Tools`: the tools that it may call. */
export interface AgentCall<Tools> {
  /** Method, address and headers; the body is in `body`. */
  readonly request: Request;
  readonly body: unknown;
  readonly operations: Operations;
  readonly documents: DocumentOperations;
  /** Id of the key, by which adds are counted; undefined for the owner, whose clients are told apart by their names. */
  readonly adder: string | undefined;
  readonly mayWrite: boolean;
  /** The client's name in a header, and the name of its key. */
  readonly clientHeader: string | undefined;
  readonly keyName: string | undefined;
  readonly project: string | null;
  readonly userId: string | undefined;
  readonly tools: Tools;
}
