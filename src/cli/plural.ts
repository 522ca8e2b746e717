/** A number with what it counts: `1 memory`, `12 memories`. */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
