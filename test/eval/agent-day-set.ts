/** A day with a coding agent over one project: what a person says and what the agent does. Made up for this measurement. */

export interface Turn {
  readonly prompt: string;
  /** What the session must have been told by now; null: nothing may be told at this prompt. Absent: anything goes. */
  readonly expect?: RegExp | null;
  readonly reply: string;
  /** Commands that the agent runs, with their failure. */
  readonly runs?: readonly { readonly command: string; readonly error?: string }[];
  readonly edits?: readonly string[];
}

export interface Session {
  readonly at: string;
  /** What the context at the start must hold. */
  readonly context: readonly RegExp[];
  readonly turns: readonly Turn[];
}

export const DAY: readonly Session[] = [
  {
    at: "2026-11-19T09:05:00.000Z",
    context: [/Preact|SVG|Weblate|feature flags/i],
    turns: [
      {
        prompt:
          "Hi! This is the seedling planner. We use pnpm here, never npm, and the tests run with vitest.",
        expect: null,
        reply: "Understood.",
      },
      {
        prompt: "Planting dates are off by one for users west of Greenwich. Find out why and fix it.",
        expect: null,
        reply: "The date was parsed as local time. It is parsed as UTC now.",
        runs: [
          {
            command: "pnpm vitest run test/dates.test.ts",
            error: "AssertionError: expected '2026-03-14' to be '2026-03-15'",
          },
          { command: "pnpm vitest run test/dates.test.ts" },
        ],
        edits: ["src/dates.ts"],
      },
      {
        prompt: "Good. We decided to store all dates as UTC midnight and to format them only in the browser.",
        reply: "Noted.",
      },
      { prompt: "thanks, that's it for now", expect: null, reply: "You are welcome." },
    ],
  },
  {
    at: "2026-11-19T11:20:00.000Z",
    context: [/pnpm/, /UTC/],
    turns: [
      { prompt: "how do I run the tests here?", expect: /pnpm|vitest/, reply: "With pnpm vitest." },
      {
        prompt: "Add a frost warning to the bed view.",
        reply: "The bed view shows a warning when the forecast is below 2 degrees.",
        runs: [{ command: "pnpm vitest run" }],
        edits: ["src/views/bed.tsx", "src/forecast.ts"],
      },
      { prompt: "Please always write commit messages in English and in the imperative.", reply: "I will." },
      { prompt: "We deploy to a Hetzner box with docker compose.", reply: "Noted." },
      { prompt: "in which unit is rainfall shown?", expect: /millimetres/, reply: "In millimetres." },
      { prompt: "ok", expect: null, reply: "Anything else?" },
    ],
  },
  {
    at: "2026-11-19T14:10:00.000Z",
    context: [/UTC/, /commit messages/, /Hetzner/],
    turns: [
      { prompt: "what did we decide about dates?", expect: /UTC/, reply: "They are stored as UTC midnight." },
      {
        prompt: "Correction: we no longer deploy to Hetzner, we moved to Fly.io last week.",
        reply: "Noted, Fly.io.",
      },
      { prompt: "which mail service do we use and why?", expect: /Postmark/, reply: "Postmark." },
      {
        prompt: "Cache the forecast. I decided against Redis; the cache goes into the SQLite file.",
        reply: "The forecast is cached in SQLite for an hour.",
        runs: [
          { command: "pnpm vitest run test/forecast.test.ts", error: "SqliteError: database is locked" },
          { command: "pnpm vitest run test/forecast.test.ts" },
        ],
        edits: ["src/forecast.ts", "src/cache.ts"],
      },
      { prompt: "We still need to migrate the beds of the old version.", reply: "I put it on the list." },
    ],
  },
  {
    at: "2026-11-19T16:40:00.000Z",
    context: [/Fly\.io/, /SQLite|Redis/, /migrate/],
    turns: [
      { prompt: "where do we deploy?", expect: /Fly\.io/, reply: "To Fly.io." },
      {
        prompt: "which cache did we choose, and why not Redis?",
        expect: /SQLite/,
        reply: "The SQLite file.",
      },
      { prompt: "how long do we keep logs?", expect: /fourteen days/, reply: "Fourteen days." },
      { prompt: "may I edit the German locale file?", expect: /Weblate/, reply: "No, it is in Weblate." },
      { prompt: "write a haiku about rain", expect: null, reply: "Rain on the window." },
      { prompt: "what is the capital of Mongolia?", expect: null, reply: "Ulaanbaatar." },
      { prompt: "I prefer short functions and early returns.", reply: "Noted." },
    ],
  },
  {
    at: "2026-11-20T08:55:00.000Z",
    context: [/pnpm/, /UTC/, /commit messages/, /Fly\.io/, /SQLite|Redis/, /migrate/, /early returns/],
    turns: [{ prompt: "go on where we stopped", reply: "The migration of old beds is next." }],
  },
];

