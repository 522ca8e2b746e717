import { TIME_STEP_SAMPLES, type WindowSegment } from "./window.ts";
import { textOf, type Vocabulary } from "./vocabulary.ts";

export interface CutWindow {
  /** In order, not overlapping, within the window; none without text. */
  readonly segments: readonly WindowSegment[];
  /** Where the next window begins, in samples of this one: the end of the last complete segment. */
  readonly next: number;
}

/**
 * Cuts the tokens at their times. Text without a closing time reaches to the window's end. Whisper always transcribes 30 s:
 * text that begins a second or more after the sound has ended is dropped.
 *
 * @param length samples of sound in the window, above 0.
 */
export function cutSegments(tokens: readonly number[], length: number, vocabulary: Vocabulary): CutWindow {
  const { firstTime } = vocabulary;
  const found: { readonly from: number; readonly to: number; readonly ids: number[] }[] = [];
  let ids: number[] = [];
  let from = 0;
  let last = 0;
  for (const id of tokens) {
    if (id < firstTime) {
      ids.push(id);
      continue;
    }
    last = (id - firstTime) * TIME_STEP_SAMPLES;
    if (ids.length > 0) found.push({ from, to: last, ids });
    ids = [];
    from = last;
  }
  const isOpen = ids.length > 0;
  if (isOpen) found.push({ from, to: length, ids });

  const segments: WindowSegment[] = [];
  for (const piece of found) {
    const text = textOf(vocabulary, piece.ids);
    if (text !== "") place(segments, { ...piece, text }, length);
  }
  // Two times at the end: something begins there that this window does not hold whole.
  const isCut = (tokens.at(-1) ?? 0) >= firstTime && (tokens.at(-2) ?? 0) >= firstTime;
  return { segments, next: !isOpen && isCut && last > 0 ? clamp(last, LEAST_STEP, length) : length };
}

/** Half a second, so that every window moves on. */
const LEAST_STEP = 25 * TIME_STEP_SAMPLES;
/** The precision of times. */
const LATE = 50 * TIME_STEP_SAMPLES;

/** Adds it after the others; text without time of its own belongs to the segment before. */
function place(segments: WindowSegment[], { from, to, text }: WindowSegment, length: number): void {
  const before = segments.at(-1);
  if (from >= length + LATE) return;
  const start = Math.max(before?.to ?? 0, Math.min(from, length));
  const end = Math.min(to, length);
  if (end > start) segments.push({ from: start, to: end, text });
  else if (before === undefined) segments.push({ from: 0, to: length, text });
  else segments[segments.length - 1] = { ...before, text: `${before.text} ${text}` };
}

function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}
