import { termsOfName } from "../text/analyser.ts";
import { type QuestionEmbedding, TOKEN_DIMENSIONS, TOKEN_SCALE } from "../embedding.ts";
import type { Catalogue, CatalogueEntry, MemoryStore, Ordinal, Selection } from "../ports.ts";
import { containsPhrase, type RankingQuestion } from "./question.ts";
import { NO_MATCHES, type Surroundings, surroundingsOf, worthReading } from "./ranking.ts";
import type { RankingCandidate, RankingEdge } from "./ranking-candidate.ts";
import { Int8Rows } from "./int8-kernel.ts";
import { isNote } from "./traits.ts";

/**
 * Tokens of a memory that count in full; those further down count so much. Of many tokens one always matches, and what
 * a long text is about stands in its beginning: what a user asks before what the assistant lists.
 */
const FRONT_TOKENS = 128;
const FURTHER_DOWN = 0.85;

/** How well a token of the question matches a memory that has its word as a tag or in the name of its project. */
const PLACE_MATCH = 0.9;
/** The same of a note that has its word. */
const WORD_MATCH = 0.7;

/** Used by one question at a time: matching waits for nothing. */
let scratch: Int8Rows | undefined;

/**
 * Late interaction: for each memory and each token of the question, the cosine with the memory's nearest token. All
 * memories in one scan per four tokens: 250 memories of 20 tokens and a question of 12 take .3 ms.
 *
 * @see Khattab & Zaharia, "ColBERT", SIGIR 2020: the maximum per question token is theirs.
 */
export function matchTokens(
  question: Int8Array,
  memories: readonly (Int8Array | undefined)[],
): Float32Array[] {
  const rows = (scratch ??= new Int8Rows(TOKEN_DIMENSIONS));
  rows.load(memories);
  const count = question.length / TOKEN_DIMENSIONS;
  const present = memories.filter((vectors) => vectors !== undefined && vectors.length > 0);
  /** Of each memory with tokens two lists of rows: its front, and what is further down. */
  const ends: number[] = [];
  let row = 0;
  for (const vectors of present) {
    const length = (vectors?.length ?? 0) / TOKEN_DIMENSIONS;
    ends.push(row + Math.min(length, FRONT_TOKENS), row + length);
    row += length;
  }
  const best = rows.maxima(question, ends);
  // One buffer for all: hundreds of buffers would take longer than their numbers.
  const all = new Float32Array(memories.length * count);
  let next = 0;
  return memories.map((vectors, i) => {
    const own = all.subarray(i * count, (i + 1) * count);
    if (vectors === undefined || vectors.length === 0) return own;
    for (let token = 0; token < count; token += 1) {
      const [front, further] = [2 * next * count + token, (2 * next + 1) * count + token];
      const nearest = Math.max(best[front] ?? 0, FURTHER_DOWN * (best[further] ?? 0));
      own[token] = nearest / TOKEN_SCALE ** 2;
    }
    next += 1;
    return own;
  });
}

export interface Candidate extends RankingCandidate {
  readonly id: string;
  /** False for a memory that is here for its neighbours alone: it is ranked with them, and no answer. */
  readonly isSelected: boolean;
}

export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** The links between them, and the steps along a document; `around` stands for those in a session. */
  readonly edges: readonly RankingEdge[];
  readonly surroundings: Surroundings;
}

/**
 * The best of each arm become candidates; of these and their neighbours the most promising have their token vectors read. Among 18 000
 * memories these numbers find as many answers as those of many memories; among 100 000 they lose one in 25.
 */
const BREADTH = { anArm: 60, read: 200 } as const;
const BREADTH_OF_MANY = { anArm: 100, read: 250 } as const;
/** From this many memories on. */
const MANY = 20_000;
/** A selection of so many memories is looked at whole: the answer is the exact order then, and costs no more. */
const LOOKED_AT_WHOLE = 300;
/** Best of each arm from which waypoints are followed to memories that neither arm found. */
const FOLLOWED_AN_ARM = 20;
/** Memories that may name the time of a question; the best of more. */
const MAX_NAMING = 1_000;

/** Memories among which candidates are looked for; undefined for all. */
export interface Among {
  /** The user's, whatever filters: how an answer stands out among them says what it is worth. */
  readonly whole: Selection | undefined;
  /** Those of them that may be answers. */
  readonly selection: Selection | undefined;
  /** How many are asked for. */
  readonly limit?: number;
  /** Parts of both of which the best are candidates, however far behind they are: those of the question's time. */
  readonly preferred?: readonly Selection[];
}

/**
 * The memories that may answer a question, and those that an answer is compared with: the best of each by words and by vectors,
 * and what waypoints lead to from them; beside them their neighbours in the session. All are ranked together, so a filter
 * changes which memories are answers and not what they are worth. Reads the token vectors of the promising, and texts only
 * for a question that quotes a phrase.
 *
 * @param withPaste the vector of the question together with what was pasted beside it.
 */
