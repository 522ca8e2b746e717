/**
 * Which tokens to keep of a text that has more than `max`, as ascending indexes.
 *
 * A text's first use of a piece tells most, the second less, and so on, for matching takes the best of a text's tokens:
 * first uses are kept first, then second ones. Of the round that no longer fits, evenly spread ones, so that the
 * end of a text counts as much as its beginning.
 */
export function thinTokens(pieceIds: readonly number[], max: number): number[] {
  if (pieceIds.length <= max) return Array.from(pieceIds.keys());

  const uses = new Map<number, number>();
  /** Of each token: how many of its piece came before it. */
  const rounds = new Int32Array(pieceIds.length);
  /** Of each round: how many tokens it has. */
  const sizes = new Int32Array(pieceIds.length);
  for (const [index, id] of pieceIds.entries()) {
    const round = uses.get(id) ?? 0;
    uses.set(id, round + 1);
    rounds[index] = round;
    sizes[round] = (sizes[round] ?? 0) + 1;
  }

  let lastRound = 0;
  let room = max;
  while ((sizes[lastRound] ?? 0) <= room) room -= sizes[lastRound++] ?? 0;
  const size = sizes[lastRound] ?? 0;

  let seen = 0;
  return Array.from(pieceIds.keys()).filter((index) => {
    const round = rounds[index] ?? 0;
    if (round !== lastRound) return round < lastRound;
    // Where this steps up, evenly: `room` times in `size` tokens.
    seen += 1;
    return Math.floor((seen * room) / size) > Math.floor(((seen - 1) * room) / size);
  });
}
