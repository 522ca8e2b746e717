import { connect as connectSocket } from "node:net";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { notReady, type ServiceError, storeFull } from "../../core/errors.ts";

/** Rows as arrays of their columns. */
export type Query = <Row extends readonly unknown[]>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** A connection with a transaction on it. */
export interface Transaction {
  readonly query: Query;
  commit(): Promise<void>;
  /** Ends it without its changes; after `commit` nothing. Never rejects. */
  end(): Promise<void>;
}

/** A database server over a bounded number of connections; every wait on it ends. */
export interface Database {
  readonly query: Query;
  /** @param mode of one that only reads. */
  begin(mode?: "isolation level repeatable read read only"): Promise<Transaction>;
  close(): Promise<void>;
}

/** What went wrong with the database. */
export class DatabaseError extends Error {
  /** SQLSTATE, where the server answered; not where its own log failed (`pg_wal`), which ends it, perhaps within a commit. */
  readonly code: string | undefined;
  /** False where nothing was sent, so that nothing can have been done. */
  readonly wasSent: boolean;

  constructor(cause: unknown, wasSent: boolean) {
    const {
      code,
      message,
      file = "",
    } = cause as { readonly code?: unknown; readonly message?: string; readonly file?: string };
    // An error of several addresses that refused has no message.
    super(message === undefined || message === "" ? String(code) : message, { cause });
    // By the file of the server's code: the word PANIC comes in its language.
    const isAnswer = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && file !== "xlog.c";
    this.code = isAnswer ? code : undefined;
    this.wasSent = wasSent;
  }

  /** True where nobody knows what the server did: it was asked and did not answer, or told that it ended meanwhile. */
  get isUnknown(): boolean {
    return this.wasSent && (this.code === undefined || /^08|^57P0[12]$|^40003$/.test(this.code));
  }

  /** True where other transactions were in the way, so that the server did nothing. */
  get isConflict(): boolean {
    return this.code !== undefined && /^40(?!003)/.test(this.code);
  }

  /**
   * True where the server has told that it did nothing, and would tell it again. Not of what ends by a connection (08),
   * an administrator (57) or a conflict (40), of a server that is read-only for the moment, or has no connection free.
   */
  get isRefusal(): boolean {
    return this.code !== undefined && !/^(08|40|57)|^25006$|^53300$/.test(this.code);
  }

  /** True where the server answered that it cannot, and the same may succeed only once somebody has changed something there. */
  get isLasting(): boolean {
    // Neither locks (55), nor the server's memory (53200), nor what poolers refuse without a code of its own (XX000).
    return this.isRefusal && !/^55|^53200$|^XX000$/.test(this.code ?? "");
  }
}

const CONNECT_MS = 2_000;
/** A server that works on a statement for longer is taken for one that hangs. */
const QUERY_MS = 10_000;
const MAX_CONNECTIONS = 10;
/** Set in each transaction, not at the start of a session: a pooler would refuse that. */
const LIMITS = "set local lock_timeout = '10s'; set local statement_timeout = '10s'";
/** How long the server keeps a transaction whose node is silent: one that writes holds others up, one that reads nobody. */
const [SILENT_WRITER, SILENT_READER] = ["5s", "60s"];