export async function gatherCandidates(
  store: MemoryStore,
  question: RankingQuestion,
  embedding: QuestionEmbedding,
  { whole, selection, preferred = [], limit = 0 }: Among,
  withPaste?: Float32Array,
): Promise<Candidates> {
  const { catalogue } = store;
  const isSelected = (ordinal: Ordinal) => selection === undefined || selection.has(ordinal);
  const isInWhole = (ordinal: Ordinal) => whole === undefined || whole.has(ordinal);
  const named = new Set([...question.naming, ...namingPeriod(store, question, whole)]);
  const words = store.scoreWords(question.terms, question.averageLength, whole);
  const vectors = store.scoreVectors(embedding.vector, whole);
  const pasted = withPaste && {
    words: store.scoreWords(question.pasted, question.averageLength, whole),
    vectors: store.scoreVectors(withPaste, whole),
  };
  const { anArm, read: mostRead } =
    (whole ?? catalogue).size < MANY && limit <= BREADTH.anArm ? BREADTH : BREADTH_OF_MANY;
  const arms: (readonly Ordinal[])[] = [question.naming];
  const few: Ordinal[] = [];
  for (const among of new Set([whole, selection, ...preferred])) {
    arms.push(words.top(anArm, among), vectors.top(anArm, among));
    if (pasted !== undefined) arms.push(pasted.vectors.top(anArm, among));
    if (among !== undefined && among.size <= LOOKED_AT_WHOLE) few.push(...among.list());
  }
  const ordinals = new Set([...arms.flat(), ...few]);
  for (const ordinal of arms.flatMap((arm) => arm.slice(0, FOLLOWED_AN_ARM))) {
    for (const { source, target } of waypointsOf(catalogue, ordinal)) {
      for (const end of [source, target]) if (isInWhole(end)) ordinals.add(end);
    }
    // A memory that took its place may put it in other words.
    const successor = catalogue.find(catalogue.supersession(ordinal)?.by ?? "")?.ordinal;
    if (successor !== undefined && isInWhole(successor)) ordinals.add(successor);
  }
  // A copy: the neighbours of neighbours are none of ours.
  for (const ordinal of Array.from(ordinals)) {
    for (const neighbour of catalogue.around(ordinal)) {
      if (neighbour !== undefined) ordinals.add(neighbour);
    }
  }

  // Looked up before anything is awaited: what is deleted meanwhile is missing from the rows that are read later.
  const entries: CatalogueEntry[] = [];
  const edges: RankingEdge[] = [];
  for (const ordinal of ordinals) {
    const entry = catalogue.at(ordinal);
    if (entry === undefined) continue;
    entries.push(entry);
    for (const edge of waypointsOf(catalogue, ordinal))
      if (edge.source === ordinal && ordinals.has(edge.target)) edges.push(edge);
  }
  const candidates = entries.map((entry) => ({
    id: entry.id,
    ordinal: entry.ordinal,
    isSelected: isSelected(entry.ordinal),
    words: words.of(entry.ordinal) - (pasted?.words.of(entry.ordinal) ?? 0),
    pasted: pasted && { words: pasted.words.of(entry.ordinal), cosine: pasted.vectors.of(entry.ordinal) },
    cosine: vectors.of(entry.ordinal),
    around: catalogue.around(entry.ordinal),
    sessionId: sessionOf(entry),
    traits: entry.traits,
    occurredAt: entry.occurredAt,
    namesPeriod: named.has(entry.ordinal),
    salience: entry.salience,
    isRoot: isRoot(catalogue, entry),
    matches: NO_MATCHES,
    quoted: 0,
  }));
  // The most promising of the whole, and as many of the selection and of what stands beside it.
  const surroundings = surroundingsOf(candidates);
  const promising = worthReading(question, candidates, surroundings);
  const ofPaste = pasted === undefined ? [] : arms.flatMap((arm) => arm.slice(0, FOLLOWED_AN_ARM));
  const read = new Set([...few, ...ofPaste, ...promising.slice(0, mostRead)]);
  if (selection !== whole) {
    const beside = new Set(candidates.flatMap((one) => (one.isSelected ? [one.ordinal, ...one.around] : [])));
    for (const ordinal of promising.filter((each) => beside.has(each)).slice(0, mostRead)) read.add(ordinal);
  }
  const wanted = candidates.filter(({ ordinal }) => read.has(ordinal)).map(({ id }) => id);
  const tokens = await store.readTokens(wanted);
  const matches = matchTokens(
    embedding.tokens.vectors,
    candidates.map(({ id }) => tokens.get(id)?.vectors),
  );
  const lacking =
    tokens.size === wanted.length
      ? []
      : [...candidates.entries()].filter(([, { id, ordinal }]) => read.has(ordinal) && !tokens.has(id));
  const asked = embedding.words.map((word) => termsOfName(word)[0] ?? word);
  const having = asked.map((term) => store.havingTerm(term));
  matchByWords(store, question, having, lacking, matches);
  matchPlaces(matches, entries, asked);
  matchSameWords(having, candidates, matches);
  const quoted = await quotedShares(
    store,
    question,
    candidates.map(({ id }) => id),
  );
  // Copies of hundreds of candidates would be half a megabyte of garbage.
  for (const [i, candidate] of candidates.entries()) {
    candidate.matches = matches[i] ?? NO_MATCHES;
    candidate.quoted = quoted.get(candidate.id) ?? 0;
  }
  return { candidates, edges, surroundings };
}

