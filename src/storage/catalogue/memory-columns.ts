import { type Sector, SECTORS, type Signals } from "../../core/memory.ts";
import type { CatalogueEntry, MemoryFilter, Ordinal, UserMemories } from "../../core/ports.ts";
import type { MemoryRow } from "../../core/rows.ts";
import type { MemoryTraits } from "../../core/recall/traits.ts";
import { Column, Interner, metadataKeys, placeIn, Successors } from "./column.ts";

/** The columns of memories in the catalogue: everything but the texts. */
export type SlimMemoryRow = Omit<MemoryRow, "content" | "terms">;

const uint8 = () => new Column((length) => new Uint8Array(length));
const int32 = () => new Column((length) => new Int32Array(length));
const float64 = () => new Column((length) => new Float64Array(length));
const NO_NUMBERS: readonly number[] = [];
const ASKS = 1;
const TELLS_TIME = 2;

/**
 * Memories as columns of numbers by ordinal: about 350 bytes each with the maps beside, where an object each would take
 * three times that. Strings that repeat (users, projects, sessions, tags, clients) are interned.
 */
export class MemoryColumns {
  /** The latest time of writing or seeing that any memory has ever borne; 0 without any. */
  latestTime = 0;
  #size = 0;
  #ordinals = 0;
  readonly #live = uint8();
  readonly #ids: string[] = [];
  readonly #hashes: string[] = [];
  readonly #order = float64();
  readonly #createdAt = float64();
  readonly #updatedAt = float64();
  /** NaN: not said. */
  readonly #occurredAt = float64();
  readonly #lastSeenAt = float64();
  readonly #salience = float64();
  readonly #version = int32();
  readonly #words = int32();
  /** One bit a trait. */
  readonly #traits = uint8();
  readonly #speaker = int32();
  readonly #user = int32();
  readonly #project = int32();
  readonly #session = int32();
  readonly #createdBy = int32();
  readonly #document = int32();
  readonly #primarySector = uint8();
  /** One bit a sector. */
  readonly #sectors = uint8();
  /** By bits and primary sector. */
  readonly #sectorLists: (readonly Sector[])[] = [];
  readonly #tags: (readonly number[])[] = [];
  readonly #metadata: (readonly number[])[] = [];
  readonly #nameLists: (readonly number[])[] = [];
  readonly successors = new Successors();

  readonly #users = new Interner();
  readonly #projects = new Interner();
  readonly #sessions = new Interner();
  readonly #clients = new Interner();
  readonly #documents = new Interner();
  readonly #speakers = new Interner();
  readonly #names = new Interner();
  readonly #tagNames = new Interner();

  readonly #ordinalOfId = new Map<string, Ordinal>();
  /** Nearly always one; several after memories were changed to be the same. Ascending. */
  readonly #ordinalsOfHash = new Map<string, Ordinal | readonly Ordinal[]>();
  /** By user and session (null: the user's memories without one): a number each, and by that the ordinals ascending. */
  readonly #seriesNumbers = new Map<string, number>();
  readonly #series: Ordinal[][] = [];
  readonly #seriesNumber = int32();

  get size(): number {
    return this.#size;
  }

  get ordinals(): number {
    return this.#ordinals;
  }

  /** Puts a memory at a free ordinal: newer than all with lower ones. */
  put(ordinal: Ordinal, row: SlimMemoryRow, signals: Signals): void {
    this.#ordinals = Math.max(this.#ordinals, ordinal + 1);
    this.#ids[ordinal] = row.id;
    this.#order.set(ordinal, row.order);
    const user = this.#users.number(row.userId);
    const session = this.#sessions.number(row.sessionId);
    this.#user.set(ordinal, user);
    this.#session.set(ordinal, session);
    this.#seriesNumber.set(ordinal, this.#numberOfSeries(user, session));
    this.#createdBy.set(ordinal, this.#clients.number(row.createdBy));
    this.#document.set(ordinal, this.#documents.number(row.source?.documentId ?? null));
    this.#write(ordinal, row);
    this.setSignals(ordinal, signals);
    this.unhide(ordinal);
  }

  /** Writes what may change about a memory. */
  replace(ordinal: Ordinal, row: SlimMemoryRow): void {
    this.#forgetHash(ordinal);
    this.#write(ordinal, row);
    this.#holdHash(ordinal);
  }