/** What memory held of the project before that day, a note every four days: more than a start has room for. */
export const OLDER: readonly string[] = [
  "Rainfall is shown in millimetres, never in inches, because the weather service sends millimetres.",
  "The seed catalogue comes from a CSV file that Ines keeps by hand; it is imported with pnpm seed.",
  "We chose Preact over React for the planner because of its size.",
  "Maps use OpenStreetMap tiles from our own cache; the public tile server blocked us in June.",
  "Beds are drawn in SVG. A canvas was tried and dropped because of screen readers.",
  "The icons are drawn by Tomas; ask him before adding one.",
  "Emails go out through Postmark. SendGrid was too slow with confirmations.",
  "A plant's Latin name is its key in the catalogue, not its English name.",
  "The staging site has its own database, which is wiped every Sunday.",
  "Soil temperature is interpolated from the three nearest stations.",
  "Crop rotation rules live in rules/rotation.yaml and are checked by a test of their own.",
  "We support the last two versions of Safari, because half of the users have iPads.",
  "Photos are scaled in the browser to 1600 pixels before they are uploaded.",
  "The planner works offline with a service worker; conflicts are resolved by the later change.",
  "User names may hold any script; sorting uses Intl.Collator.",
  "Ines wants the weekly digest on Saturday at seven in the morning, local time.",
  "The old PHP site is still reachable under legacy.seedling.example until the end of the year.",
  "Translations are in Weblate; never edit the JSON files of locales by hand.",
  "Frost dates per postcode come from a table of the weather office that is renewed each January.",
  "Passwords are hashed with argon2id; the parameters are in src/auth/hash.ts.",
  "The API answers in problem+json; clients rely on the field code.",
  "Feature flags were removed in August; a branch that is not ready is not merged.",
  "Logs are kept for fourteen days, as the privacy statement says.",
  "Prices are stored as integers in cents, with the currency beside them.",
  "Companion planting hints are off by default; users found them patronising.",
  "The CI runs on Woodpecker; the runner is the old Mac mini under Tomas's desk.",
  "The watering forecast ignores rain of less than two millimetres.",
  "A garden may have at most 400 beds; the drawing gets slow above that.",
  "Undo keeps fifty steps per garden, in memory only.",
  "The mobile layout begins below 700 pixels of width.",
  "Export to PDF is done by the server with Typst.",
  "Harvests are recorded in grams; pieces are converted with the catalogue's average weight.",
  "We measured that the first page must load in less than 90 kB, fonts included.",
  "Error reports go to a self-hosted GlitchTip.",
  "Moon phases were asked for often, and we said no: no evidence.",
  "The database is backed up every night at three to the NAS in the office.",
  "Slugs of gardens are never reused, so that old links do not lead to strangers.",
  "Weather is fetched every three hours; the service allows 1 000 calls a day.",
  "Accessibility is checked with axe in every pull request.",
  "The test gardens are named after rivers: Elbe, Oder, Weser.",
];
