import { type Sector, SECTORS, type Signals } from "../../core/memory.ts";
import type { CatalogueEntry, MemoryFilter, Ordinal, UserMemories } from "../../core/ports.ts";
import type { MemoryRow } from "../../core/rows.ts";
import type { MemoryTraits } from "../../core/recall/traits.ts";
import type { ImagePart } from "../image/index-image.ts";
import {
  Column,
  DuplicateIndex,
  Interner,
  mapValues,
  metadataKeys,
  NO_NUMBERS,
  NumberLists,
  numbersOf,
  placeIn,
  sectorBits,
  stringsOf,
  Successors,
} from "./column.ts";
import { OrdinalSet } from "./ordinal-set.ts";
import { StringColumn, StringTable } from "./string-table.ts";

/** The columns of memories in the catalogue: everything but the texts. */
export type SlimMemoryRow = Omit<MemoryRow, "content" | "terms">;

const uint8 = () => new Column((length) => new Uint8Array(length));
const int32 = () => new Column((length) => new Int32Array(length));
const float64 = () => new Column((length) => new Float64Array(length));
/** The length of a UUID. */
const ID_CHARS = 36;
const ASKS = 1;
const TELLS_TIME = 2;

/**
 * Memories as columns of numbers by ordinal: about 200 bytes each with the tables beside, where an object each would take
 * five times that. Strings that repeat (users, projects, sessions, tags, clients) are interned.
 */
