import { expression } from "./expression.ts";
import { fold } from "./fold.ts";
import { anyOf, fromLanguages, NEVER, type Language } from "./languages.ts";

export const STATEMENT_KINDS = ["correction", "decision", "preference", "open", "done", "fact"] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

type StatementWords = NonNullable<Language["statement"]>;

/** How much the words that show a kind clearly speak for it, and those that show it perhaps. */
const SCORES: Readonly<Record<StatementKind, readonly [clear: number, perhaps: number]>> = {
  correction: [0.92, 0.62],
  decision: [0.92, 0.72],
  preference: [0.9, 0.7],
  open: [0.85, 0.6],
  done: [0.84, 0.66],
  fact: [0.8, 0.52],
};
/** How much words that something is undecided speak for "open". */
const UNDECIDED = 0.95;

/** The words of all languages, as expressions. */
const CUES = fromLanguages((languages) => {
  const all = languages.flatMap(({ statement }) => statement ?? []);
  const source = (name: keyof StatementWords) =>
    anyOf(all.map(({ verbs = NEVER, [name]: words }) => words?.replaceAll("%", () => `(?:${verbs})`)))
      .replaceAll(" ~ ", String.raw`,? (?:@ ){0,2}`)
      .replaceAll("@", String.raw`[^ ]{1,24}`)
      .replaceAll("*", String.raw`[\p{L}']{0,16}`);
  const pattern = (name: keyof StatementWords) =>
    expression(String.raw`(?:(?=,)|(?<![\p{L}\p{N}_'-]))(?:${source(name)})(?![\p{L}\p{N}_])`);
  return {
    kinds: STATEMENT_KINDS.map((kind) => ({
      kind,
      cues: [
        ...(kind === "open" ? [{ pattern: pattern("undecided"), score: UNDECIDED }] : []),
        { pattern: pattern(kind), score: SCORES[kind][0] },
        { pattern: pattern(`${kind}Perhaps`), score: SCORES[kind][1] },
      ],
    })),
    filler: expression(`^(?:${anyOf(all.map(({ filler }) => filler))})(?:[,:;.!-]+ ?| )`),
    doubt: pattern("doubt"),
    pointing: pattern("pointing"),
    passing: pattern("passing"),
    never: pattern("never"),
  };
});

export interface Statement {
  readonly kind: StatementKind;
  /** In (0, 1]: how much in the sentence speaks for the kind. */
  readonly score: number;
}

/** A lasting statement is one sentence; more is a paste. */
const MAX_CHARS = 600;
const MIN_WORDS = 2;
const MIN_SCORE = 0.5;
/** Texts with a smaller share of letters and blanks are code, tables and logs. */
const MIN_PROSE = 0.6;
/** Factors for what is said with doubt, and for what points to something that is not in the sentence. */
const DOUBT = 0.6;
const POINTING = 0.55;
const SPECIFIC = 0.12;

const QUESTION = /[?？]["'”’)\s]*$/u;
const CODE_LINE =
  /^(?:[{}[\]<$#>|/]|at |\d\d:\d\d|\d{4}-\d\d-\d\dT)|[{};]$|=>|\w\(\)\s*[{;]|^(?:import|const|let|def|class|return|export|function) \S{1,60}(?: \S{1,60})?[=({:;]/;
const NUMBER_OR_NAME = /\d|(?<=\S )["'“«`]?\p{Lu}[\p{L}\p{M}]+|`[^`\n]{2,}`|\b\p{L}+[./_-]\p{L}+/u;

/**
 * The kind of a sentence that is worth remembering: a standing preference, a decision, a correction, a fact about people
 * or projects, something open or something done. Undefined for questions, requests for the moment, replies, greetings,
 * passing states and code. By the words of all languages. Cost: linear.
 */
export function statementKind(sentence: string): Statement | undefined {
  const plain = sentence.trim();
  if (plain.length > MAX_CHARS || QUESTION.test(plain) || CODE_LINE.test(plain)) return undefined;
  if ((plain.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0) < plain.length * MIN_PROSE) return undefined;
  const text = withoutFillers(
    fold(plain)
      .replaceAll(/[’`´]/g, "'")
      .replaceAll(/\s+/g, " ")
      .replace(/^(?:[-*•–] |\d{1,2}[.)] |> )/, ""),
  );
  const cues = CUES();
  if (text.split(" ").length < MIN_WORDS || cues.never.test(text)) return undefined;
  let factor = 1;
  if (cues.doubt.test(text)) factor *= DOUBT;
  if (cues.pointing.test(text)) factor *= POINTING;
  const specific = NUMBER_OR_NAME.test(plain) ? SPECIFIC : 0;

  let best: Statement | undefined;
  for (const { kind, cues: ofKind } of cues.kinds) {
    const strength = ofKind.find(({ pattern }) => pattern.test(text))?.score ?? 0;
    if (strength === 0) continue;
    const passing = (kind === "fact" || kind === "done") && cues.passing.test(text) ? POINTING : 1;
    const score = Math.min(1, (strength + specific) * factor * passing);
    if (score >= MIN_SCORE && score > (best?.score ?? 0)) best = { kind, score };
  }
  return best;
}

/** Without "Ok, so", "by the way" and the like at the beginning; "no, actually" stays. */
function withoutFillers(text: string): string {
  let rest = text;
  for (let count = 0; count < 4; count += 1) {
    const filler = CUES().filler.exec(rest)?.[0];
    if (filler === undefined || filler.length === rest.length) break;
    rest = rest.slice(filler.length);
  }
  return rest;
}
