import { type Sector, SECTORS, type Signals } from "../memory.ts";

/** After how long without being seen a memory's salience is half of what it was, ms; Infinity: never. */
export type HalfLives = Readonly<Record<Sector, number>>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Events and moods fade first, what one learnt from them later, facts and skills last: the order in which people
 * forget. The lengths are a choice, not a measurement: salience is a small term of the ranking.
 */
export const HALF_LIVES: HalfLives = {
  semantic: 365 * DAY_MS,
  episodic: 90 * DAY_MS,
  procedural: 365 * DAY_MS,
  emotional: 60 * DAY_MS,
  reflective: 180 * DAY_MS,
};

/** For a store in which nothing fades. */
export const NO_FADING: HalfLives = {
  semantic: Infinity,
  episodic: Infinity,
  procedural: Infinity,
  emotional: Infinity,
  reflective: Infinity,
};

/**
 * Half-lives as settings name them: `episodic=90` in days, the others as they are; `off` among them: nothing fades.
 *
 * @throws {TypeError} on anything else.
 */
export function halfLivesFrom(settings: readonly string[]): HalfLives {
  if (settings.includes("off")) return NO_FADING;
  const given = settings.map((setting) => {
    const [name, days] = setting.split("=");
    const sector = SECTORS.find((known) => known === name);
    if (sector === undefined || !(Number(days) > 0)) throw new TypeError(`"${setting}" is no half-life`);
    return [sector, Number(days) * DAY_MS] as const;
  });
  return { ...HALF_LIVES, ...Object.fromEntries(given) };
}

/**
 * The salience as of a moment: `s · 2^(−t / half-life)`, t since it was last seen in whole days, so that what was given
 * today is read as it was given. What is stored is not touched: fading costs no write and is undone by being seen.
 *
 * @returns in [0, salience]; a clock that went back fades nothing.
 */
export function fadedSalience({ salience, lastSeenAt }: Signals, now: number, halfLifeMs: number): number {
  const days = Math.max(0, Math.floor((now - lastSeenAt) / DAY_MS));
  return salience * 2 ** ((-days * DAY_MS) / halfLifeMs);
}

/**
 * The salience after a reinforcement: `s + boost · (1 − s)`, so that it nears 1 and never passes it.
 *
 * @param salience in [0, 1]
 * @param boost in [0, 1]
 */
export function reinforced(salience: number, boost: number): number {
  return Math.min(1, salience + boost * (1 - salience));
}