export class MemoryColumns {
  #size = 0;
  #ordinals = 0;
  readonly #live = uint8();
  readonly #ids = new StringColumn(ID_CHARS);
  /** All else that is a number for each memory. */
  readonly #numbers = {
    order: float64(),
    createdAt: float64(),
    /** NaN: not said. */
    occurredAt: float64(),
    lastSeenAt: float64(),
    salience: float64(),
    version: int32(),
    words: int32(),
    /** One bit a trait. */
    traits: uint8(),
    speaker: int32(),
    user: int32(),
    project: int32(),
    session: int32(),
    createdBy: int32(),
    document: int32(),
    primarySector: uint8(),
    /** One bit a sector. */
    sectors: uint8(),
    /** A number for each user and session (0: the user's memories without one). */
    series: int32(),
  } as const;
  readonly #lists = {
    tags: new NumberLists(int32()),
    metadata: new NumberLists(float64()),
    names: new NumberLists(int32()),
  } as const;
  readonly successors = new Successors();
  readonly #duplicates = new DuplicateIndex();

  readonly #strings = {
    users: new Interner(),
    projects: new Interner(),
    sessions: new Interner(),
    clients: new Interner(),
    documents: new Interner(),
    speakers: new Interner(),
    names: new Interner(),
    tags: new Interner(),
    /** As `user/session`, by their numbers. */
    series: new Interner(),
  } as const;

  readonly #ordinalOfId = new StringTable((ordinal) => this.#ids.get(ordinal));
  /** By number of the series: ordinals ascending. */
  readonly #series: Ordinal[][] = [];

  get size(): number {
    return this.#size;
  }

  /** One more than the largest ordinal. */
  get ordinals(): number {
    return this.#ordinals;
  }

  /** Puts a memory at a free ordinal: newer than all with lower ones. */
  put(ordinal: Ordinal, row: SlimMemoryRow, signals: Signals): void {
    this.#ordinals = Math.max(this.#ordinals, ordinal + 1);
    this.#ids.set(ordinal, row.id);
    this.#numbers.order.set(ordinal, row.order);
    const user = this.#strings.users.number(row.userId);
    const session = this.#strings.sessions.number(row.sessionId);
    this.#numbers.user.set(ordinal, user);
    this.#numbers.session.set(ordinal, session);
    this.#numbers.series.set(ordinal, this.#strings.series.number(`${user}/${session}`));
    this.#numbers.createdBy.set(ordinal, this.#strings.clients.number(row.createdBy));
    this.#numbers.document.set(ordinal, this.#strings.documents.number(row.source?.documentId ?? null));
    this.#write(ordinal, row);
    this.setSignals(ordinal, signals);
    this.unhide(ordinal);
  }

  /** For an image, of columns in which every memory is live. */
  toPart() {
    const size = this.#ordinals;
    const [ids, duplicates] = [this.#ids.toPart(size), this.#duplicates.toPart(size)];
    const numbers: ImagePart["numbers"] = {
      ...mapValues(this.#numbers, ({ values }) => values.subarray(0, size)),
      ...this.#lists.tags.toPart("tags", size),
      ...this.#lists.metadata.toPart("metadata", size),
      ...this.#lists.names.toPart("names", size),
      ...duplicates.numbers,
      ids: ids.bytes,
      ordinalOfId: this.#ordinalOfId.slots,
    };
    const strings = mapValues(this.#strings, ({ strings }) => strings);
    const { entries: supersedes } = this.successors;
    return {
      numbers,
      json: { size, strings, otherIds: ids.others, duplicates: duplicates.json, supersedes },
    };
  }

  /** Fills empty columns with what `toPart` gave. */
  fromPart({ numbers, json }: ImagePart): void {
    const { size, strings, otherIds, duplicates, supersedes } = json as unknown as ReturnType<
      MemoryColumns["toPart"]
    >["json"];
    for (const [name, column] of Object.entries(this.#numbers)) column.load(numbers[name]);
    for (const [name, interner] of Object.entries(this.#strings))
      for (const string of strings[name] ?? []) interner.number(string);
    for (const [name, list] of Object.entries(this.#lists)) list.fromPart(name, numbers);
    this.#duplicates.fromPart(numbers, duplicates);
    for (const [ordinal, others] of supersedes) this.successors.set(ordinal, others);
    this.#ids.fromPart(numbers["ids"], otherIds);
    this.#ordinalOfId.load(numbers["ordinalOfId"]);
    this.#ordinals = this.#size = size;
    this.#live.load(new Uint8Array(size).fill(1));
    for (let ordinal = 0; ordinal < size; ordinal += 1) this.#seriesOf(ordinal).push(ordinal);
  }

  /** Writes what may change about a memory. */
  replace(ordinal: Ordinal, row: SlimMemoryRow): void {
    this.#duplicates.forget(ordinal);
    this.#write(ordinal, row);
    this.#duplicates.hold(ordinal);
  }

  /** Takes a memory out of every answer, with all of it kept for `unhide`. */
  hide(ordinal: Ordinal): void {
    this.#live.set(ordinal, 0);
    this.#size -= 1;
    this.#ordinalOfId.delete(this.idOf(ordinal));
    this.#duplicates.forget(ordinal);
    const series = this.#seriesOf(ordinal);
    const place = placeIn(series, ordinal);
    if (series[place] === ordinal) series.splice(place, 1);
  }

  unhide(ordinal: Ordinal): void {
    this.#live.set(ordinal, 1);
    this.#size += 1;
    this.#ordinalOfId.set(this.idOf(ordinal), ordinal);
    this.#duplicates.hold(ordinal);
    const series = this.#seriesOf(ordinal);
    series.splice(placeIn(series, ordinal), 0, ordinal);
  }

  isLive(ordinal: Ordinal): boolean {
    return this.#live.values[ordinal] === 1;
  }

  idOf(ordinal: Ordinal): string {
    return this.#ids.get(ordinal);
  }

  /** Also of a memory that is gone; orders ascend with ordinals. */
  orderAt(ordinal: Ordinal): number {
    return this.#numbers.order.get(ordinal);
  }

  users(): Map<string, UserMemories> {
    const found: { count: number; firstAt: number; lastAt: number }[] = [];
    for (let ordinal = 0; ordinal < this.#ordinals; ordinal += 1) {
      const user = this.#numbers.user.get(ordinal);
      if (user === 0 || this.#live.get(ordinal) === 0) continue;
      const occurredAt = this.effectiveTime(ordinal);
      const known = (found[user] ??= { count: 0, firstAt: occurredAt, lastAt: occurredAt });
      known.count += 1;
      if (occurredAt < known.firstAt) known.firstAt = occurredAt;
      if (occurredAt > known.lastAt) known.lastAt = occurredAt;
    }
    // Numbers of users without a memory have no entry, which forEach passes over.
    const users = new Map<string, UserMemories>();
    found.forEach((memories, user) => users.set(this.#strings.users.string(user) ?? "", memories));
    return users;
  }

  /** Index into `SECTORS`. */
  primarySectorOf(ordinal: Ordinal): number {
    return this.#numbers.primarySector.get(ordinal);
  }

  ordinalOf(id: string): Ordinal | undefined {
    return this.#ordinalOfId.find(id);
  }

  duplicatesOf(hash: string): Ordinal[] {
    return this.#duplicates.of(hash);
  }

  hasSameUser(a: Ordinal, b: Ordinal): boolean {
    return this.#numbers.user.get(a) === this.#numbers.user.get(b);
  }

  signals(ordinal: Ordinal): Signals {
    const { salience, lastSeenAt } = this.#numbers;
    return { salience: salience.values[ordinal] ?? 0, lastSeenAt: lastSeenAt.values[ordinal] ?? 0 };
  }

  setSignals(ordinal: Ordinal, { salience, lastSeenAt }: Signals): void {
    this.#numbers.salience.set(ordinal, salience);
    this.#numbers.lastSeenAt.set(ordinal, lastSeenAt);
  }

  setTraits(ordinal: Ordinal, { asks, tellsTime, speaker, names, words }: MemoryTraits): void {
    this.#numbers.traits.set(ordinal, (asks ? ASKS : 0) | (tellsTime ? TELLS_TIME : 0));
    this.#numbers.speaker.set(ordinal, this.#strings.speakers.number(speaker));
    this.#lists.names.set(ordinal, numbersOf(names, this.#strings.names));
    this.#numbers.words.set(ordinal, words);
  }

  /** @param salienceOf what the stored salience is worth now. */
  entry(
    ordinal: Ordinal,
    salienceOf: (signals: Signals, sector: Sector) => number,
  ): CatalogueEntry | undefined {
    if (!this.isLive(ordinal)) return undefined;
    const strings = this.#strings;
    // The numbers themselves: one `get` for columns of all kinds of numbers is slow, and hundreds of entries are made a question.
    const { createdAt: created, occurredAt, version, words, traits, speaker } = this.#numbers;
    const { user, project, session, createdBy, document, primarySector: sector } = this.#numbers;
    const createdAt = created.values[ordinal] ?? 0;
    const happenedAt = occurredAt.values[ordinal] ?? 0;
    const bits = traits.values[ordinal] ?? 0;
    const signals = this.signals(ordinal);
    const primarySector = SECTORS[sector.values[ordinal] ?? 0] ?? "semantic";
    // Spelled out, not spread.
    return {
      ordinal,
      id: this.idOf(ordinal),
      userId: strings.users.string(user.values[ordinal] ?? 0),
      project: strings.projects.string(project.values[ordinal] ?? 0),
      sessionId: strings.sessions.string(session.values[ordinal] ?? 0),
      createdBy: strings.clients.string(createdBy.values[ordinal] ?? 0),
      documentId: strings.documents.string(document.values[ordinal] ?? 0),
      occurredAt: Number.isNaN(happenedAt) ? createdAt : happenedAt,
      isTimeGiven: !Number.isNaN(happenedAt),
      createdAt,
      lastSeenAt: signals.lastSeenAt,
      salience: salienceOf(signals, primarySector),
      version: version.values[ordinal] ?? 0,
      tags: stringsOf(this.#lists.tags.get(ordinal), strings.tags),
      supersedes: this.successors.idsOf(ordinal),
      traits: {
        asks: (bits & ASKS) !== 0,
        tellsTime: (bits & TELLS_TIME) !== 0,
        speaker: strings.speakers.string(speaker.values[ordinal] ?? 0),
        names: stringsOf(this.#lists.names.get(ordinal), strings.names),
        words: words.values[ordinal] ?? 0,
      },
    };
  }

  /** Remembers what `replace` overwrites, and answers the way back. */
  state(ordinal: Ordinal): () => void {
    const { occurredAt, version, words, traits, speaker, project, primarySector, sectors } = this.#numbers;
    const columns = [occurredAt, version, words, traits, speaker, project, primarySector, sectors];
    const values = columns.map((column) => column.get(ordinal));
    const lists = Object.values(this.#lists);
    const numbers = lists.map((list) => list.get(ordinal));
    const hash = this.#duplicates.hashes.get(ordinal);
    const supersedes = this.successors.idsOf(ordinal);
    return () => {
      this.#duplicates.forget(ordinal);
      this.successors.set(ordinal, supersedes);
      columns.forEach((column, i) => column.set(ordinal, values[i] ?? 0));
      lists.forEach((list, i) => list.set(ordinal, numbers[i] ?? []));
      this.#duplicates.hashes.set(ordinal, hash);
      this.#duplicates.hold(ordinal);
    };
  }

  around(ordinal: Ordinal): readonly (Ordinal | undefined)[] {
    if ((this.#numbers.session.values[ordinal] ?? 0) === 0) return NO_NUMBERS;
    const series = this.#seriesOf(ordinal);
    const place = placeIn(series, ordinal);
    return [series[place - 2], series[place - 1], series[place + 1], series[place + 2]];
  }

  seriesNeighbour(ordinal: Ordinal, distance: number): Ordinal | undefined {
    const series = this.#seriesOf(ordinal);
    return series[placeIn(series, ordinal) + distance];
  }

  documentNeighbours(ordinal: Ordinal): Ordinal[] {
    const { values } = this.#numbers.document;
    if ((values[ordinal] ?? 0) === 0) return [];
    return [ordinal - 1, ordinal + 1].filter(
      (other) => values[other] === values[ordinal] && this.isLive(other),
    );
  }

  /** Names are looked up here, so that numbers are compared. */
  select(filter: MemoryFilter): OrdinalSet {
    const strings = this.#strings;
    // macOS writes letters and their accents apart.
    const wantedTags = (filter.tags ?? []).map((tag) =>
      [...new Set([tag, tag.normalize("NFC"), tag.normalize("NFD")])].flatMap(
        (form) => strings.tags.known(form) ?? [],
      ),
    );
    const hasUnknownTag = wantedTags.some((wanted) => wanted.length === 0);
    const set = new OrdinalSet(this.#live.values, hasUnknownTag ? 0 : this.#ordinals);
    if (hasUnknownTag) return set;
    const { user, session, createdBy, document, project, sectors, createdAt, occurredAt } = this.#numbers;
    const { userId, sessionId, projects, createdFrom, createdTo, idEnd, from, to } = filter;
    if (userId !== undefined) set.keepEqual(user.values, [strings.users.known(userId)]);
    if (sessionId !== undefined) set.keepEqual(session.values, [strings.sessions.known(sessionId)]);
    if (filter.createdBy !== undefined)
      set.keepEqual(createdBy.values, [strings.clients.known(filter.createdBy)]);
    if (filter.documents === false) set.keepEqual(document.values, [strings.documents.known(null)]);
    if (projects !== undefined)
      set.keepEqual(
        project.values,
        projects.map((name) => strings.projects.known(name)),
      );
    if (filter.sectors !== undefined) set.keepBits(sectors.values, sectorBits(filter.sectors));
    if (createdFrom !== undefined || createdTo !== undefined)
      set.keepBetween(createdAt.values, createdAt.values, createdFrom, createdTo);
    if (from !== undefined || to !== undefined)
      set.keepBetween(occurredAt.values, createdAt.values, from, to);
    if (idEnd !== undefined) set.keepIf((ordinal) => this.idOf(ordinal).endsWith(idEnd));
    const { tags, metadata } = this.#lists;
    for (const wanted of wantedTags) set.keepIf((ordinal) => wanted.some((one) => tags.has(ordinal, one)));
    for (const wanted of metadataKeys(filter.metadata ?? {}))
      set.keepIf((ordinal) => metadata.has(ordinal, wanted));
    return set;
  }

  #write(ordinal: Ordinal, row: SlimMemoryRow): void {
    this.#numbers.createdAt.set(ordinal, row.createdAt);
    this.#duplicates.hashes.set(ordinal, row.duplicateHash);
    this.#numbers.occurredAt.set(ordinal, row.occurredAt ?? Number.NaN);
    this.#numbers.version.set(ordinal, row.version);
    this.setTraits(ordinal, row.traits);
    this.#numbers.project.set(ordinal, this.#strings.projects.number(row.project));
    this.#numbers.primarySector.set(ordinal, SECTORS.indexOf(row.primarySector));
    this.#numbers.sectors.set(ordinal, sectorBits(row.sectors));
    this.#lists.tags.set(ordinal, numbersOf(row.tags, this.#strings.tags));
    this.#lists.metadata.set(ordinal, metadataKeys(row.metadata));
    this.successors.set(ordinal, row.supersedes);
  }

  effectiveTime(ordinal: Ordinal): number {
    const said = this.#numbers.occurredAt.get(ordinal);
    return Number.isNaN(said) ? this.#numbers.createdAt.get(ordinal) : said;
  }

  #seriesOf(ordinal: Ordinal): Ordinal[] {
    return (this.#series[this.#numbers.series.values[ordinal] ?? 0] ??= []);
  }
}
