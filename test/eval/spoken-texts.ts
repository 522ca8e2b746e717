/** Sentences to be read aloud: no figures and no names that are written in more ways than one. */

export const SENTENCES = [
  "The dentist moved the appointment to Thursday afternoon.",
  "Please water the tomatoes while we are away next week.",
  "The train to the coast was late again, so we missed the ferry.",
  "She keeps the spare key behind the water meter in the cellar.",
  "We decided to paint the kitchen yellow and the bedroom green.",
  "My brother is allergic to cashews, but he can eat peanuts.",
  "The insurance company wants a photograph of the broken window.",
  "After the meeting I felt tired, but also rather proud of the team.",
];

const WHO = ["My sister", "The old carpenter", "Our neighbour", "The young doctor", "A friend from school"];
const DID = [
  "repaired the wooden bridge",
  "bought a red bicycle",
  "lost a silver ring",
  "planted three apple trees",
  "baked bread for the whole street",
  "painted the garden fence",
  "wrote a long letter to the mayor",
];
const WHEN = ["on Monday morning", "before the summer", "during the storm", "late in the evening"];

/** As many different sentences. */
export function manySentences(count: number): string[] {
  return Array.from(
    { length: count },
    // The three numbers have no common divisor: a sentence comes again after 140.
    (_, i) => `${WHO[i % WHO.length]} ${DID[i % DID.length]} ${WHEN[i % WHEN.length]}.`,
  );
}

/** In small letters, without marks. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Words to be changed, put in or left out to make the one of the other; beside the words of `said`, the word error rate. */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let above = Array.from({ length: heard.length + 1 }, (_, i) => i);
  said.forEach((word, i) => {
    const row = [i + 1];
    heard.forEach((other, j) => {
      const changed = (above[j] ?? 0) + (word === other ? 0 : 1);
      row.push(Math.min(changed, (row[j] ?? 0) + 1, (above[j + 1] ?? 0) + 1));
    });
    above = row;
  });
  return above.at(-1) ?? 0;
}
