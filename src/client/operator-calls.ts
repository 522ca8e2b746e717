/** Calls of the operator; for the scope `admin`. */
import type * as wire from "./records.ts";
import { type CallOptions, path, type Transport } from "./transport.ts";

export type KeyCalls = ReturnType<typeof keyCalls>;
export type TransferCalls = ReturnType<typeof transferCalls>;
export type BackupCalls = ReturnType<typeof backupCalls>;
export type ModelCalls = ReturnType<typeof modelCalls>;
export type CompactionCalls = ReturnType<typeof compactionCalls>;

export function keyCalls({ json, get }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Keys>("/keys", {}, options),
    /** The key itself is in this answer and in no other. */
    create: (body: wire.NewKey, options?: CallOptions) =>
      json<wire.MadeKey>({ method: "POST", path: "/keys", body, options }),
    revoke: (id: string, options?: CallOptions) =>
      json<wire.Key>({ method: "DELETE", path: path`/keys/${id}`, options }),
    /** So that none is needed; with the token in the data directory only. */
    removeAll: (options?: CallOptions) =>
      json<wire.RemovedKeys>({ method: "DELETE", path: "/keys", options }),
  };
}

export function transferCalls({ json, stream }: Transport) {
  return {
    /** Everything, as lines of JSON; cut off where its last line is not of the type `end`. */
    export: (
      query?: { readonly user_id?: string; readonly project?: string; readonly waypoints?: boolean },
      options?: CallOptions,
    ) => stream({ method: "GET", path: "/export", query, options }),
    /** @param lines the first line of an export and up to 1 000 others; each is judged by itself. */
    import: (lines: string, options?: CallOptions) =>
      json<wire.ImportedLines>({ method: "POST", path: "/import", body: lines, options }),
  };
}

export function compactionCalls({ json, get }: Transport) {
  return {
    status: (options?: CallOptions) => get<wire.Compaction>("/compact", {}, options),
    start: (options?: CallOptions) =>
      json<wire.StartedCompaction>({ method: "POST", path: "/compact", options }),
  };
}

export function backupCalls({ json, get }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Backups>("/backups", {}, options),
    /** Begins one; `list` says how far it is. */
    create: (body: wire.NewBackup = {}, options?: CallOptions) =>
      json<wire.StartedBackup>({ method: "POST", path: "/backups", body, options }),
    /** Rejects with DAMAGED where it is not whole. */
    verify: (name: string, options?: CallOptions) =>
      json<wire.Backup>({ method: "POST", path: path`/backups/${name}/verify`, options }),
    remove: (name: string, options?: CallOptions) =>
      json<wire.RemovedBackup>({ method: "DELETE", path: path`/backups/${name}`, options }),
  };
}

export function modelCalls({ json, get }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Models>("/models", {}, options),
    /** Begins to embed all memories again with that model; `list` says how far it is. */
    use: (name: string, options?: CallOptions) =>
      json<wire.Models>({ method: "POST", path: "/models/use", body: { name }, options }),
  };
}
