import { cosine, meanWindow } from "../embedding.ts";
import { presentOf } from "../facts/fact-store.ts";
import { findFacts } from "../facts/find-facts.ts";
import { answeringFacts } from "../facts/answering-facts.ts";
import { changeBetween, tellingTerms } from "../memories/infer-updates.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { occurredAtOf, type SeenMemory } from "../memory.ts";
import type { CatalogueEntry, MemoryFilter, Ordinal, QueryTerm } from "../ports.ts";
import { termWeights } from "../recall/bm25.ts";
import { queryMemory } from "../recall/query-memory.ts";
import { analyse } from "../text/analyser.ts";
import { readPrompt } from "../text/asking-part.ts";
import { CONTEXT_KINDS, judge, KIND_OF_TAG, MAX_CHARS, withBefore } from "./context-item.ts";
import type { ContextItem, ContextKind } from "./context-item.ts";
import { oneLine, shortened, shortId } from "../text/text-size.ts";

export interface ContextInput {
  readonly userId?: string;
  /** It and what has no project are told of; absent: every project. */
  readonly project?: string;
  /** The topic of the work; items that answer it come first. */
  readonly query?: string;
  /** At least 100. */
  readonly maxTokens: number;
}

/** An item and what it is worth telling. */
export interface Candidate extends ContextItem {
  readonly value: number;
  /** Place among the items that answer the query best, 0 for the first; undefined for all others. */
  readonly answer?: number;
  /** It only perhaps answers the query. */
  readonly isUnsure?: boolean;
}

/** Looked at in each of the project and what has none: the newest, those with words of a cue, and of each kind. */
const NEWEST = 100;
const CUED = 100;
const OF_KIND = 40;
const FACTS = 100;
const HITS = 20;
/** Told before all else. */
const ANSWERS_FIRST = 5;
const FACTS_FIRST = 2;
/** More tokens than these stand around the items. */
const FRAME = 60;
const DAY_MS = 86_400_000;

/** Words that tell what lasts from what is passing. They only choose what is read; `statementKind` judges. */
const CUES = [
  ...new Set(
    analyse(
      "prefer always never please avoid hate like rule instead decided decision agreed chose choose use using switched settled must " +
        "todo open pending blocked next remains follow-up still need fixed finished shipped released merged implemented actually correction wrong " +
        "immer nie lieber bevorzuge entschieden beschlossen statt offen noch erledigt toujours jamais prefere decide decidé choisi reste " +
        "siempre nunca prefiero decidimos decidido pendiente falta sempre mai preferisco deciso invece manca preferimos nunca decidimos pendente " +
        "altijd nooit liever besloten afgesproken nog openstaand",
    ),
  ),
];

interface Worth {
  readonly worth: number;
  /** Time after which an item counts half, from the newest one on; work fades first. */
  readonly halfLifeDays: number;
  /** Beside a project: what a person wants holds everywhere, what was done elsewhere hardly matters. */
  readonly withoutProject: number;
}
const WORTH: Readonly<Record<ContextKind, Worth>> = {
  preference: { worth: 1, halfLifeDays: 730, withoutProject: 0.9 },
  correction: { worth: 1, halfLifeDays: 365, withoutProject: 0.8 },
  decision: { worth: 1, halfLifeDays: 365, withoutProject: 0.5 },
  fact: { worth: 0.8, halfLifeDays: 365, withoutProject: 0.6 },
  open: { worth: 0.9, halfLifeDays: 60, withoutProject: 0.5 },
  summary: { worth: 0.9, halfLifeDays: 10, withoutProject: 0.4 },
  done: { worth: 0.8, halfLifeDays: 10, withoutProject: 0.4 },
};
/** A preference is as near as this at least: how somebody likes to be answered is near to no project. */
const LEAST_NEAR_OF_PREFERENCE = 0.5;
/** Factor for what a later note perhaps replaced: a guess orders and hides nothing. */
const PERHAPS_REPLACED = 0.8;
/** Factor for what answers the query. */
const ANSWERS = 2;
/** Sureness of the beginning of a document, and of a note that tells nothing that lasts. */
const OF_DOCUMENT = 0.3;
const HARDLY = 0.03;
/** Some 5 ms for notes, 30 ms for the longest texts. */
const JUDGED_PER_TURN = 20;

