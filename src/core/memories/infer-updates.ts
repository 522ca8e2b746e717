import type { Catalogue, CatalogueEntry, MemoryStore } from "../ports.ts";
import { meanWindow } from "../embedding.ts";
import { type Change, edgeId } from "../rows.ts";
import { analyse, termsOfName } from "../text/analyser.ts";
import { fold } from "../text/fold.ts";
import { isNote } from "../recall/traits.ts";
import { changeWords, isStanding, isWeakChange } from "../text/change-words.ts";

/**
 * Infers which memory takes the place of an earlier one without a writer's `supersedes`: a later memory about the same
 * thing with a word of change, end or correction that the earlier one lacks. Memories that are merely similar
 * (measurements, diaries, lists) are not linked.
 */

/**
 * Minimum cosine of the two by the number of common telling words; without any they may be in two languages. Less is
 * enough where each is the nearest of all to the other. A single common word may be a subject of few notes ("the boat"),
 * any two of which are the nearest of all: 22 of 23 true pairs in `test/eval` have .484 and more, false ones .41 to .481.
 */
const LIKENESS_BY_SHARED = [0.7, 0.55, 0.45];
const LIKENESS_OF_NEAREST = [0.6, 0.483, 0.4];
/** The same where the words of change are ambiguous ("new"). */
const LIKENESS_OF_WEAK = 0.55;
/** The same within one piece of work, or where a word of change is ambiguous, with less than two telling words in common. */
const LIKENESS_OF_SAME = 0.7;
/** The same where the earlier one tells of a change, too: more often two events than a state and its end. */
const LIKENESS_OF_EVENTS = 0.6;
/** A year, or a number so short that what has it in common is mere chance. */
const UNTELLING_NUMBER = /^(?:(?:19|20)\d\d|\d{1,2})$/;
/** A word that more of the nearest memories have is not telling. */
const MAX_SHARING = 4;
/** Number of nearest memories that are compared. */
const NEAREST = 24;
/** Nearest memories among which those of the same user are sought. */
const NEAREST_OF_ANYBODY = 64;
/**
 * Places from being each other's nearest, added, by the number of common telling words. Of 77 true pairs 75 have 0 or 1, of 19 false
 * ones 4; with 3 for three words 2 more right links are inferred over 16 sets, and no wrong one.
 */
const MAX_PLACES = [2, 2, 2, 3];
/** The common beginning of entries of one series: "Wasserzähler: 318". */
const HEADING = /^[^:\n]{1,60}:\s/u;

type OfProject = { readonly project: string | null };

/** A memory of the same user and its cosine. */
export type Neighbour = { readonly other: CatalogueEntry; readonly likeness: number };

/**
 * The nearest memories of the same user, nearest first, without the memory itself; none while it has no vectors. Cost: a
 * scan of all vectors, which blocks the event loop for 3 ms at 100 000 and some 15 at a million.
 *
 * @param vector the mean of its windows, where left out
 */
export function neighboursOf(
  store: Pick<MemoryStore, "catalogue" | "scoreVectors" | "windowsOf">,
  { ordinal, userId }: CatalogueEntry,
  { limit = NEAREST_OF_ANYBODY, vector = meanOf(store.windowsOf(ordinal)) } = {},
): Neighbour[] {
  if (vector === undefined) return [];
  const scores = store.scoreVectors(vector, userId === null ? undefined : store.catalogue.select({ userId }));
  return scores.top(limit).flatMap((each) => {
    const other = each === ordinal ? undefined : store.catalogue.at(each);
    return other?.userId === userId ? [{ other, likeness: scores.of(each) }] : [];
  });
}

const meanOf = (windows: readonly Float32Array[]) => (windows.length === 0 ? undefined : meanWindow(windows));

/**
 * The `updates` waypoints of a memory: to the earlier one of the same user and project whose place it takes, and from
 * later ones that take its own; undefined where there can be none. Existing waypoints, rejected guesses among them, stay as they are.
 *
 * Cost: nothing for a memory without words of change that is the latest; for others a scan of all vectors, and one more for each of
 * the few nearest that may be linked, until an earlier one is; others have their turn before each.
 */
