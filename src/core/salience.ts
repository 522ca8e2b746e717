/**
 * The salience after a reinforcement: `s + boost · (1 − s)`, so that it nears 1 and never passes it.
 *
 * @param salience in [0, 1]
 * @param boost in [0, 1]
 */
export function reinforced(salience: number, boost: number): number {
  return Math.min(1, salience + boost * (1 - salience));
}
