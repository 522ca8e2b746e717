/** A store for LangGraph, `memoryd/langgraph`: its items are memories, so that questions find them and nothing is lost by a put. */
import type * as langgraph from "@langchain/langgraph-checkpoint";
import { createClient, type Memory, type MemorydClient } from "../client.ts";
import {
  framework,
  ifGone,
  isBlank,
  keptWith,
  type MemoryOwner,
  ownedBy,
  ownerOf,
  pathTag,
} from "./framework.ts";

const { BaseStore, InvalidNamespaceError, validateNamespace } = await framework(
  import("@langchain/langgraph-checkpoint"),
  "@langchain/langgraph-checkpoint",
  "memoryd/langgraph",
);

export interface MemorydStoreOptions extends MemoryOwner {
  /** Paths of the texts that questions find an item by, where a put names none; all of its value if left out. */
  readonly fields?: readonly string[];
}

const TAG = "langgraph";
const DEFAULT_LIMIT = 10;
/** A memory has at most 64 tags. */
const MAX_LABELS = 60;
const MAX_CONTENT_CHARS = 200_000;
const MAX_QUESTION_CHARS = 8_192;
/** The daemon's limit. */
const MAX_MATCHES = 200;
/** Puts of one batch that are under way at once. */
const PUTS_AT_ONCE = 16;

/** A store of one user, and of one project or none. A namespace is there while an item is in it. */
export class MemorydStore extends BaseStore {
  readonly #options: MemorydStoreOptions;
  readonly #client: MemorydClient;

  constructor(options: MemorydStoreOptions) {
    super();
    this.#options = options;
    this.#client = options.client ?? createClient({ clientName: "langgraph" });
  }

  /** Answers in order; reads see what was there before the puts, of which the last one for a key counts. */
  override async batch<Op extends langgraph.Operation[]>(
    operations: Op,
  ): Promise<langgraph.OperationResults<Op>> {
    for (const operation of operations)
      if ("namespace" in operation) checkNamespace(operation.namespace);
      else if ("namespacePrefix" in operation) checkNamespace(operation.namespacePrefix, true);
    const results = await Promise.all(operations.map((operation) => this.#read(operation)));
    const puts = new Map<string, langgraph.PutOperation>();
    for (const operation of operations)
      if (isPut(operation)) puts.set(JSON.stringify([operation.namespace, operation.key]), operation);
    const last = [...puts.values()];
    for (let i = 0; i < last.length; i += PUTS_AT_ONCE)
      await Promise.all(last.slice(i, i + PUTS_AT_ONCE).map((put) => this.#put(put)));
    return results as langgraph.OperationResults<Op>;
  }

  async #read(
    operation: langgraph.Operation,
  ): Promise<langgraph.Item | langgraph.SearchItem[] | string[][] | null> {
    if (isPut(operation)) return null;
    if ("namespacePrefix" in operation) return await this.#search(operation);
    if ("key" in operation) {
      const [memory] = await this.#kept(operation);
      return memory === undefined ? null : (itemOf(memory) ?? null);
    }
    return await this.#namespaces(operation);
  }

  /** The memories of a key, the one that counts first. */
  async #kept({ namespace, key }: langgraph.GetOperation): Promise<Memory[]> {
    const memories = await keptWith(this.#client, this.#options, await pathTag(TAG, namespace, key));
    return memories.filter((memory) => {
      const marks = marksOf(memory);
      return marks?.key === key && isSame(marks.namespace, namespace);
    });
  }

  async #put(operation: langgraph.PutOperation): Promise<void> {
    const { namespace, key, value, index } = operation;
    const [memory, ...others] = await this.#kept(operation);
    if (value === null) return await this.#remove(memory === undefined ? [] : [memory, ...others]);
    const paths = namespace.map((_, i) => pathTag(TAG, namespace.slice(0, i + 1)));
    const tags = [TAG, ...(await Promise.all(paths)), await pathTag(TAG, namespace, key)];
    const body = {
      content: contentOf(operation, this.#options.fields),
      tags,
      metadata: { [TAG]: { namespace, key, value, ...(index === false && { index }) } },
    };
    if (memory === undefined) {
      await this.#client.memories.add({ ...body, ...ownerOf(this.#options) });
      // Another program may have made it at the same moment.
      return await this.#remove((await this.#kept(operation)).slice(1));
    }
    const changes = {
      ...body,
      tags: [...new Set([...tags, ...memory.tags])],
      metadata: { ...memory.metadata, ...body.metadata },
      user_id: this.#options.userId,
    };
    const outcome = await this.#client.memories.update(memory.id, changes).catch(ifGone);
    if (outcome === "gone") return await this.#put(operation);
    await this.#remove(others);
  }

  async #remove(memories: readonly Memory[]): Promise<void> {
    const query = { user_id: this.#options.userId, trash: true };
    for (const { id } of memories) await this.#client.memories.delete(id, query).catch(ifGone);
  }

  async #search({
    namespacePrefix: prefix,
    ...operation
  }: langgraph.SearchOperation): Promise<langgraph.SearchItem[]> {
    const { filter = {}, query = "", limit = DEFAULT_LIMIT, offset = 0 } = operation;
    const tag = await pathTag(TAG, prefix);
    const found = new Map<string, langgraph.SearchItem>();
    const take = (memory: Memory, score?: number): void => {
      const item = itemOf(memory);
      if (item === undefined || !isSame(item.namespace.slice(0, prefix.length), prefix)) return;
      const id = JSON.stringify([item.namespace, item.key]);
      if (
        found.has(id) ||
        !Object.entries(filter).every(([name, wanted]) => matches(item.value[name], wanted))
      )
        return;
      found.set(id, score === undefined ? item : { ...item, score });
    };
    if (query.trim() !== "") {
      const { userId, project = null } = this.#options;
      const filters = { user_id: userId, project: [project], tags: [tag] };
      const question = Array.from(query).slice(0, MAX_QUESTION_CHARS).join("");
      const answer = await this.#client.query(question, { k: MAX_MATCHES, filters });
      for (const match of answer.matches) if (marksOf(match)?.index !== false) take(match, match.score);
    }
    if (found.size < offset + limit)
      for await (const memory of this.#client.memories.list(ownedBy(this.#options, tag))) {
        take(memory);
        if (found.size >= offset + limit) break;
      }
    return [...found.values()].slice(offset, offset + limit);
  }

  async #namespaces(operation: Partial<langgraph.ListNamespacesOperation>): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset = 0 } = operation;
    const found = new Map<string, string[]>();
    for await (const memory of this.#client.memories.list(ownedBy(this.#options, TAG))) {
      const { namespace } = marksOf(memory) ?? {};
      if (namespace === undefined || !matchConditions.every((condition) => fits(namespace, condition)))
        continue;
      const shown = namespace.slice(0, maxDepth);
      found.set(shown.join(":"), shown);
    }
    const all = Array.from(found).sort(([one], [other]) => one.localeCompare(other));
    return all.slice(offset, limit === undefined ? undefined : offset + limit).map(([, shown]) => shown);
  }
}