export async function inferUpdates(
  store: Pick<MemoryStore, "catalogue" | "readMemories" | "scoreVectors" | "windowsOf" | "termStatistics">,
  memory: CatalogueEntry,
  nextTurn: () => Promise<void>,
): Promise<((now: number) => Change[]) | undefined> {
  const { catalogue } = store;
  const { id } = memory;
  if (!mayChange(memory)) return undefined;
  await nextTurn();
  const content = (await store.readMemories([id])).get(id)?.content;
  if (content === undefined) return undefined;
  const changes = changeWords(content);
  if (changes.size === 0 && !hasLater(catalogue, memory)) return undefined;
  const wordsOf = (text: string) => (text === content ? changes : changeWords(text));
  const around = neighboursOf(store, memory).slice(0, NEAREST - 1);
  const before = around.filter(({ other }) => isBefore(other, memory));
  // Earlier ones have their places among earlier ones.
  const placeHere = (other: CatalogueEntry) => placeOf(other, isBefore(other, memory) ? before : around);
  const near = around.filter(
    ({ other, likeness }) =>
      mayChange(other) &&
      belongTogether(memory, other) &&
      likeness >= Math.min(...LIKENESS_OF_NEAREST) &&
      placeHere(other) <= Math.max(...MAX_PLACES),
  );
  if (near.length === 0) return undefined;
  const memories = await store.readMemories([id, ...around.map(({ other }) => other.id)]);
  const text = ({ id }: CatalogueEntry) => memories.get(id)?.content ?? "";
  // A summary of a conversation repeats what the others say, words of change included.
  const isSummary = (one: string) => memories.get(one)?.metadata["kind"] === "summary";
  const inOrder = (other: CatalogueEntry): readonly [earlier: CatalogueEntry, later: CatalogueEntry] =>
    isBefore(other, memory) ? [other, memory] : [memory, other];
  const changed = near.flatMap((one) => {
    const [earlier, later] = inOrder(one.other);
    const isNone = later.traits.asks || isSummary(one.other.id) || isSummary(id);
    const change = isNone ? undefined : changeBetween(text(earlier), text(later), wordsOf);
    return change === undefined ? [] : [{ ...one, change }];
  });
  if (changed.length === 0) return undefined;
  const own = tellingTerms(text(memory), memory.project);
  const terms = new Map(around.map(({ other }) => [other.id, tellingTerms(text(other), other.project)]));
  // A word that many of the nearest have (a project's name) does not identify one of them.
  const common = [...own].filter(
    (term) => around.filter(({ other }) => terms.get(other.id)?.has(term) === true).length <= MAX_SHARING,
  );
  const ofUser = memory.userId === null ? undefined : catalogue.select({ userId: memory.userId });
  const statistics = store.termStatistics(ofUser);
  const isFrequent = (term: string) => statistics.memoriesWith(term) >= LEAST_OF_SUBJECT;
  const updates = async ({ other, likeness, change }: (typeof changed)[number]): Promise<boolean> => {
    const [earlier, later] = inOrder(other);
    const isEarlier = earlier === other;
    if (isStanding(text(earlier)) || areOfOthers(text(earlier), text(later), isFrequent)) return false;
    // The place of each among the nearest of the other; the one here is known.
    const placeOfEarlier = (list: readonly Neighbour[]) =>
      placeOf(
        earlier,
        list.filter((one) => isBefore(one.other, later)),
      );
    const known = placeHere(other);
    const shared = common.filter((term) => terms.get(other.id)?.has(term) === true).length;
    const isOneTalk = earlier.sessionId !== null && earlier.sessionId === later.sessionId;
    // A new thing of a kind, or the next step of one piece of work, replaces nothing.
    if (shared < 2 && likeness < LIKENESS_OF_SAME && (change === "weak" || isOneTalk)) return false;
    const isEvent = shared < 2 && wordsOf(text(earlier)).size > 0;
    const byShared = (list: readonly number[]) => list[Math.min(shared, list.length - 1)] ?? 1;
    const needed = (least: readonly number[]) => Math.max(byShared(least), isEvent ? LIKENESS_OF_EVENTS : 0);
    if (likeness < Math.min(needed(LIKENESS_OF_NEAREST), needed(LIKENESS_BY_SHARED))) return false;
    await nextTurn();
    const [vector] = store.windowsOf(other.ordinal);
    const theirs = vector === undefined ? [] : neighboursOf(store, other, { limit: NEAREST, vector });
    const place = isEarlier ? known : placeOfEarlier(theirs);
    const places = known + (isEarlier ? placeOf(later, theirs) : place);
    // A later memory's own updates are decided when it is looked at itself, unless there is no doubt.
    if (places > byShared(MAX_PLACES) || (!isEarlier && place > 0)) return false;
    if (places === 0) return likeness >= needed(LIKENESS_OF_NEAREST);
    return likeness >= Math.max(needed(LIKENESS_BY_SHARED), change === "weak" ? LIKENESS_OF_WEAK : 0);
  };
  const links: Neighbour[] = [];
  let replaced: Neighbour | undefined;
  for (const one of changed) {
    const isEarlier = isBefore(one.other, memory);
    // It takes the place of one; what that one replaced is the other's affair.
    if ((isEarlier && replaced !== undefined) || !(await updates(one))) continue;
    links.push(one);
    if (isEarlier) replaced = one;
  }
  return (createdAt) =>
    links.flatMap(({ other, likeness: weight }) => {
      const [target, source] = isBefore(other, memory) ? [other.id, id] : [id, other.id];
      const row = { source, target, kind: "updates", weight: Math.min(1, weight), createdAt } as const;
      const isKnown = catalogue.edgesOf(id).some((edge) => edgeId(edge) === edgeId(row));
      const isHere = catalogue.find(other.id)?.version === other.version;
      return isKnown || !isHere ? [] : [{ table: "edges", id: edgeId(row), row }];
    });
}

