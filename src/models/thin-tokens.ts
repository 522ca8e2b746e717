/**
 * Which tokens to keep of a text that has more than `max`, as ascending indexes.
 *
 * A text's first use of a piece tells most, the second less, and so on, for matching takes the best of a text's tokens:
 * first uses are kept first, then second ones. Of the round that no longer fits, evenly spread ones, so that the
 * end of a text counts as much as its beginning.
 */
export function thinTokens(pieceIds: readonly number[], max: number): number[] {
  if (pieceIds.length <= max) return Array.from(pieceIds.keys());

  const rounds: number[][] = [];
  const uses = new Map<number, number>();
  for (const [index, id] of pieceIds.entries()) {
    const round = uses.get(id) ?? 0;
    uses.set(id, round + 1);
    (rounds[round] ??= []).push(index);
  }

  const kept: number[] = [];
  for (const round of rounds) {
    const room = max - kept.length;
    if (round.length <= room) {
      // Not spread into push(): a round may have more entries than a call may have arguments.
      for (const index of round) kept.push(index);
      continue;
    }
    for (let i = 0; i < room; i++) kept.push(round[Math.floor((i * round.length) / room)] ?? 0);
    break;
  }
  return kept.sort((a, b) => a - b);
}
