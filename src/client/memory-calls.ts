import type {
  AddedMemories,
  AddedMemory,
  DeletedMemory,
  Memory,
  MemoryChanges,
  MemoryFilter,
  MemoryPage,
  MemoryPlace,
  NewMemory,
  Owner,
  ReinforcedMemory,
  RelatedMemories,
  UpdatedMemory,
} from "./records.ts";
import {
  type CallOptions,
  path,
  type Transport,
  type VersionOptions,
  type WriteOptions,
} from "./transport.ts";
import { walkPages } from "./walk-pages.ts";

export interface MemoryCalls {
  add(memory: NewMemory, options?: WriteOptions): Promise<AddedMemory>;
  /** Up to 1 000 in one write; each is judged by itself, so look at `failed`. */
  addMany(memories: readonly NewMemory[], options?: WriteOptions): Promise<AddedMemories>;
  get(id: string, owner?: Owner, options?: CallOptions): Promise<Memory>;
  update(id: string, changes: MemoryChanges, options?: VersionOptions): Promise<UpdatedMemory>;
  delete(id: string, owner?: Owner, options?: VersionOptions): Promise<DeletedMemory>;
  /** @param boost 0…1; 0.1 if left out. */
  reinforce(
    id: string,
    boost?: Owner & { readonly boost?: number },
    options?: WriteOptions,
  ): Promise<ReinforcedMemory>;
  related(
    id: string,
    place?: Owner & { readonly depth?: number },
    options?: CallOptions,
  ): Promise<RelatedMemories>;
  /** One page, newest first. */
  page(place?: MemoryPlace, options?: CallOptions): Promise<MemoryPage>;
  /** All that match, newest first, fetched page by page. */
  list(filter?: MemoryFilter, options?: CallOptions): AsyncGenerator<Memory, void, undefined>;
}

export function memoryCalls({ json }: Transport): MemoryCalls {
  const page: MemoryCalls["page"] = (place, options) =>
    json({ method: "GET", path: "/memory/all", query: { ...place }, options });
  return {
    page,
    list: (filter, options) =>
      walkPages(
        (place) => page({ ...filter, ...place }, options),
        ({ items }) => items,
      ),
    add: (memory, options) =>
      json({ method: "POST", path: "/memory/add", body: memory, isWrite: true, options }),
    addMany: (memories, options) =>
      json({ method: "POST", path: "/memory/add/batch", body: { memories }, isWrite: true, options }),
    get: (id, owner, options) =>
      json({ method: "GET", path: path`/memory/${id}`, query: { ...owner }, options }),
    update: (id, changes, options) =>
      json({ method: "PATCH", path: path`/memory/${id}`, body: changes, options }),
    delete: (id, owner, options) =>
      json({ method: "DELETE", path: path`/memory/${id}`, query: { ...owner }, options }),
    reinforce: (id, boost, options) =>
      json({
        method: "POST",
        path: "/memory/reinforce",
        body: { ...boost, id },
        isWrite: true,
        options,
      }),
    related: (id, place, options) =>
      json({ method: "GET", path: path`/memory/${id}/related`, query: { ...place }, options }),
  };
}