/**
 * The items that a context may tell, each with its worth, in no order: notes that hold, of the user, the project and without one, and facts
 * true now; no text of documents. Cost: a few scans in memory, and at most some 1 000 notes read, however many there are.
 */
export async function gatherItems(ports: MemoryPorts, input: ContextInput): Promise<Candidate[]> {
  const asked = await answering(ports, input);
  const { snippets, facts: answers, places, unsure } = asked;
  const { notes, before, memories } = await gatherNotes(ports, input, asked);
  return [...notes, ...factItems(ports, input, answers)].map((item) => {
    const answer = places.get(item.id);
    // A long note is told by the part that answers.
    const told = oneLine(snippets.get(item.id) ?? item.text);
    const by = memories.get(item.id)?.superseded?.by;
    const earlier = before.get(item.id);
    const replaced = by === undefined ? told : `${told} (perhaps replaced by ${shortId(by)})`;
    const text = earlier === undefined ? replaced : withBefore(replaced, earlier, true);
    return answer === undefined
      ? { ...item, text }
      : { ...item, text, answer, isUnsure: unsure.has(item.id) };
  });
}

/**
 * The notes among the items, each in its own words; all memories that were read for them, and those who speak in them, folded;
 * `before` has the words of earlier notes by the ids of those that replaced them.
 * @param others ids of memories that are told by their beginnings where notes tell little.
 */
export async function gatherNotes(
  ports: Pick<MemoryPorts, "store" | "clock" | "frequencies" | "nextTurn">,
  { userId, project }: Pick<ContextInput, "userId" | "project">,
  { snippets, places }: Pick<Asked, "snippets" | "places"> = NOTHING_ASKED,
  others: readonly string[] = [],
) {
  const base = notesOf(userId);
  const filters: readonly MemoryFilter[] =
    project === undefined ? [base] : [project, null].map((one) => ({ ...base, projects: [one] }));
  const ids = new Set([...snippets.keys(), ...others]);
  for (const filter of filters) for (const id of likely(ports, filter)) ids.add(id);
  const memories = await ports.store.readMemories([...ids]);
  const judgedNotes: {
    readonly memory: SeenMemory;
    readonly entry: CatalogueEntry;
    readonly judged: NonNullable<ReturnType<typeof judge>>;
  }[] = [];
  const speakers = new Set<string>();
  for (const [place, memory] of [...memories.values()].entries()) {
    if (place % JUDGED_PER_TURN === JUDGED_PER_TURN - 1) await ports.nextTurn();
    const { id, content, sessionId } = memory;
    const entry = ports.store.catalogue.find(id);
    if (entry === undefined || memory.superseded?.how === "told") continue;
    const { asks, speaker } = entry.traits;
    const isTurn = speaker !== null && sessionId !== null;
    if (isTurn) speakers.add(speaker);
    const kind = "fact";
    let judged =
      entry.documentId === null ? judge(memory, { asks, isTurn: isTurn && !places.has(id) }) : undefined;
    // What answers is told, whatever it is.
    if (places.has(id)) judged ??= { kind, text: content, sureness: 1 };
    if (others.includes(id))
      judged ??= {
        kind,
        text: shortened(oneLine(content), MAX_CHARS),
        sureness: entry.documentId === null ? HARDLY : OF_DOCUMENT,
      };
    if (judged !== undefined) judgedNotes.push({ memory, entry, judged });
  }
  // Some may have been changed or deleted meanwhile.
  for (const { id, version } of memories.values())
    if (ports.store.catalogue.find(id)?.version !== version) memories.delete(id);
  const items = judgedNotes.filter(({ memory }) => memories.has(memory.id));
  // Ages count from the last note, however long ago that was; what is dated ahead makes no other note older.
  const now = ports.clock.now();
  const happened = items.map(({ memory }) => occurredAtOf(memory)).filter((at) => at <= now);
  const newest = happened.reduce((latest, at) => Math.max(latest, at), -Infinity);
  const nearness = nearnessTo(
    ports,
    project,
    items.map(({ entry }) => entry),
  );
  const notes = items.map(({ memory, entry, judged: { kind, text, sureness } }): Candidate => {
    const at = occurredAtOf(memory);
    const { worth, halfLifeDays, withoutProject } = WORTH[kind];
    const age = Math.max(0, newest - at);
    const leastNear = kind === "preference" ? LEAST_NEAR_OF_PREFERENCE : 0;
    const value =
      worth *
      sureness *
      2 ** (-age / (halfLifeDays * DAY_MS)) *
      (0.75 + memory.salience / 2) *
      (project === undefined || memory.project !== null
        ? 1
        : withoutProject * Math.max(leastNear, nearness(entry.ordinal))) *
      (memory.superseded === null ? 1 : PERHAPS_REPLACED) *
      (snippets.has(memory.id) ? ANSWERS : 1);
    return { kind, id: memory.id, text, at, project: memory.project, value };
  });
  // The newer of two values is told with the one before it, and is worth as much as the more valuable of them.
  const values = new Map(notes.map(({ id, value }) => [id, value]));
  const before = new Map<string, string>();
  const changed = changedPreferences(notes);
  const isEarlier = ({ id, text, value }: Candidate) => {
    const by = memories.get(id)?.superseded?.by ?? changed.get(id);
    const later = by === undefined ? undefined : values.get(by);
    if (by === undefined || later === undefined || places.has(id)) return false;
    before.set(by, text);
    values.set(by, Math.max(later, value));
    return true;
  };
  const shown = notes
    .toSorted((a, b) => a.at - b.at)
    .filter((note) => !isEarlier(note))
    .map((note) => ({ ...note, value: values.get(note.id) ?? note.value }));
  return { notes: shown, before, memories, speakers: [...speakers] };
}

