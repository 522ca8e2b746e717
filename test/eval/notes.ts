import type { DataSet } from "./data-sets.ts";

/** Notes of one person's days, each standing alone (no session), with questions in other words than the notes'. */
const NOTES: readonly (readonly [note: string, ...questions: string[]])[] = [
  ["Dentist moved to Thursday 14:30, Dr. Okafor, second floor.", "When do I have to see the dentist?"],
  ["The wifi password at the cabin is larch-42-otter.", "How do I get online at the cabin?"],
  ["Maya is allergic to cashews, not to peanuts.", "Which nuts can't Maya eat?"],
  ["Paid the plumber 240 euros for the kitchen leak.", "How much did the repair in the kitchen cost?"],
  [
    "Decided with Tomas to use Postgres instead of MySQL for the billing service.",
    "Which database did we choose for billing?",
  ],
  ["The spare key hangs behind the water meter in the cellar.", "Where is the spare key?"],
  ["Ran 8 km along the canal, knee held up fine.", "How is my knee doing when I run?"],
  ["Book recommended by Ines: The Overstory by Richard Powers.", "What did Ines tell me to read?"],
  ["Deploys fail when NODE_OPTIONS is set; unset it in the CI job first.", "Why do deployments break?"],
  [
    "Grandma's bread: 500 g rye flour, 12 g salt, starter, 18 hours at room temperature.",
    "How long does the bread rest?",
  ],
  ["Felt low all afternoon after the call with my brother.", "What made me feel sad?"],
  [
    "The function getInvoiceTotal in src/billing/totals.ts rounds twice.",
    "Where is the rounding bug in the invoices?",
  ],
  ["Passport expires on 3 March 2027.", "When must I renew my passport?"],
  ["Lena starts school in September; uniform shop closes at five.", "When does Lena begin school?"],
  ["Gate code for the allotment is 7719.", "What is the code of the garden gate?"],
  ["Meeting with the landlord: rent goes up by 3 percent from January.", "What happens to our rent?"],
  ["The blue car makes a grinding noise when turning left.", "What is wrong with the car?"],
  [
    "Tried the new Ethiopian place on Mill Street, the lentils were superb.",
    "Where did we eat good lentils?",
  ],
  ["Sofia's birthday is on 9 June, she likes watercolours.", "What could I give Sofia for her birthday?"],
  [
    "To reset the router hold the button for ten seconds until the light blinks orange.",
    "How do I restart the router?",
  ],
  ["Sold the old bicycle to a student for 60 euros.", "Who bought my bike?"],
  ["Insurance claim number is HX-20931-B.", "What's the number of my insurance claim?"],
  [
    "The team retro concluded that code reviews take too long.",
    "What did the team find out in the retrospective?",
  ],
  ["Planted garlic and tulips before the first frost.", "What did I plant in the garden?"],
  ["Grandpa told me he worked on a whaling ship in 1956.", "What job did grandpa have when he was young?"],
];

const UNANSWERED = [
  "What is the capital of Mongolia?",
  "Who won the football match last night?",
  "What is my cat's name?",
  "How do I bake a chocolate cake?",
  "Which hotel did we book in Lisbon?",
  "When does the museum open on Sundays?",
  "What did the doctor say about my blood pressure?",
  "How many people live in Canada?",
  "What colour should the bedroom be painted?",
  "Where did I park the motorcycle?",
  "What is the boiling point of ethanol?",
  "Which airline lost our luggage?",
];

const USER = "diarist";
const FIRST_DAY = Date.UTC(2026, 9, 1, 9);
const HALF_DAY_MS = 43_200_000;

export const NOTES_SET: DataSet = {
  name: "notes",
  memories: NOTES.map(([content], i) => ({
    id: `note-${i}`,
    content,
    userId: USER,
    sessionId: null,
    occurredAt: FIRST_DAY + i * HALF_DAY_MS,
  })),
  questions: NOTES.flatMap(([, ...questions], i) =>
    questions.map((text, j) => ({
      id: `q-${i}-${j}`,
      text,
      userId: USER,
      category: "notes",
      evidence: [`note-${i}`],
    })),
  ),
  unanswerable: UNANSWERED.map((text, i) => ({
    id: `none-${i}`,
    text,
    userId: USER,
    category: "none",
    evidence: [],
  })),
};