const isPut = (operation: langgraph.Operation): operation is langgraph.PutOperation => "value" in operation;

/** @throws {InvalidNamespaceError} as LangGraph's own stores do; also for more labels than tags can hold. */
function checkNamespace(namespace: string[], allowEmpty = false): void {
  validateNamespace(namespace, { allowEmpty, allowReservedRoot: true });
  if (namespace.length > MAX_LABELS)
    throw new InvalidNamespaceError(
      `A namespace can have at most ${MAX_LABELS} labels; got ${namespace.length}.`,
    );
}

interface Marks {
  readonly namespace: string[];
  readonly key: string;
  readonly value: Record<string, unknown>;
  readonly index?: false;
}

/** Undefined for a memory that only has the tag. */
function marksOf({ metadata }: Memory): Marks | undefined {
  const marks = metadata[TAG] as Partial<Marks> | null | undefined;
  const isWhole = Array.isArray(marks?.namespace) && typeof marks.key === "string" && isObject(marks.value);
  return isWhole ? (marks as Marks) : undefined;
}

function itemOf(memory: Memory): langgraph.Item | undefined {
  const marks = marksOf(memory);
  if (marks === undefined) return undefined;
  const { namespace, key, value } = marks;
  return {
    namespace,
    key,
    value,
    createdAt: new Date(memory.created_at),
    updatedAt: new Date(memory.updated_at),
  };
}

/** The texts that questions find an item by, one a line. */
function contentOf({ key, value, index }: langgraph.PutOperation, fields: readonly string[] = ["$"]): string {
  const paths = index === false ? [] : (index ?? fields);
  const text = paths.flatMap((path) => textsAt(value, path)).join("\n");
  const content = [text, key].find((each) => !isBlank(each)) ?? "item";
  return content.length <= MAX_CONTENT_CHARS
    ? content
    : Array.from(content).slice(0, MAX_CONTENT_CHARS).join("");
}

/** Texts at a path such as `title`, `meta.title`, `chapters[*].text`, `authors[0]`, `authors[-1]` or `$`. */
function textsAt(value: unknown, path: string): string[] {
  let found = [value];
  if (path !== "$")
    for (const step of path.match(/[^.[\]]+/g) ?? [])
      found = found.flatMap((each) => {
        if (step === "*") return isObject(each) ? Object.values(each) : [];
        if (Array.isArray(each)) return /^-?\d+$/.test(step) ? [each.at(Number(step)) as unknown] : [];
        return isObject(each) && Object.hasOwn(each, step) ? [each[step]] : [];
      });
  return found.flatMap(textsIn);
}

function textsIn(value: unknown): string[] {
  if (isObject(value)) return Object.values(value).flatMap(textsIn);
  if (value === null || value === undefined) return [];
  return [typeof value === "string" ? value : JSON.stringify(value)];
}

/** Arrays too. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((label, i) => label === other[i]);

const COMPARISONS: Readonly<Record<string, (value: unknown, wanted: unknown) => boolean>> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
};

/** Whether a field has a value, or stands in all the relations to others that a filter names. */
function matches(value: unknown, wanted: unknown): boolean {
  const relations = isObject(wanted) ? Object.entries(wanted) : undefined;
  if (relations?.every(([name]) => Object.hasOwn(COMPARISONS, name)) !== true) return value === wanted;
  return relations.every(([name, other]) => COMPARISONS[name]?.(value, other) === true);
}

function fits(namespace: readonly string[], { matchType, path }: langgraph.MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, i) => label === "*" || label === namespace[start + i]);
}
