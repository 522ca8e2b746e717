import assert from "node:assert/strict";
import { addMemory, addMemories } from "../../src/core/memories/add-memories.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { ServiceError } from "../../src/core/errors.ts";
import { FEED_BEGINNING } from "../../src/core/feed.ts";
import { INITIAL_SALIENCE, type SeenMemory } from "../../src/core/memory.ts";
import { reinforced } from "../../src/core/memories/reinforce-memory.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { seededRandom } from "./seeded-random.ts";
import type { StoreOnDisk } from "./store-on-disk.ts";

type State = Pick<SeenMemory, "content" | "tags" | "version" | "salience">;

/** A memory that was asked for. */
interface Known {
  /** A word that no other memory has. */
  readonly marker: string;
  /** Which batch it was added in, from 1; 0 for none. */
  readonly batch: number;
  id: string | undefined;
  /** What it may be after a restart: what was acknowledged last, then what was under way. Null: not there. */
  states: readonly (State | null)[];
}

/** Enough to have something to change, few enough to look at each after every failure. */
const FEW = 6;
const MANY = 14;
const BATCH = 3;
const NOUNS = ["kettle", "bicycle", "invoice", "harbour", "violin", "printer", "orchard", "passport"];
/** Salience fades over weeks, and a life here takes milliseconds. */
const FADING = 1e-4;

/** Works on a store at random, several writes at once, and knows what must and what may be in it. */
export class StoreLedger {
  readonly #random: () => number;
  #known: Known[] = [];
  #count = 0;
  #batches = 0;
  /** What somebody who follows the feed over all lives knows: memories by id, with the version read when told. */
  readonly #followed = new Map<string, number>();
  #since: number | null = FEED_BEGINNING;
  #followedIn: StoreOnDisk["opened"] | undefined;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Memories that are there for certain. */
  get size(): number {
    return this.#known.filter(({ states }) => states[0] !== null).length;
  }