  /** Takes a memory out of every answer, with all of it kept for `unhide`. */
  hide(ordinal: Ordinal): void {
    this.#live.set(ordinal, 0);
    this.#size -= 1;
    this.#ordinalOfId.delete(this.idOf(ordinal));
    this.#forgetHash(ordinal);
    const series = this.#seriesOf(ordinal);
    const place = placeIn(series, ordinal);
    if (series[place] === ordinal) series.splice(place, 1);
  }

  unhide(ordinal: Ordinal): void {
    this.#live.set(ordinal, 1);
    this.#size += 1;
    this.#ordinalOfId.set(this.idOf(ordinal), ordinal);
    this.#holdHash(ordinal);
    const series = this.#seriesOf(ordinal);
    series.splice(placeIn(series, ordinal), 0, ordinal);
  }

  isLive(ordinal: Ordinal): boolean {
    return this.#live.get(ordinal) === 1;
  }

  idOf(ordinal: Ordinal): string {
    return this.#ids[ordinal] ?? "";
  }

  orderOf(ordinal: Ordinal): number {
    return this.#order.get(ordinal);
  }

  users(): Map<string, UserMemories> {
    const found: { count: number; firstAt: number; lastAt: number }[] = [];
    for (let ordinal = 0; ordinal < this.#ordinals; ordinal += 1) {
      const user = this.#user.get(ordinal);
      if (user === 0 || this.#live.get(ordinal) === 0) continue;
      const occurredAt = this.effectiveTime(ordinal);
      const known = (found[user] ??= { count: 0, firstAt: occurredAt, lastAt: occurredAt });
      known.count += 1;
      if (occurredAt < known.firstAt) known.firstAt = occurredAt;
      if (occurredAt > known.lastAt) known.lastAt = occurredAt;
    }
    // Numbers of users without a memory have no entry, which forEach passes over.
    const users = new Map<string, UserMemories>();
    found.forEach((memories, user) => users.set(this.#users.string(user) ?? "", memories));
    return users;
  }

  /** Index into `SECTORS`. */
  primarySectorOf(ordinal: Ordinal): number {
    return this.#primarySector.get(ordinal);
  }

  ordinalOf(id: string): Ordinal | undefined {
    return this.#ordinalOfId.get(id);
  }

  duplicatesOf(hash: string): Ordinal[] {
    return [this.#ordinalsOfHash.get(hash) ?? []].flat();
  }

  hasSameUser(a: Ordinal, b: Ordinal): boolean {
    return this.#user.get(a) === this.#user.get(b);
  }

  signals(ordinal: Ordinal): Signals {
    return { salience: this.#salience.get(ordinal), lastSeenAt: this.#lastSeenAt.get(ordinal) };
  }

  setSignals(ordinal: Ordinal, { salience, lastSeenAt }: Signals): void {
    this.#salience.set(ordinal, salience);
    this.#lastSeenAt.set(ordinal, lastSeenAt);
    this.latestTime = Math.max(this.latestTime, lastSeenAt);
  }

  setTraits(ordinal: Ordinal, { asks, tellsTime, speaker, names, words }: MemoryTraits): void {
    this.#traits.set(ordinal, (asks ? ASKS : 0) | (tellsTime ? TELLS_TIME : 0));
    this.#speaker.set(ordinal, this.#speakers.number(speaker));
    this.#nameLists[ordinal] = numbersOf(names, this.#names);
    this.#words.set(ordinal, words);
  }

  /** @param salienceOf what the stored salience is worth now. */
  entry(
    ordinal: Ordinal,
    salienceOf: (signals: Signals, sector: Sector) => number,
  ): CatalogueEntry | undefined {
    if (!this.isLive(ordinal)) return undefined;
    const createdAt = this.#createdAt.get(ordinal);
    const occurredAt = this.#occurredAt.get(ordinal);
    const traits = this.#traits.get(ordinal);
    const signals = this.signals(ordinal);
    const primarySector = SECTORS[this.#primarySector.get(ordinal)] ?? "semantic";
    // Spelled out, not spread: hundreds are made a question.
    return {
      ordinal,
      id: this.idOf(ordinal),
      userId: this.#users.string(this.#user.get(ordinal)),
      project: this.#projects.string(this.#project.get(ordinal)),
      sessionId: this.#sessions.string(this.#session.get(ordinal)),
      createdBy: this.#clients.string(this.#createdBy.get(ordinal)),
      documentId: this.#documents.string(this.#document.get(ordinal)),
      occurredAt: Number.isNaN(occurredAt) ? createdAt : occurredAt,
      isTimeGiven: !Number.isNaN(occurredAt),
      createdAt,
      updatedAt: this.#updatedAt.get(ordinal),
      lastSeenAt: signals.lastSeenAt,
      salience: salienceOf(signals, primarySector),
      version: this.#version.get(ordinal),
      primarySector,
      sectors: this.#sectorsOf(ordinal),
      tags: this.#strings(this.#tags[ordinal], this.#tagNames),
      supersedes: this.successors.idsOf(ordinal),
      traits: {
        asks: (traits & ASKS) !== 0,
        tellsTime: (traits & TELLS_TIME) !== 0,
        speaker: this.#speakers.string(this.#speaker.get(ordinal)),
        names: this.#strings(this.#nameLists[ordinal], this.#names),
        words: this.#words.get(ordinal),
      },
    };
  }

  /** Remembers what `replace` overwrites, and answers the way back. */
  state(ordinal: Ordinal): () => void {
    const columns = [
      this.#updatedAt,
      this.#occurredAt,
      this.#version,
      this.#words,
      this.#traits,
      this.#speaker,
      this.#project,
      this.#primarySector,
      this.#sectors,
    ];
    const values = columns.map((column) => column.get(ordinal));
    const lists = [this.#tags, this.#metadata, this.#nameLists].map((list) => list[ordinal] ?? NO_NUMBERS);
    const hash = this.#hashes[ordinal] ?? "";
    const supersedes = this.successors.idsOf(ordinal);
    return () => {
      this.#forgetHash(ordinal);
      this.successors.set(ordinal, supersedes);
      columns.forEach((column, i) => column.set(ordinal, values[i] ?? 0));
      [this.#tags, this.#metadata, this.#nameLists].forEach(
        (list, i) => (list[ordinal] = lists[i] ?? NO_NUMBERS),
      );
      this.#hashes[ordinal] = hash;
      this.#holdHash(ordinal);
    };
  }

  sessionNeighbour(ordinal: Ordinal, distance: number): Ordinal | undefined {
    if (this.#session.get(ordinal) === 0) return undefined;
    const series = this.#seriesOf(ordinal);
    return series[placeIn(series, ordinal) + distance];
  }

  latest(userId: string | null, sessionId: string | null): Ordinal | undefined {
    const user = this.#users.known(userId);
    const session = this.#sessions.known(sessionId);
    if (user === undefined || session === undefined) return undefined;
    return this.#series[this.#seriesNumbers.get(`${user}/${session}`) ?? -1]?.at(-1);
  }

  /** A test of one ordinal, made once a filter: names are looked up here, so that the test compares numbers. */
  matcher(filter: MemoryFilter): (ordinal: Ordinal) => boolean {
    const tests: ((ordinal: Ordinal) => boolean)[] = [];
    const equals = (column: Column<Int32Array>, wanted: number | undefined): void => {
      tests.push(wanted === undefined ? () => false : (ordinal) => column.get(ordinal) === wanted);
    };
    if (filter.userId !== undefined) equals(this.#user, this.#users.known(filter.userId));
    if (filter.sessionId !== undefined) equals(this.#session, this.#sessions.known(filter.sessionId));
    if (filter.createdBy !== undefined) equals(this.#createdBy, this.#clients.known(filter.createdBy));
    const { createdFrom, createdTo, idEnd } = filter;
    if (createdFrom !== undefined) tests.push((ordinal) => this.#createdAt.get(ordinal) >= createdFrom);
    if (createdTo !== undefined) tests.push((ordinal) => this.#createdAt.get(ordinal) < createdTo);
    if (idEnd !== undefined) tests.push((ordinal) => this.idOf(ordinal).endsWith(idEnd));
    if (filter.documents === false) equals(this.#document, this.#documents.known(null));
    if (filter.projects !== undefined) {
      const wanted = new Set(filter.projects.map((project) => this.#projects.known(project)));
      tests.push((ordinal) => wanted.has(this.#project.get(ordinal)));
    }
    if (filter.sectors !== undefined) {
      const wanted = sectorBits(filter.sectors);
      tests.push((ordinal) => (this.#sectors.get(ordinal) & wanted) !== 0);
    }
    if (filter.from !== undefined || filter.to !== undefined) {
      const { from = -Infinity, to = Infinity } = filter;
      tests.push((ordinal) => {
        const occurredAt = this.effectiveTime(ordinal);
        return occurredAt >= from && occurredAt < to;
      });
    }
    for (const tag of filter.tags ?? []) {
      const wanted = this.#tagNames.known(tag);
      tests.push((ordinal) => wanted !== undefined && (this.#tags[ordinal] ?? NO_NUMBERS).includes(wanted));
    }
    for (const wanted of metadataKeys(filter.metadata ?? {})) {
      tests.push((ordinal) => (this.#metadata[ordinal] ?? NO_NUMBERS).includes(wanted));
    }
    return (ordinal) => this.#live.get(ordinal) === 1 && tests.every((test) => test(ordinal));
  }

  #write(ordinal: Ordinal, row: SlimMemoryRow): void {
    this.#createdAt.set(ordinal, row.createdAt);
    this.latestTime = Math.max(this.latestTime, row.createdAt, row.updatedAt);
    this.#hashes[ordinal] = row.duplicateHash;
    this.#updatedAt.set(ordinal, row.updatedAt);
    this.#occurredAt.set(ordinal, row.occurredAt ?? Number.NaN);
    this.#version.set(ordinal, row.version);
    this.setTraits(ordinal, row.traits);
    this.#project.set(ordinal, this.#projects.number(row.project));
    this.#primarySector.set(ordinal, SECTORS.indexOf(row.primarySector));
    this.#sectors.set(ordinal, sectorBits(row.sectors));
    this.#tags[ordinal] = numbersOf(row.tags, this.#tagNames);
    const keys = metadataKeys(row.metadata);
    this.#metadata[ordinal] = keys.length === 0 ? NO_NUMBERS : keys;
    this.successors.set(ordinal, row.supersedes);
  }

  effectiveTime(ordinal: Ordinal): number {
    const said = this.#occurredAt.get(ordinal);
    return Number.isNaN(said) ? this.#createdAt.get(ordinal) : said;
  }

  #strings(numbers: readonly number[] | undefined, interner: Interner): string[] {
    return (numbers ?? NO_NUMBERS).map((number) => interner.string(number) ?? "");
  }

  #sectorsOf(ordinal: Ordinal): readonly Sector[] {
    const place = this.#primarySector.get(ordinal);
    const bits = this.#sectors.get(ordinal);
    // One list for all memories that have the same: there are few different ones.
    return (this.#sectorLists[(bits << 3) | place] ??= sectorList(SECTORS[place] ?? "semantic", bits));
  }

  #seriesOf(ordinal: Ordinal): Ordinal[] {
    return this.#series[this.#seriesNumber.get(ordinal)] ?? [];
  }

  #numberOfSeries(user: number, session: number): number {
    const key = `${user}/${session}`;
    const known = this.#seriesNumbers.get(key);
    if (known !== undefined) return known;
    this.#seriesNumbers.set(key, this.#series.length);
    return this.#series.push([]) - 1;
  }

  #holdHash(ordinal: Ordinal): void {
    this.#setHolders(
      ordinal,
      [...this.#holdersBeside(ordinal), ordinal].sort((a, b) => a - b),
    );
  }

  #forgetHash(ordinal: Ordinal): void {
    this.#setHolders(ordinal, this.#holdersBeside(ordinal));
  }

  /** The others with the same hash. */
  #holdersBeside(ordinal: Ordinal): Ordinal[] {
    const holders = this.#ordinalsOfHash.get(this.#hashes[ordinal] ?? "") ?? [];
    return (typeof holders === "number" ? [holders] : holders).filter((holder) => holder !== ordinal);
  }

  #setHolders(ordinal: Ordinal, holders: readonly Ordinal[]): void {
    const hash = this.#hashes[ordinal] ?? "";
    const [first] = holders;
    if (first === undefined) this.#ordinalsOfHash.delete(hash);
    else this.#ordinalsOfHash.set(hash, holders.length === 1 ? first : holders);
  }
}

/** One shared empty list: most memories have none. */
function numbersOf(strings: readonly string[], interner: Interner): readonly number[] {
  return strings.length === 0 ? NO_NUMBERS : strings.map((string) => interner.number(string));
}

const sectorList = (primary: Sector, bits: number): Sector[] => [
  primary,
  ...SECTORS.filter((sector, i) => sector !== primary && (bits & (1 << i)) !== 0),
];

function sectorBits(sectors: readonly Sector[]): number {
  return sectors.reduce((bits, sector) => bits | (1 << SECTORS.indexOf(sector)), 0);
}
