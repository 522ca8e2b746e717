import { SUBJECTS } from "../support/fill-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

const VERBS = ["asked about", "moved to", "paid for", "forgot", "repaired", "wrote down", "agreed on"];
const THINGS =
  "garden meeting kitchen invoice train Berlin sister budget piano recipe window Tuesday dentist bicycle report".split(
    " ",
  );
const random = seededRandom(7);
const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
/** Of the vocabulary that stores are filled with: some words common, most rare. */
const filler = () => `w${Math.floor(random() ** 2 * 20_000)}`;

/** A memory of 25 words, about 36 word pieces; no two alike. */
export function newMemoryText(turn: number): string {
  const things = Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? "and the" : pick(THINGS))).join(" ");
  return `${pick(SUBJECTS)} ${pick(VERBS)} the ${things} ${turn}.`;
}

/** A question about memories that `fillStore` made. */
export function newQuestion(): string {
  return `What did ${pick(SUBJECTS)} say about ${filler()} and ${filler()}?`;
}
