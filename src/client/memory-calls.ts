import type * as wire from "./records.ts";
import {
  type CallOptions,
  path,
  type Transport,
  type VersionOptions,
  walkPages,
  type WriteOptions,
} from "./transport.ts";

export type MemoryCalls = ReturnType<typeof memoryCalls>;

export function memoryCalls({ json, get }: Transport) {
  /** One page, newest first. */
  const page = (place?: wire.MemoryPlace, options?: CallOptions) =>
    get<wire.MemoryPage>("/memory/all", place, options);
  const write = <T>(path: string, body: object, options: WriteOptions | undefined) =>
    json<T>({ method: "POST", path, body, isWrite: true, options });
  return {
    page,
    /** All that match, newest first, fetched page by page. */
    list: (filter?: wire.MemoryFilter, options?: CallOptions): AsyncGenerator<wire.Memory, void, undefined> =>
      walkPages(
        (place) => page({ ...filter, ...place }, options),
        ({ items }) => items,
      ),
    add: (memory: wire.NewMemory, options?: WriteOptions) =>
      write<wire.AddedMemory>("/memory/add", memory, options),
    /** Up to 1 000 in one write; each is judged by itself, so look at `failed`. */
    addMany: (memories: readonly wire.NewMemory[], options?: WriteOptions) =>
      write<wire.AddedMemories>("/memory/add/batch", { memories }, options),
    get: (id: string, owner?: wire.Owner, options?: CallOptions) =>
      get<wire.Memory>(path`/memory/${id}`, owner, options),
    update: (id: string, body: wire.MemoryChanges, options?: VersionOptions) =>
      json<wire.UpdatedMemory>({ method: "PATCH", path: path`/memory/${id}`, body, options }),
    delete: (id: string, query?: wire.Owner, options?: VersionOptions) =>
      json<wire.DeletedMemory>({ method: "DELETE", path: path`/memory/${id}`, query, options }),
    /** @param boost 0…1; 0.1 if left out. */
    reinforce: (id: string, boost?: wire.Owner & { readonly boost?: number }, options?: WriteOptions) =>
      write<wire.ReinforcedMemory>("/memory/reinforce", { ...boost, id }, options),
    related: (id: string, place?: wire.Owner & { readonly depth?: number }, options?: CallOptions) =>
      get<wire.RelatedMemories>(path`/memory/${id}/related`, place, options),
  };
}