/** Opens no connection before one is needed. */
export function openDatabase(config: PoolConfig): Database {
  const pool = new Pool({
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    keepAlive: true,
    ...config,
  });
  // Without listeners a connection that breaks while nobody uses it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));

  const connect = () =>
    pool.connect().catch((error: Error) => {
      // The message of pg sounds as if the server had not answered.
      const isBusy = error.message === "timeout exceeded when trying to connect";
      const cause = isBusy
        ? new Error(
            `all ${MAX_CONNECTIONS} connections of this node were at work for ${CONNECT_MS / 1_000} seconds`,
          )
        : error;
      throw new DatabaseError(cause, false);
    });
  const queryOn =
    (client: PoolClient): Query =>
    async (text, values = []) => {
      try {
        return (await client.query({ text, values: [...values], rowMode: "array" })).rows as never;
      } catch (error) {
        throw new DatabaseError(error, true);
      }
    };

  return {
    async query(text, values) {
      const client = await connect();
      try {
        const rows = await queryOn(client)(text, values);
        client.release();
        return rows as never;
      } catch (error) {
        // After an answer the connection is sound.
        if ((error as DatabaseError).code === undefined) giveUp(client);
        else client.release();
        throw error;
      }
    },
    async begin(mode) {
      const client = await connect();
      let [isOver, isBroken] = [false, false];
      const query: Query = (text, values) =>
        queryOn(client)<never>(text, values).catch((error: DatabaseError) => {
          // Without an answer the connection still waits for it.
          isBroken = error.code === undefined;
          throw error;
        });
      const release = (breaks: boolean) => {
        isOver = true;
        client.release(breaks);
      };
      try {
        const silent = mode === undefined ? SILENT_WRITER : SILENT_READER;
        await client.query(
          `begin ${mode ?? ""}; ${LIMITS}; set local idle_in_transaction_session_timeout = '${silent}'`,
        );
      } catch (error) {
        release(true);
        throw new DatabaseError(error, false);
      }
      return {
        query,
        async commit() {
          try {
            // A transaction that failed ends with "ROLLBACK" here, and without an error.
            const { command } = await client.query("commit");
            if (command !== "COMMIT") throw new Error(`the transaction ended by ${command}`);
            release(false);
          } catch (error) {
            release(true);
            throw new DatabaseError(error, true);
          }
        },
        async end() {
          if (isOver) return;
          if (isBroken) return release(true);
          isOver = true;
          await client.query("rollback").then(
            () => client.release(),
            () => client.release(true),
          );
        },
      };
    },
    close: () => pool.end(),
  };
}

/** The code of the message that asks a server to end the statement of another connection. */
const CANCEL_REQUEST = 80_877_102;

/**
 * Closes a connection that did not answer, and has the server end its statement, which would work on or wait for a lock for as
 * long as that takes. A limit as in a transaction would cost each statement a quarter more, and a pooler refuses one at the start.
 */
function giveUp(client: PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Readonly<
    Record<"processID" | "secretKey", number | null> & { host: string; port: number }
  >;
  const message = Buffer.alloc(16);
  for (const [i, value] of [message.length, CANCEL_REQUEST, processID, secretKey].entries())
    message.writeInt32BE(value ?? 0, 4 * i);
  const socket = connectSocket({ host, port, timeout: CONNECT_MS }, () => socket.write(message));
  socket.on("timeout", () => socket.destroy()).on("error", () => undefined);
  // A pooler knows the statement by this connection, so it must be open until then.
  socket.on("close", () => client.release(true));
}

/** The error of a request that needed the database. */
export function databaseAway(cause: unknown): ServiceError {
  if (isLasting(cause)) return refused("what a request needs, so it was not begun", cause);
  return notReady(
    `The database could not be asked (${inWords(cause)}), so the request was not begun; try again shortly.`,
    { cause, retryAfterSeconds: 1 },
  );
}

/** The error of a write that is certainly not in the database. */
export function notWritten(cause: unknown): ServiceError {
  if (cause instanceof DatabaseError && cause.code === "53100")
    return storeFull("The disk of the database is full, so nothing was stored. Its administrator can help.", {
      cause,
    });
  if (isLasting(cause)) return refused("a write, and nothing of it was stored", cause);
  return notReady(
    `The database did not take a write (${inWords(cause)}); nothing of it was stored. Try again.`,
    {
      cause,
      retryAfterSeconds: 1,
    },
  );
}

const isLasting = (cause: unknown): cause is DatabaseError =>
  cause instanceof DatabaseError && cause.isLasting;

/** Without a time to try again. */
const refused = (what: string, cause: DatabaseError): ServiceError =>
  notReady(
    `The database refused ${what}: ${cause.message} (${cause.code}). It will again until its administrator changes that.`,
    { cause },
  );

/** The error of a write of which nobody knows. */
export function perhapsWritten(cause: unknown): ServiceError {
  return notReady(
    `The database went away during a write (${inWords(cause)}): it is not known whether it was stored. Look before you ` +
      "repeat it, or repeat it with the same Idempotency-Key.",
    { cause, retryAfterSeconds: 5 },
  );
}

const inWords = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
