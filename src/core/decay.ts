import type { Sector } from "./memory.ts";

/** Days in which the salience of an unused memory halves its way to nothing; `Infinity` switches decay off. */
export type HalfLives = Readonly<Record<Sector, number>>;

/** What was felt or happened fades sooner than what was learnt or how things are done. In days. */
export const HALF_LIVES: HalfLives = {
  episodic: 60,
  emotional: 90,
  semantic: 365,
  procedural: 365,
  reflective: 180,
};

const DAY_MS = 86_400_000;
/** Decay stops here: a memory nobody has seen for years is behind, not gone. */
const LEAST_SHARE = 0.2;

/**
 * The salience that counts now: `s · max(.2, 2^(−days since last seen / half-life))`. Computed when it is read; what
 * is stored does not change, and seeing the memory again restores all of it.
 *
 * @param salience in [0, 1]
 */
export function decayedSalience(
  signals: { readonly salience: number; readonly lastSeenAt: number },
  sector: Sector,
  now: number,
  halfLives: HalfLives = HALF_LIVES,
): number {
  const days = Math.max(0, now - signals.lastSeenAt) / DAY_MS;
  return signals.salience * Math.max(LEAST_SHARE, 2 ** (-days / halfLives[sector]));
}
