/**
 * The parts of a language, and the languages that this process knows. A language is a file, `data/languages/NAME.json`; the
 * README there says what each entry means. Texts are sources of regular expressions over folded text (see `fold`), words divided
 * by `|`; a number is the length of a list, and `?` marks what a language may leave out.
 */
const SHAPE = {
  time: {
    months: 12,
    weekdays: 7,
    seasons: 4,
    numbers: 13,
    day: "text",
    week: "text",
    month: "text",
    year: "text",
    weekend: "text",
    christmas: "text",
    today: "text",
    yesterday: "text",
    dayBeforeYesterday: "text",
    tomorrow: "text?",
    last: "text",
    lastAfter: "text?",
    this: "text",
    past: "text?",
    next: "text?",
    beforeLast: "text?",
    parts: 3,
    fortnight: "text",
    hour: "text?",
    dayPart: "text?",
    agoBefore: "text?",
    agoAfter: "text?",
    in: "text?",
    inAfter: "text?",
    the: "text?",
    of: "text?",
    before: "text?",
    after: "text?",
    since: "text?",
    until: "text?",
    between: "text?",
    from: "text?",
    and: "text",
    or: "text?",
    to: "text",
    onwards: "text?",
    dayAhead: "text?",
    dayBehind: "text?",
    ordinals: "list?",
    half: "text?",
    quarter: "text?",
    firsts: "text?",
    numbered: "text?",
    joining: "text?",
    empty: "list",
  },
  question: {
    asks: "list?",
    points: "text?",
    fault: "text?",
    faultUnspaced: "text?",
    coming: "list?",
    happened: "list?",
    denial: "list?",
    former: "list?",
    notFormer: "text?",
    aged: "text?",
    listing: "list?",
    everything: "text?",
    phone: "text?",
    phoneAlone: "text?",
    mail: "text?",
    price: "text?",
    asking: "text?",
    ofWhom: "text?",
    free: "text?",
    howMuch: "list?",
    when: "text?",
    was: "text?",
    mailHead: "text?",
    mailSubject: "text?",
    beforeTime: "text?",
    asksUnspaced: "text?",
    howMuchUnspaced: "text?",
    comingUnspaced: "text?",
    happenedUnspaced: "list?",
    formerUnspaced: "text?",
  },
  change: {
    words: "list?",
    unspaced: "text?",
    fromMonth: "text?",
    weak: "text?",
    denied: "text?",
    denying: "text?",
    warning: "list?",
    warningUnspaced: "text?",
    doseUnits: "text?",
    open: "text?",
  },
  statement: {
    preference: "list?",
    preferencePerhaps: "list?",
    decision: "list?",
    decisionPerhaps: "list?",
    correction: "list?",
    correctionPerhaps: "list?",
    undecided: "list?",
    open: "list?",
    openPerhaps: "list?",
    done: "list?",
    donePerhaps: "list?",
    fact: "list?",
    factPerhaps: "list?",
    verbs: "list?",
    doubt: "list?",
    pointing: "list?",
    passing: "list?",
    never: "list?",
    filler: "list?",
    talk: "list?",
    praise: "list?",
  },
  sector: {
    instructionVerbs: "list?",
    irregularPast: "list?",
    notPast: "list?",
    feelings: "list?",
    feelingBody: "list?",
    reflection: "list?",
    months: "list?",
    weekdays: "list?",
    nearbyTimes: "list?",
    frequency: "list?",
    obligation: "list?",
    sequence: "list?",
    definingVerbs: "list?",
    degree: "list?",
    interjections: "list?",
    comparison: "list?",
    functionWords: "list?",
  },
} as const;

type Shape = typeof SHAPE;
type Entry<Kind> = Kind extends `text${string}` ? string : readonly string[];
type Part<Entries> = {
  readonly [Name in keyof Entries as Entries[Name] extends `${string}?` ? never : Name]: Entry<Entries[Name]>;
} & {
  readonly [Name in keyof Entries as Entries[Name] extends `${string}?` ? Name : never]?: Entry<
    Entries[Name]
  >;
};

/** A language; it may leave out any of its parts. */
export type Language = { readonly [Name in keyof Shape]?: Part<Shape[Name]> } & {
  /** The name of its file: "de". */
  readonly name: string;
  /** Languages in which a question reads equally well are tried in this order, those without one last. */
  readonly order?: number;
};

/** How a language speaks of time. */
export type TimeWords = NonNullable<Language["time"]>;

/** @throws {TypeError} saying which entry is wrong, and what it must be. */
export function readLanguage(name: string, json: unknown): Language {
  const { order, ...parts } = asObject(json, "the file");
  if (order !== undefined && typeof order !== "number") throw new TypeError("`order` must be a number");
  for (const [part, entries] of Object.entries(parts)) {
    const shape = Object.entries(SHAPE).find(([name]) => name === part)?.[1];
    if (shape === undefined) throw new TypeError(`\`${part}\` is no part of a language`);
    checkPart(part, shape, asObject(entries, `\`${part}\``));
  }
  return { ...(json as Omit<Language, "name">), name };
}

function checkPart(
  part: string,
  shape: Readonly<Record<string, string | number>>,
  entries: Readonly<Record<string, unknown>>,
): void {
  const unknown = Object.keys(entries).find((entry) => !(entry in shape));
  if (unknown !== undefined) throw new TypeError(`\`${part}.${unknown}\` is no entry of \`${part}\``);
  for (const [entry, kind] of Object.entries(shape)) {
    const value = entries[entry];
    if (value === undefined && String(kind).endsWith("?")) continue;
    const texts: unknown[] = Array.isArray(value) ? value : [value];
    const isKind = String(kind).startsWith("text")
      ? typeof value === "string"
      : Array.isArray(value) && (typeof kind !== "number" || value.length === kind);
    if (!isKind || texts.some((text) => typeof text !== "string"))
      throw new TypeError(`\`${part}.${entry}\` must be ${describe(kind)}`);
    const broken = (texts as string[]).find((text) => !isExpression(text));
    if (broken !== undefined)
      throw new TypeError(`\`${part}.${entry}\` must be a regular expression; got "${broken}"`);
  }
}

/** Only parses it: to compile all at the start would take four times as long. */
function isExpression(text: string): boolean {
  try {
    return new RegExp(text, "u").unicode;
  } catch {
    return false;
  }
}

const describe = (kind: string | number): string =>
  typeof kind === "number"
    ? `a list of ${kind} texts`
    : kind.startsWith("list")
      ? "a list of texts"
      : "a text";

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

/** Matches no text that is folded: stands for a word that a language does not have. */
export const NEVER = "\u0001";

/** The words of all languages as one source; `NEVER` where none says anything. */
export function anyOf(texts: Iterable<string | undefined>): string {
  const said = [...new Set(texts)].filter((text) => text !== undefined);
  return said.length === 0 ? NEVER : said.join("|");
}