/** Whether a later note may replace it that did not find it when it was looked at itself. */
function hasLater(catalogue: Catalogue, { userId, occurredAt, ordinal, version }: CatalogueEntry): boolean {
  const later = catalogue.select({
    ...(userId !== null && { userId }),
    documents: false,
    from: occurredAt,
  });
  // Those that were added after it found it, unless its text was another then.
  const [first = ordinal] = later.list();
  return version > 1 ? later.size > 1 : first < ordinal;
}

function placeOf({ ordinal }: CatalogueEntry, list: readonly Neighbour[]): number {
  const place = list.findIndex(({ other }) => other.ordinal === ordinal);
  return place < 0 ? Infinity : place;
}

/** A name that so many notes of the user have is of somebody or something that they are about, and no value that changes. */
const LEAST_OF_SUBJECT = 4;

/** The names of a text that many notes have. */
function subjectsOf(text: string, isFrequent: (term: string) => boolean): Set<string> {
  const names = text.slice(0, READ_CHARS).match(/\p{Lu}\p{Ll}{2,}/gu) ?? [];
  return new Set(names.flatMap((name) => analyse(name)).filter(isFrequent));
}

/** Whether two texts have different subjects: each names some, and neither has a word of a name of the other. */
function areOfOthers(earlier: string, later: string, isFrequent: (term: string) => boolean): boolean {
  const namesOthers = (text: string, other: string) => {
    const names = subjectsOf(text, isFrequent);
    if (names.size === 0) return false;
    const words = new Set(analyse(other.slice(0, READ_CHARS)));
    return ![...names].some((name) => words.has(name));
  };
  return namesOthers(earlier, later) && namesOthers(later, earlier);
}

/**
 * How clearly the later text says that what the earlier one says has changed; undefined: not at all.
 *
 * @param wordsOf `changeWords` of the two, where a caller has them.
 */
export function changeBetween(
  earlier: string,
  later: string,
  wordsOf: (text: string) => ReadonlySet<string> = changeWords,
): "clear" | "weak" | undefined {
  const known = wordsOf(earlier);
  const changes = [...wordsOf(later)].filter((word) => !known.has(word));
  if (changes.length === 0) return undefined;
  if (!changes.every(isWeakChange)) return "clear";
  const [heading] = HEADING.exec(later) ?? [];
  return heading !== undefined && earlier.startsWith(heading) ? undefined : "weak";
}

/** The beginning of a note shows its subject. */
const READ_CHARS = 4_000;

/** Words of four letters and more, names of three and what has digits, and abbreviations ("npm"); no stop words, nor the project's. */
export function tellingTerms(text: string, project: string | null): Set<string> {
  const ofProject = new Set(analyse(project ?? ""));
  const words = fold(text.slice(0, READ_CHARS), { keepCase: true }).match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words
      .filter((word) => TELLING.test(word) && !UNTELLING_NUMBER.test(word))
      .flatMap((word) => termsOfName(word)[0] ?? [])
      .filter((term) => !ofProject.has(term)),
  );
}

const TELLING =
  /\p{L}{4}|\d|^[b-df-hj-np-tv-xz]{3}$|^\p{Lu}[\p{L}\p{N}]{2}$|^\p{Lu}{2}$|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2}/u;

const mayChange = ({ documentId, traits, sessionId }: CatalogueEntry): boolean =>
  documentId === null && isNote(traits, sessionId);

/** Whether two notes may be of one thing by their projects: a note without one belongs to each. */
export const belongTogether = (a: OfProject, b: OfProject): boolean =>
  a.project === b.project || a.project === null || b.project === null;

const isBefore = (a: CatalogueEntry, b: CatalogueEntry): boolean =>
  a.occurredAt < b.occurredAt || (a.occurredAt === b.occurredAt && a.ordinal < b.ordinal);
