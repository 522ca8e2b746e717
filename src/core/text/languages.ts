/**
 * The entries of each part of a language. A language is a file, `data/languages/NAME.json`; the README there says what each
 * entry means. All are sources of regular expressions over folded text (see `fold`): words divided by `|`.
 */
const ENTRIES = {
  time: [
    "months weekdays seasons numbers parts ordinals day week month year weekend fortnight hour christmas today yesterday",
    "dayBeforeYesterday tomorrow last lastAfter this past next beforeLast dayPart agoBefore agoAfter in inAfter the of",
    "before after since until between from and or to onwards dayAhead dayBehind half quarter firsts numbered joining empty",
  ],
  question: [
    "asks asksUnspaced points fault faultUnspaced coming comingUnspaced happened happenedUnspaced denial former",
    "formerUnspaced earlier obliged notFormer aged beforeTime still listing everything courtesy thanks phone phoneAlone",
    "mail price asking ofWhom free howMuch howMuchUnspaced when was mailHead mailSubject",
  ],
  change: ["words unspaced fromMonth weak denied denying warning warningUnspaced doseUnits open"],
  statement: [
    "preference preferencePerhaps decision decisionPerhaps correction correctionPerhaps undecided open openPerhaps done",
    "donePerhaps fact factPerhaps verbs doubt pointing passing never filler talk praise",
  ],
  sector: [
    "instructionVerbs irregularPast notPast feelings feelingBody reflection months weekdays nearbyTimes frequency",
    "obligation sequence definingVerbs degree interjections comparison functionWords",
  ],
} as const;
/** Entries of `time` with a text for each of so many places. */
const PLACES = { months: 12, weekdays: 7, seasons: 4, numbers: 13, parts: 3, ordinals: 5 } as const;

type Part = keyof typeof ENTRIES;
type Words<Line> = Line extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Line;
type Entry<Of extends Part> = Words<(typeof ENTRIES)[Of][number]>;

/** How a language speaks of time; `NEVER` for what it has no words for. */
export type TimeWords = {
  readonly [Name in Entry<"time">]: Name extends keyof typeof PLACES ? readonly string[] : string;
};

/** A language; it may leave out any of its parts, and any entry of a part. */
export type Language = {
  readonly [Of in Exclude<Part, "time">]?: { readonly [Name in Entry<Of>]?: string };
} & {
  readonly time?: TimeWords;
  /** The name of its file: "de". */
  readonly name: string;
  /** Languages in which a question reads equally well are tried in this order, those without one last. */
  readonly order?: number;
};

/** Matches nothing: stands for words that a language does not have. */
export const NEVER = "(?!)";

const namesIn = (lines: readonly string[]) => lines.flatMap((line) => line.split(" "));
const NO_TIMES = {
  ...Object.fromEntries(namesIn(ENTRIES.time).map((entry) => [entry, NEVER])),
  ...Object.fromEntries(
    Object.entries(PLACES).map(([entry, length]) => [entry, Array.from({ length }, () => NEVER)]),
  ),
};

/** @throws {TypeError} saying which entry is wrong, and what it must be. */
export function readLanguage(name: string, json: unknown): Language {
  const { order, ...parts } = asObject(json, "the file");
  if (order !== undefined && typeof order !== "number") throw new TypeError("`order` must be a number");
  const read = Object.entries(parts).map(([part, value]) => {
    const lines = Object.entries(ENTRIES).find(([known]) => known === part)?.[1];
    if (lines === undefined) throw new TypeError(`\`${part}\` is no part of a language`);
    const given = asObject(value, `\`${part}\``);
    const unknown = Object.keys(given).find((entry) => !namesIn(lines).includes(entry));
    if (unknown !== undefined) throw new TypeError(`\`${part}.${unknown}\` is no entry of \`${part}\``);
    const places: Readonly<Record<string, number>> = part === "time" ? PLACES : {};
    const entries = Object.entries(given).map(([entry, texts]) => [
      entry,
      readEntry(`\`${part}.${entry}\``, texts, places[entry]),
    ]);
    return [part, { ...(part === "time" && NO_TIMES), ...Object.fromEntries(entries) }];
  });
  return {
    ...(Object.fromEntries(read) as Omit<Language, "name">),
    ...(order !== undefined && { order }),
    name,
  };
}

/** An entry as one source, or one for each of its places. A long text may be divided over a list. */
function readEntry(what: string, value: unknown, places?: number): string | readonly string[] {
  const texts: readonly unknown[] = [value].flat();
  if (texts.some((text) => typeof text !== "string") || texts.length !== (places ?? texts.length))
    throw new TypeError(
      `${what} must be ${places === undefined ? "a text or a list of texts" : `a list of ${places} texts`}`,
    );
  const broken = (texts as string[]).find((text) => !isExpression(text));
  if (broken !== undefined) throw new TypeError(`${what} must be a regular expression; got "${broken}"`);
  // Joined by `|`, an empty text would match everywhere.
  if (texts.includes(""))
    throw new TypeError(`${what} must have no empty text; write "${NEVER}" where there are no words`);
  return places === undefined ? texts.join("|") || NEVER : (texts as string[]);
}

/** Only parses it: to compile all at the start would take four times as long. */
function isExpression(text: string): boolean {
  try {
    return new RegExp(text, "u").unicode;
  } catch {
    return false;
  }
}

function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what} must be an object`);
  return value as Record<string, unknown>;
}

let read = (): readonly Language[] => {
  throw new TypeError("no languages: call `useLanguages` first");
};
let known: readonly Language[] | undefined;

/** Sets the languages of this process. @param from called once, when a language is first needed. */
export function useLanguages(from: () => readonly Language[]): void {
  read = from;
  known = undefined;
}

/** The languages that this process knows, in their order. */
export const languages = (): readonly Language[] =>
  (known ??= read().toSorted(
    (a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.name < b.name ? -1 : 1),
  ));

/** How all languages that have a calendar speak of time. */
export const timeWords = (): readonly TimeWords[] => languages().flatMap(({ time }) => time ?? []);

/** A function that makes a value of the languages when it is first called, and again only where others are set. */
export function fromLanguages<T>(make: (languages: readonly Language[]) => T): () => T {
  let made: { readonly of: readonly Language[]; readonly value: T } | undefined;
  return () => {
    const of = languages();
    if (made?.of !== of) made = { of, value: make(of) };
    return made.value;
  };
}

/** The words of all languages for each entry of a part, each as one source; where an entry has places, of all places. */
export const wordsOfAll = <Of extends Part>(languages: readonly Language[], part: Of) =>
  Object.fromEntries(
    namesIn(ENTRIES[part]).map((entry) => [
      entry,
      anyOf(
        languages.flatMap((language) => {
          const words: Readonly<Record<string, string | readonly string[]>> = language[part] ?? {};
          return words[entry] ?? [];
        }),
      ),
    ]),
  ) as { readonly [Name in Entry<Of>]: string };

/** The words of several languages as one source. */
export const anyOf = (texts: readonly (string | undefined)[]): string =>
  [...new Set(texts)].filter((text) => text !== undefined && text !== NEVER).join("|") || NEVER;