  /** A few writes at once, now and then with a flush beside them. What the store refuses, it must have refused whole. */
  async work(store: StoreOnDisk): Promise<void> {
    const targets = this.#known.filter(({ states }) => states.length === 1 && states[0] !== null);
    const writes: Promise<void>[] = [];
    for (let count = 1 + this.#below(4); count > 0; count -= 1) {
      const target = targets.splice(this.#below(targets.length), 1)[0];
      writes.push(this.#write(store, target));
    }
    const flush = this.#random() < 0.3 ? store.opened.checkpointer.flush() : undefined;
    await Promise.all([...writes, flush?.catch(() => undefined)]);
  }

  /** Adds one memory of so many words; true if it was stored. */
  async add(store: StoreOnDisk, words = 3): Promise<boolean> {
    const known = this.#newMemory(0, words);
    await this.#attempt(store, [known], async () => {
      known.id = (await addMemory(store.ports, { content: this.#contentOf(known.marker) })).memory.id;
    });
    return known.states[0] !== null;
  }

  /** Deletes one memory; false if there is none or it was refused. */
  async remove(store: StoreOnDisk): Promise<boolean> {
    const target = this.#known.find(({ states }) => states.length === 1 && states[0] !== null);
    if (target === undefined) return false;
    await this.#delete(store, target);
    return target.states[0] === null;
  }

  /** Compares an open store with what was acknowledged; nothing of what was refused may show. */
  async checkWhileOpen(store: StoreOnDisk): Promise<void> {
    await this.#check(store, ({ states }) => states.slice(0, 1));
  }

  /** Compares a store that was opened again; what was under way counts from here on as it was found. */
  async checkReopened(store: StoreOnDisk): Promise<void> {
    const found = await this.#check(store, ({ states }) => states);
    for (let batch = 1; batch <= this.#batches; batch += 1) {
      const underWay = ({ states }: Known) => states.length > 1 && states[0] === null;
      const members = this.#known.filter((known) => known.batch === batch && underWay(known));
      const there = members.filter(({ marker }) => found.has(marker));
      assert.ok(
        there.length === 0 || there.length === members.length,
        `of a batch of ${members.length}, ${there.length} are there`,
      );
    }
    for (const known of this.#known) {
      const memory = found.get(known.marker);
      known.id = memory?.id ?? known.id;
      known.states = [memory === undefined ? null : stateOf(memory)];
    }
    // Those that are gone for good are looked for once more, then forgotten.
    const gone = this.#known.filter(({ states }) => states[0] === null);
    this.#known = this.#known.filter((known) => !gone.slice(0, -MANY).includes(known));
  }

  async #write(store: StoreOnDisk, target: Known | undefined): Promise<void> {
    const dice = this.#random();
    if (target === undefined || this.size < FEW || (dice < 0.35 && this.size < MANY)) {
      if (dice < 0.1) await this.#addBatch(store);
      else await this.add(store);
    } else if (dice < 0.55) await this.#change(store, target);
    else if (dice < 0.75) await this.#reinforce(store, target);
    else await this.#delete(store, target);
  }

  async #addBatch(store: StoreOnDisk): Promise<void> {
    this.#batches += 1;
    const batch = Array.from({ length: BATCH }, () => this.#newMemory(this.#batches));
    await this.#attempt(store, batch, async () => {
      const items = batch.map(({ marker }) => ({ content: this.#contentOf(marker) }));
      const { results } = await addMemories(store.ports, { items });
      results.forEach((result, i) => {
        assert.ok(!(result instanceof ServiceError));
        const known = batch[i];
        if (known !== undefined) known.id = result.memory.id;
      });
    });
  }

  async #change(store: StoreOnDisk, target: Known): Promise<void> {
    const [before] = target.states;
    if (before === null || before === undefined) return;
    const fields =
      this.#random() < 0.5
        ? { content: `${target.marker} ${this.#words()}` }
        : { tags: [`t${this.#below(99)}`] };
    target.states = [before, { ...before, ...fields, version: before.version + 1 }];
    await this.#attempt(store, [target], () => updateMemory(store.ports, { id: target.id ?? "", ...fields }));
  }

  async #reinforce(store: StoreOnDisk, target: Known): Promise<void> {
    const [before] = target.states;
    if (before === null || before === undefined) return;
    target.states = [before, { ...before, salience: reinforced(before.salience, 0.2) }];
    await this.#attempt(store, [target], () =>
      reinforceMemory(store.ports, { id: target.id ?? "", boost: 0.2 }),
    );
  }

