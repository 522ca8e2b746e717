const DAY_MS = 24 * 60 * 60 * 1_000;
/** Further than this at once the clock has jumped, or the store was not open for as long. */
const STEP_MS = DAY_MS;
/** How long a clock must go on from where it jumped to before it is believed. */
const CONFIRMED_AFTER_MS = 7 * DAY_MS;

/** The time that is certain enough to remove something for good, epoch milliseconds. */
export interface BelievedTime {
  readonly at: number;
  /** The clock's time when it was first found elsewhere. */
  readonly jumpedTo?: number;
}

/**
 * The time to believe after a look at the clock. Steps of up to a day are believed at once, when it is looked at often enough;
 * a jump in either direction only when the clock has gone on from there for a week.
 */
export function believe(known: BelievedTime | undefined, now: number): BelievedTime {
  if (known === undefined) return { at: now };
  if (Math.abs(now - known.at) <= STEP_MS) return { at: Math.max(known.at, now) };
  const { jumpedTo } = known;
  if (jumpedTo === undefined || now < jumpedTo) return { at: known.at, jumpedTo: now };
  return now - jumpedTo >= CONFIRMED_AFTER_MS ? { at: now } : known;
}

/** Notes a look at the clock; answers whether that is worth a checkpoint of its own. */
export function lookAt(known: { believed: BelievedTime | undefined }, now: number): boolean {
  const before = known.believed;
  const after = believe(before, now);
  known.believed = after;
  const isSameDay = Math.floor((before?.at ?? 0) / DAY_MS) === Math.floor(after.at / DAY_MS);
  return !isSameDay || before?.jumpedTo !== after.jumpedTo;
}