/** Raises the matches of tokens that are words of a memory's tags and project: a note tagged "car" need not say so. */
function matchPlaces(
  matches: Float32Array[],
  entries: readonly CatalogueEntry[],
  asked: readonly string[],
): void {
  const tokensIn = new Map<string, readonly number[]>();
  const tokensOf = (place: string) => {
    const known = tokensIn.get(place);
    if (known !== undefined) return known;
    const terms = termsOfName(place);
    const found = [...asked.keys()].filter((j) => terms.includes(asked[j] ?? ""));
    tokensIn.set(place, found);
    return found;
  };
  entries.forEach(({ tags, project }, i) => {
    for (const place of project === null ? tags : [...tags, project]) {
      for (const j of tokensOf(place)) raise(matches[i], j, PLACE_MATCH);
    }
  });
}

/** For each token of a question, which memories have its word. */
type Having = readonly ((ordinal: Ordinal) => boolean)[];

/**
 * Raises the matches of tokens whose word a note has: in few words ("lime is up to 52") it has another vector than in the question.
 * In a talk the same words come up all the time.
 */
export function matchSameWords(
  having: Having,
  candidates: readonly Pick<RankingCandidate, "ordinal" | "traits" | "sessionId">[],
  matches: readonly Float32Array[],
): void {
  candidates.forEach(({ ordinal, traits, sessionId }, i) => {
    if (!isNote(traits, sessionId)) return;
    for (let j = 0; j < having.length; j += 1) if (having[j]?.(ordinal)) raise(matches[i], j, WORD_MATCH);
  });
}

function raise(matches: Float32Array | undefined, token: number, least: number): void {
  if (matches !== undefined) matches[token] = Math.max(matches[token] ?? 0, least);
}

/** Memories whose vectors were lost, or are of the model before, match by words alone until these are made again. */
function matchByWords(
  store: MemoryStore,
  { tokenFloor }: RankingQuestion,
  having: Having,
  lacking: readonly (readonly [place: number, { readonly ordinal: Ordinal; cosine: number }])[],
  matches: Float32Array[],
): void {
  if (lacking.length === 0) return;
  for (const [i, candidate] of lacking) {
    const { ordinal } = candidate;
    const match = Float32Array.from(having, (has) => (has(ordinal) ? 1 : tokenFloor));
    matches[i] = match;
    if (candidate.cosine === 0 && store.windowsOf(ordinal).length === 0)
      candidate.cosine = match.reduce((sum, each) => sum + each, 0) / Math.max(1, match.length);
  }
}

function isRoot({ documents }: Catalogue, { id, documentId }: CatalogueEntry): boolean {
  const document = documentId === null ? undefined : documents.byId.get(documentId);
  return document?.strategy === "root-child" && document.rootMemoryId === id;
}

/** Memories whose text has a term of the question's time, see `TimedQuestion`. */
function namingPeriod(
  store: MemoryStore,
  { periodTerms, averageLength }: RankingQuestion,
  selection: Selection | undefined,
): Ordinal[] {
  if (periodTerms.length === 0) return [];
  const terms = periodTerms.map((term) => ({ term, weight: 1 }));
  return store.scoreWords(terms, averageLength, selection).top(MAX_NAMING);
}

/** Two users may give their sessions one name. */
function sessionOf({ userId, sessionId }: CatalogueEntry): string | null {
  // A user's name may hold anything, so its length says where it ends.
  return sessionId === null ? null : `${userId?.length ?? ""}:${userId ?? ""}${sessionId}`;
}

/** A note that links to this many others is an index, and says nothing of any of them. */
const MAX_LINKS = 64;

function waypointsOf(catalogue: Catalogue, ordinal: Ordinal): RankingEdge[] {
  const edges: RankingEdge[] = catalogue.edgesAt(ordinal).filter(({ kind }) => kind === "link");
  if (edges.length > MAX_LINKS) edges.length = 0;
  for (const other of catalogue.documentNeighbours(ordinal))
    edges.push({ source: Math.min(ordinal, other), target: Math.max(ordinal, other), weight: 1 });
  return edges;
}

/** The share of the question's quoted phrases that each text contains. */
async function quotedShares(
  store: MemoryStore,
  { phrases }: RankingQuestion,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const shares = new Map<string, number>();
  if (phrases.length === 0) return shares;
  for (const [id, { content }] of await store.readMemories(ids)) {
    shares.set(id, phrases.filter((phrase) => containsPhrase(content, phrase)).length / phrases.length);
  }
  return shares;
}
