import type { CatalogueEntry, MemoryStore } from "../ports.ts";
import { type Change, edgeId } from "../rows.ts";
import { analyse } from "../text/analyser.ts";
import { fold } from "../text/fold.ts";
import { isNote } from "../recall/traits.ts";
import { changeWords } from "../text/change-words.ts";

/**
 * Infers which memory takes the place of an earlier one without a writer's `supersedes`: a later memory about the same
 * thing with a word of change, end or correction that the earlier one lacks. Memories that are merely similar
 * (measurements, diaries, lists) are not linked.
 */

/** Minimum cosine of the two; higher for ambiguous words of change ("new"). */
const LIKENESS = 0.45;
const YEAR = /^(?:19|20)\d\d$/;
const LIKENESS_OF_WEAK = 0.55;
/** Minimum cosine by the number of common telling words; without any the two may be in two languages. */
const LIKENESS_BY_SHARED = [0.75, 0.55];
/** A word that more of the nearest memories have is not telling. */
const MAX_SHARING = 4;
const WEAK =
  /^(?:new|neu\p{L}*|nouve\p{L}*|nuev\p{L}*|nuov\p{L}*|nov\p{L}*|nieuwe?|now|nun|nu|ora|left|actually|starting|statt)$/u;
/** Number of nearest memories that are compared, and at most linked. */
const NEAREST = 24;
const MAX_LINKS = 2;
/** The common beginning of entries of one series: "Wasserzähler: 318". */
const HEADING = /^[^:\n]{1,60}:\s/u;

/**
 * The `updates` waypoints between a memory and earlier or later ones of the same user and project. Existing waypoints,
 * rejected guesses among them, stay as they are.
 */
export async function inferUpdates(
  store: Pick<MemoryStore, "catalogue" | "scoreVectors" | "readMemories">,
  id: string,
  vector: Float32Array,
): Promise<(now: number) => Change[]> {
  const { catalogue } = store;
  const memory = catalogue.find(id);
  if (memory === undefined || !mayChange(memory)) return () => [];
  const scores = store.scoreVectors(vector);
  const around = scores.top(NEAREST).flatMap((ordinal) => {
    const other = ordinal === memory.ordinal ? undefined : catalogue.at(ordinal);
    return other !== undefined && other.userId === memory.userId
      ? [{ other, likeness: scores.of(ordinal) }]
      : [];
  });
  const near = around.filter(
    ({ other, likeness }) => likeness >= LIKENESS && mayChange(other) && belongTogether(memory, other),
  );
  if (near.length === 0) return () => [];
  const memories = await store.readMemories([id, ...around.map(({ other }) => other.id)]);
  const text = ({ id }: CatalogueEntry) => memories.get(id)?.content ?? "";
  const own = tellingTerms(text(memory));
  const terms = new Map(around.map(({ other }) => [other.id, tellingTerms(text(other))]));
  // A word that many of the nearest have (a project's name) does not identify one of them.
  const common = [...own].filter(
    (term) => around.filter(({ other }) => terms.get(other.id)?.has(term) === true).length <= MAX_SHARING,
  );
  const links = near
    .filter(({ other, likeness }) => {
      const [earlier, later] = isBefore(other, memory) ? [other, memory] : [memory, other];
      const shared = common.filter((term) => terms.get(other.id)?.has(term) === true).length;
      return (
        !later.traits.asks &&
        likeness >= (LIKENESS_BY_SHARED[shared] ?? LIKENESS) &&
        takesPlace(text(earlier), text(later), likeness)
      );
    })
    .slice(0, MAX_LINKS);
  return (createdAt) =>
    links.flatMap(({ other, likeness: weight }) => {
      const [target, source] = isBefore(other, memory) ? [other.id, id] : [id, other.id];
      const row = { source, target, kind: "updates", weight: Math.min(1, weight), createdAt } as const;
      const isKnown = catalogue.edgesOf(id).some((edge) => edgeId(edge) === edgeId(row));
      const isHere = catalogue.find(other.id)?.version === other.version;
      return isKnown || !isHere ? [] : [{ table: "edges", id: edgeId(row), row }];
    });
}

/** Whether the later text updates the earlier one. */
export function takesPlace(earlier: string, later: string, likeness: number): boolean {
  const known = changeWords(earlier);
  const changes = [...changeWords(later)].filter((word) => !known.has(word));
  if (changes.length === 0) return false;
  const isWeak = changes.every((word) => WEAK.test(word));
  const [heading] = HEADING.exec(later) ?? [];
  if (isWeak && heading !== undefined && earlier.startsWith(heading)) return false;
  return likeness >= (isWeak ? LIKENESS_OF_WEAK : LIKENESS);
}

/** The beginning of a note shows its subject. */
const READ_CHARS = 4_000;

/** Words of four letters and more, and what has digits in it. */
export function tellingTerms(text: string): Set<string> {
  const words = fold(text.slice(0, READ_CHARS)).match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words
      .filter(
        (word) =>
          !YEAR.test(word) &&
          (word.length >= 4 || /\d|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2}/u.test(word)),
      )
      .map((word) => analyse(word)[0] ?? word),
  );
}

function mayChange({ documentId, traits, sessionId }: CatalogueEntry): boolean {
  return documentId === null && isNote(traits, sessionId);
}

function belongTogether(a: CatalogueEntry, b: CatalogueEntry): boolean {
  return a.project === b.project || a.project === null || b.project === null;
}

function isBefore(a: CatalogueEntry, b: CatalogueEntry): boolean {
  return a.occurredAt < b.occurredAt || (a.occurredAt === b.occurredAt && a.ordinal < b.ordinal);
}