  async #delete(store: StoreOnDisk, target: Known): Promise<void> {
    const [before = null] = target.states;
    target.states = [before, null];
    await this.#attempt(store, [target], () => deleteMemory(store.ports, { id: target.id ?? "" }));
  }

  /** `states` of each: before, and after. */
  async #attempt(
    store: StoreOnDisk,
    memories: readonly Known[],
    write: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await write();
      for (const known of memories) known.states = known.states.slice(-1);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      assert.match(error.code, /^(NOT_READY|STORE_FULL)$/, String(error.stack));
      // A read-only journal does not know what is on the disk; else a refusal is one for certain.
      if (store.opened.journal.readOnly === undefined) {
        for (const known of memories) known.states = known.states.slice(0, 1);
      }
    }
  }

  async #check(
    store: StoreOnDisk,
    allowed: (known: Known) => readonly (State | null)[],
  ): Promise<Map<string, SeenMemory>> {
    const { catalogue } = store.ports.store;
    const { ids, total } = catalogue.page({}, { limit: 1_000, offset: 0 });
    const memories = await store.ports.store.readMemories(ids);
    assert.equal(memories.size, total, "a memory of the catalogue cannot be read");
    const byMarker = new Map<string, SeenMemory>();
    for (const memory of memories.values()) {
      const [marker = ""] = memory.content.split(" ");
      assert.ok(!byMarker.has(marker), `${marker} is there twice`);
      byMarker.set(marker, memory);
    }
    const oldestFirst = ids.toReversed().map((id) => memories.get(id));
    for (const [i, memory] of oldestFirst.entries()) {
      const before = oldestFirst[i - 1];
      if (memory === undefined || before === undefined) continue;
      assert.ok(memory.order > before.order && memory.createdAt >= before.createdAt, "the order goes back");
    }
    for (const known of this.#known) {
      const memory = byMarker.get(known.marker);
      const states = allowed(known);
      const isAllowed = states.some((state) => isSame(state, memory));
      assert.ok(isAllowed, `${known.marker} is ${show(memory)}, and not ${states.map(show).join(" or ")}`);
      await this.#checkFound(store, known.marker, memory);
    }
    this.#checkFollower(store);
    const strangers = [...byMarker.keys()].filter(
      (marker) => !this.#known.some((known) => known.marker === marker),
    );
    assert.deepEqual(strangers, [], "what was never asked for");
    return byMarker;
  }

  /** Whoever goes on from their position knows every memory in its version, and is told to begin again after an open alone. */
  #checkFollower({ opened }: StoreOnDisk): void {
    const { catalogue } = opened.store;
    if (this.#followedIn !== opened && this.#followedIn !== undefined) this.#since = null;
    for (;;) {
      const page = opened.feed.list({ since: this.#since, limit: 3 });
      this.#since = page.next;
      if (page.reset) {
        assert.ok(this.#followedIn !== opened, `the feed has nothing after ${this.#since}`);
        this.#followed.clear();
        for (const id of opened.store.memoryIds()) this.#followed.set(id, catalogue.find(id)?.version ?? 0);
      }
      for (const { kind, id } of page.items) {
        const version = catalogue.find(id)?.version;
        if (kind === "memory.deleted" || version === undefined) this.#followed.delete(id);
        else this.#followed.set(id, version);
      }
      if (page.items.length === 0 && !page.reset) break;
    }
    this.#followedIn = opened;
    const there = new Map([...opened.store.memoryIds()].map((id) => [id, catalogue.find(id)?.version]));
    assert.deepEqual(this.#followed, there, "what the feed told of memories");
  }

  /** By its own word and by its vector; once, and not at all when it is gone. */
  async #checkFound(store: StoreOnDisk, marker: string, memory: SeenMemory | undefined): Promise<void> {
    const { catalogue } = store.ports.store;
    const byWord = store.ports.store.scoreWords([{ term: marker, weight: 1 }], 20).top(9);
    const foundIds = byWord.map((ordinal) => catalogue.at(ordinal)?.id);
    assert.deepEqual(foundIds, memory === undefined ? [] : [memory.id], `${marker} by its word`);
    if (memory === undefined) return;
    const { vector } = await store.ports.embedder.embedQuestion(memory.content);
    const [best] = store.ports.store.scoreVectors(vector).top(1);
    assert.equal(
      best === undefined ? undefined : catalogue.at(best)?.id,
      memory.id,
      `${marker} by its vector`,
    );
    assert.ok((await store.ports.store.readTokens([memory.id])).has(memory.id), `the tokens of ${marker}`);
  }

  #newMemory(batch = 0, words = 3): Known {
    this.#count += 1;
    const marker = `mk${String(this.#count).replace(/\d/g, (digit) => "abcdfghjkl"[Number(digit)] ?? "")}zx`;
    const content = `${marker} ${this.#words(words)}`;
    const known = {
      marker,
      batch,
      id: undefined,
      states: [null, { content, tags: [], version: 1, salience: INITIAL_SALIENCE }],
    };
    this.#known.push(known);
    return known;
  }

  #contentOf(marker: string): string {
    return this.#known.find((known) => known.marker === marker)?.states.at(-1)?.content ?? "";
  }

  #words(count = 3): string {
    return Array.from({ length: count }, () => NOUNS[this.#below(NOUNS.length)]).join(" ");
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function stateOf({ content, tags, version, salience }: SeenMemory): State {
  return { content, tags, version, salience };
}

function isSame(state: State | null, memory: SeenMemory | undefined): boolean {
  if (state === null || memory === undefined) return state === null && memory === undefined;
  return (
    state.content === memory.content &&
    state.tags.join() === memory.tags.join() &&
    state.version === memory.version &&
    Math.abs(state.salience - memory.salience) < FADING
  );
}

function show(state: State | SeenMemory | null | undefined): string {
  return state === null || state === undefined
    ? "gone"
    : `${state.content} [${state.tags.join()}] v${state.version} ${state.salience}`;
}