/**
 * Preferences, by id, with the id of a later one that tells a change and alone has a word of theirs: "prefers jest", and "now prefers vitest
 * over jest".
 */
function changedPreferences(notes: readonly Candidate[]): ReadonlyMap<string, string> {
  const wishes = notes.filter(({ kind }) => kind === "preference").toSorted((a, b) => a.at - b.at);
  const terms = wishes.map(({ text, project }) => tellingTerms(text, project));
  const having = new Map<string, number[]>();
  for (const [place, each] of terms.entries())
    for (const term of each) having.set(term, [...(having.get(term) ?? []), place]);
  const changed = new Map<string, string>();
  for (const places of having.values()) {
    const [earlier, later] = places.map((place) => wishes[place]);
    if (places.length !== 2 || earlier === undefined || later === undefined) continue;
    const isChanged = earlier.at < later.at && changeBetween(earlier.text, later.text) === "clear";
    if (isChanged) changed.set(earlier.id, later.id);
  }
  return changed;
}

interface Asked {
  /** The notes that answer the query or perhaps do, by id with the part that does. */
  readonly snippets: ReadonlyMap<string, string>;
  /** Ids of facts that answer. */
  readonly facts: ReadonlySet<string>;
  /** The places of the best of both. */
  readonly places: ReadonlyMap<string, number>;
  /** Ids of notes that only perhaps answer. */
  readonly unsure: ReadonlySet<string>;
}

const NOTHING_ASKED: Asked = {
  snippets: new Map(),
  facts: new Set(),
  places: new Map(),
  unsure: new Set(),
};

/** All that a user, or anybody, wrote; no text of documents. */
const notesOf = (userId: string | undefined): MemoryFilter =>
  userId === undefined ? { documents: false } : { userId, documents: false };

/** Ids of notes that are likely to be worth telling. */
function likely(
  { store, frequencies }: Pick<MemoryPorts, "store" | "frequencies">,
  filter: MemoryFilter,
): string[] {
  const { catalogue } = store;
  const selection = catalogue.select(filter);
  if (selection.size === 0) return [];
  const ordinals = new Set<Ordinal>(selection.list().slice(-NEWEST));
  if (selection.size > NEWEST) {
    const ofKind = [
      ...CONTEXT_KINDS.map((kind) => ({ metadata: { kind } })),
      ...Array.from(KIND_OF_TAG.keys(), (tag) => ({ tags: [tag] })),
    ];
    for (const one of ofKind)
      for (const ordinal of catalogue
        .select({ ...filter, ...one })
        .list()
        .slice(-OF_KIND))
        ordinals.add(ordinal);
    const weights = termWeights(store.termStatistics(selection), frequencies);
    const terms = CUES.map((term): QueryTerm => ({ term, weight: weights.inverseDocumentFrequency(term) }));
    for (const ordinal of store.scoreWords(terms, weights.averageLength, selection).top(CUED))
      ordinals.add(ordinal);
  }
  return [...ordinals].flatMap((ordinal) =>
    catalogue.supersession(ordinal)?.how === "told" ? [] : (catalogue.idAt(ordinal) ?? []),
  );
}

