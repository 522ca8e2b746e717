import { existsSync } from "node:fs";
import { changesSet } from "./changes-set.ts";
import {
  type EverydaySet,
  readConversations,
  readEverydaySet,
  readLaterNotes,
  readPairs,
  readParaphrases,
} from "./everyday-set.ts";

const EVERYDAY = process.env["MEMORYD_EVERYDAY"] ?? "../shared/data/daily-dev";
const CONVERSATIONS = process.env["MEMORYD_CONVERSATIONS"] ?? "../shared/data/long-turns-dev.json";

/** All sets of notes and questions; undefined where the data set is not there. */
export const SETS: readonly (readonly [name: string, read: (() => EverydaySet) | undefined])[] = [
  ["everyday notes", existsSync(EVERYDAY) ? () => readEverydaySet(EVERYDAY, "everyday") : undefined],
  // Written before the ranking was judged by them, in five languages; no weight was fitted to them.
  ["kept notes", () => readEverydaySet("test/fixtures/kept-notes", "kept notes")],
  // Written later by the same rules, of three and of four other people; nothing was chosen by them alone.
  ["third notes", () => readEverydaySet("test/fixtures/third-notes", "third notes")],
  ["fourth notes", () => readEverydaySet("test/fixtures/fourth-notes", "fourth notes")],
  ["fifth notes", () => readEverydaySet("test/fixtures/fifth-notes", "fifth notes")],
  // Nothing was fitted to them.
  ["sixth notes", () => readEverydaySet("test/fixtures/sixth-notes", "sixth notes")],
  ["seventh notes", () => readEverydaySet("test/fixtures/seventh-notes", "seventh notes")],
  // Other people of the same set, at whose answers nobody looked.
  [
    "seventh notes, judged",
    () => readEverydaySet("test/fixtures/seventh-notes-judged", "seventh notes judged"),
  ],
  // Of eight more people, written by others; nothing was fitted to them, and of the ninth nobody read the failures.
  ["eighth notes", () => readEverydaySet("test/fixtures/eighth-notes", "eighth notes")],
  ["ninth notes", () => readEverydaySet("test/fixtures/ninth-notes", "ninth notes")],
  // A team of programmers, a family and a shop, with 66 questions for states at a time; the failures were read.
  [
    "tenth notes",
    () => readEverydaySet("test/fixtures/tenth-notes", "tenth notes", Date.UTC(2026, 10, 28, 12)),
  ],
  // What chat assistants extract about a person, a team's runbooks and incidents, a log of one line a day, and users in three further languages
  // each; the failures of the first half were read, of the second nobody's.
  [
    "eleventh notes",
    () => readEverydaySet("test/fixtures/eleventh-notes", "eleventh notes", Date.UTC(2026, 10, 29, 12)),
  ],
  [
    "eleventh notes, judged",
    () =>
      readEverydaySet(
        "test/fixtures/eleventh-notes-judged",
        "eleventh notes judged",
        Date.UTC(2026, 10, 29, 12),
      ),
  ],
  // What agents keep of three people and of a team, in the third person, and questions as agents and their hooks ask them; the failures of
  // the first half were read, of the second nobody's.
  [
    "agents' notes",
    () => readEverydaySet("test/fixtures/agents-notes", "agents notes", Date.UTC(2026, 10, 29, 12)),
  ],
  [
    "agents' notes, judged",
    () =>
      readEverydaySet("test/fixtures/agents-notes-judged", "agents notes judged", Date.UTC(2026, 10, 29, 12)),
  ],
  // Of six more people, prompts beside pasted texts alone; of the second half, other three, nobody read the failures.
  ["pasted notes", () => readEverydaySet("test/fixtures/pasted-notes", "pasted notes")],
  ["pasted notes, judged", () => readEverydaySet("test/fixtures/pasted-notes-judged", "pasted notes judged")],
  // Of six people whose things change, with notes that look like changes and are none; `currency.ts` is fitted to them, too.
  ["changing notes", () => readEverydaySet("test/fixtures/changing-notes", "changing notes")],
  // Whether the later of two notes takes the place of the earlier one; of every second line nobody read the failures.
  ["pairs", () => readPairs("test/eval/pairs.txt", "pairs")],
  // 1 800 more in some fifteen languages, sixty in the notes of one user; nothing was fitted to them.
  ["later notes", () => readLaterNotes("test/eval/later-notes.jsonl", "later notes")],
  ["paraphrases, tuned", () => readParaphrases("test/eval/paraphrases-tuned.txt", "tuned")],
  // Other people; nothing was chosen by them.
  ["paraphrases, judged", () => readParaphrases("test/eval/paraphrases-judged.txt", "judged")],
  ["changes", changesSet],
  [
    "conversations",
    existsSync(CONVERSATIONS) ? () => readConversations(CONVERSATIONS, "conversations") : undefined,
  ],
];
