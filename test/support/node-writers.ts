import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import type { TestNode } from "./user-stores.ts";

export const add = async (node: TestNode, user: string, content: string, requestId?: string) => {
  const idempotency = requestId !== undefined && { key: requestId, bodyHash: sha256(content) };
  const item = { content, userId: user };
  return (await addMemory(await node.portsOf(user), { ...item, ...(idempotency && { idempotency }) })).memory;
};

/** Of all memories of a user, the newest first. */
export async function contents(node: TestNode, user: string): Promise<string[]> {
  const { store } = await node.portsOf(user);
  const { ids } = store.catalogue.page({}, { limit: 100_000, offset: 0 });
  const memories = await store.readMemories(ids);
  return ids.map((id) => memories.get(id)?.content ?? "");
}

export interface Writes {
  readonly users: readonly string[];
  /** By user. */
  readonly answered: ReadonlyMap<string, readonly string[]>;
  readonly refused: readonly {
    readonly user: string;
    readonly content: string;
    readonly error: ServiceError;
  }[];
  readonly slowestMs: number;
}

/**
 * Writes on all nodes to the same users before, while and after something happens to the database. One writer in two asks once for each note; the
 * others repeat what was refused on the next node, with its Idempotency-Key, until it is answered.
 *
 * @param fault is given the notes that are answered so far, by user.
 */
export async function writeDuring(
  nodes: readonly TestNode[],
  fault: (answered: Writes["answered"]) => Promise<void>,
): Promise<Writes> {
  const users = [randomUUID(), randomUUID()];
  const answered = new Map<string, string[]>(users.map((user) => [user, []]));
  const refused: { readonly user: string; readonly content: string; readonly error: ServiceError }[] = [];
  const over = new AbortController();
  let slowestMs = 0;

  /** @returns whether the note was answered. */
  async function write(node: TestNode, user: string, content: string, requestId?: string) {
    const startedAt = performance.now();
    try {
      await add(node, user, content, requestId);
      answered.get(user)?.push(content);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (requestId === undefined) refused.push({ user, content, error });
      await sleep(20);
      return false;
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  }
  const writers = nodes.flatMap((node, n) =>
    users.flatMap((user) => [
      (async () => {
        for (let i = 0; !over.signal.aborted; i += 1) await write(node, user, `note ${i} on node ${n}`);
      })(),
      (async () => {
        for (let i = 0; !over.signal.aborted; i += 1) {
          const [content, requestId] = [`repeated note ${i} on node ${n}`, randomUUID()];
          for (let at = n; ; at += 1)
            if (await write(nodes[at % nodes.length] as TestNode, user, content, requestId)) break;
        }
      })(),
    ]),
  );
  const untilMore = async () => {
    const count = () => [...answered.values()].flat().length;
    const before = count();
    await expect.poll(count).toBeGreaterThan(before + 10);
  };
  await untilMore();
  await fault(answered);
  // Writing goes on after it.
  await untilMore();
  over.abort();
  await Promise.all(writers);
  return { users, answered, refused, slowestMs };
}

/**
 * Expects what nodes promise whatever happened: they agree, an answered write is there, none is there twice, and one that was
 * refused is not there unless the refusal says that nobody knows.
 */
export async function expectKept(
  nodes: readonly TestNode[],
  { users, answered, refused }: Writes,
): Promise<void> {
  for (const user of users) {
    const [here = [], ...others] = await Promise.all(nodes.map((node) => contents(node, user)));
    for (const there of others) expect(there).toEqual(here);
    expect(new Set(here).size).toBe(here.length);
    expect(here).toEqual(expect.arrayContaining([...(answered.get(user) ?? [])]));
    const refusals = refused.filter((refusal) => refusal.user === user);
    for (const { content, error } of refusals) {
      expect(["NOT_READY", "STORE_FULL"]).toContain(error.code);
      if (!/not known whether/.test(error.message)) expect(here).not.toContain(content);
    }
    // All that is there was asked for, answered or not.
    const known = new Set([...(answered.get(user) ?? []), ...refusals.map(({ content }) => content)]);
    expect(here.filter((content) => !known.has(content))).toEqual([]);
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