async function answering(
  ports: MemoryPorts,
  { query, project, userId, maxTokens }: ContextInput,
): Promise<Asked> {
  if (query === undefined) return NOTHING_ASKED;
  const projects = project === undefined ? {} : { projects: [project, null] };
  const { hits, relevant, plausible } = await queryMemory(ports, {
    query,
    limit: HITS,
    // So that the first answer fits beside what stands around it.
    snippetChars: Math.min(MAX_CHARS, maxTokens - FRAME),
    filter: { ...notesOf(userId), ...projects },
  });
  const facts = await answeringFacts(ports, {
    question: readPrompt(query).asking,
    at: presentOf(ports.clock, ports.store.catalogue.facts.latestRecordedAt),
    ...(userId === undefined ? {} : { userId }),
    ...projects,
  });
  const notes = hits.slice(0, plausible).filter(({ memory }) => memory.superseded?.how !== "told");
  const best = [...facts.slice(0, FACTS_FIRST).map(({ id }) => id), ...notes.map(({ memory }) => memory.id)];
  return {
    snippets: new Map(notes.map(({ memory, snippet = "" }) => [memory.id, snippet])),
    facts: new Set(facts.map(({ id }) => id)),
    places: new Map(best.slice(0, ANSWERS_FIRST).map((id, place) => [id, place])),
    unsure: new Set(hits.slice(relevant, plausible).map(({ memory }) => memory.id)),
  };
}

/**
 * How near a note without a project is to the project's own notes, in (0, 1]; 1 without a project or without notes of it.
 * Notes of one model are all alike to a degree, so the project's own ones say what is near.
 */
function nearnessTo(
  { store }: Pick<MemoryPorts, "store">,
  project: string | undefined,
  entries: readonly CatalogueEntry[],
): (ordinal: Ordinal) => number {
  if (project === undefined) return () => 1;
  const own = entries.filter((entry) => entry.project === project);
  const vectors = own.flatMap(({ ordinal }) => {
    const windows = store.windowsOf(ordinal);
    return windows.length === 0 ? [] : [meanWindow(windows)];
  });
  if (vectors.length === 0) return () => 1;
  const centre = meanWindow(vectors);
  const likeness = vectors.map((vector) => cosine(vector, centre)).sort((a, b) => a - b);
  const [low, middle] = [likeness[0] ?? 0, likeness[likeness.length >> 1] ?? 1];
  return (ordinal) => {
    const windows = store.windowsOf(ordinal);
    if (windows.length === 0) return 1;
    const near = cosine(meanWindow(windows), centre);
    return Math.min(1, Math.max(0.1, (near - (2 * low - middle)) / Math.max(0.05, 2 * (middle - low))));
  };
}

function factItems(
  ports: Pick<MemoryPorts, "store" | "clock">,
  { userId, project }: ContextInput,
  answers: ReadonlySet<string>,
): Candidate[] {
  const { facts } = findFacts(ports, {
    ...(userId === undefined ? {} : { userId }),
    ...(project === undefined ? {} : { projects: [project, null] }),
    at: presentOf(ports.clock, ports.store.catalogue.facts.latestRecordedAt),
    limit: FACTS,
  });
  return facts.map((fact) => {
    const { subject, predicate, object, confidence, validFrom, id } = fact;
    const text = oneLine([subject, predicate.replaceAll("_", " "), object].join(" "));
    const place = project === undefined || fact.project !== null ? 1 : WORTH.fact.withoutProject;
    return {
      kind: "fact",
      id,
      text: shortened(text, MAX_CHARS),
      at: validFrom,
      project: fact.project,
      value: WORTH.fact.worth * confidence * place * (answers.has(id) ? ANSWERS : 1),
    };
  });
}
