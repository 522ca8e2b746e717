import { expression } from "./expression.ts";
import { fold } from "./fold.ts";
import { anyOf, fromLanguages } from "./languages.ts";
import { shortened } from "./text-size.ts";
import { timeOfQuestion } from "./time-expressions.ts";

/** A prompt as a question: what it asks, and what was pasted beside that. */
export interface Prompt {
  /** What is asked; the whole text where nothing was pasted. */
  readonly asking: string;
  /** The pasted lines; "" where there are none. */
  readonly pasted: string;
  /** The line of the paste that says most, where `asking` only points to it ("why does this fail again?"); else "". */
  readonly pointedAt: string;
}

/** A shorter text is asked as it is. */
const LEAST_CHARS = 160;
const LEAST_LINES = 3;
const LEAST_LINES_OF_LETTER = 4;
/** Fewer lines are a letter where so many characters stand beside what is asked. */
const LEAST_CHARS_OF_LETTER = 200;
/** Longer runs of prose are read by the paragraphs that ask, or by the one at the edge of the text. */
const MAX_ASKING_CHARS = 600;
/** Characters of the line of a paste that the meaning is asked by. */
const TELLING_CHARS = 160;
/** A passage in quotation marks that is no phrase to look for. */
const LONG_QUOTE = /(?<!\S)"(?=\S)[^"]{120,}"|[“„][^“”„]{120,}[”“]|«[^«»]{120,}»|「[^「」]{60,}」/u;
/** A question of fewer long words is read with what stands beside it. */
const LEAST_WORDS = 4;

/** How lines of a diff begin that say where it changes something, and not what. */
const DIFF_HEAD = String.raw`diff --git |index [\da-f]{4,}|@@ |\+\+\+ |--- `;
const TIMESTAMP = String.raw`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d{1,2}:\d\d:\d\d|\p{L}{3} +\d{1,2} \d\d:\d\d:\d\d|\d{1,2}[./]\d{1,2}[./]?(?:\d{4})?,? \d\d:\d\d`;
const DIFF_HEADING = new RegExp(`^(?:${DIFF_HEAD})`, "u");
/** Lines that programs write, whatever their words. */
const MACHINE = new RegExp(
  [
    String.raw`^\s*[\[(<]?(?:${TIMESTAMP})`,
    String.raw`^\s*[\[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRITICAL|SEVERE|PANIC)\b[\])]?[: ]`,
    String.raw`^\s*(?:${DIFF_HEAD}|[+]\s?\S|\.\.\. )`,
    String.raw`^\s*(?:at |File "|Traceback |Caused by|goroutine \d|thread '|panicked at|Stack trace|Exception in |Node\.js v\d)`,
    String.raw`^\s*(?:[\w.$]{1,200}\.)?\w{0,200}(?:Error|Exception|Warning)\b[^?]*:`,
    String.raw`^\s*(?:[$#%❯] |> |PS [A-Z]:|\w+@[\w.-]+[:~])`,
    String.raw`^\s*(?:##\[\w+\]|(?:note|warning|error|hint|help|info|debug): )|^\s*[\w.-]+:\s*$`,
    String.raw`^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|JOIN|WHERE|BEGIN|COMMIT)\s`,
    String.raw`^\s*(?:HTTP/\d|(?:GET|POST|PUT|PATCH|DELETE|HEAD) /|curl |npm (?:ERR!|error|WARN))`,
    String.raw`^\s*[\p{L}\d_.[\]"'-]+\s*[:=]\s*(?:[\d"'{[\]-]|true\b|false\b|null\b|\S+$)`,
    String.raw`^\s*<\/?\w[^>]*>|^\s*\|.*\||^[\p{P}\p{S}\s]+$|[{;]\s*$`,
  ].join("|"),
  "u",
);
/** "Ida: see you there", "Weight: 12 kg", "Ida  09:02": what a line of a chat or a form begins with. */
const LABEL = /^\s*(\p{L}[\p{L}\p{M}\p{N} ._/-]{0,30}?)(?:: |:$|\s+\d{1,2}:\d\d\s*$)/u;
/** The words of prompts in any language, folded. */
const PROMPT = fromLanguages((languages) => {
  const all = languages.flatMap(({ question }) => question ?? []);
  const head = anyOf(all.map(({ mailHead }) => mailHead));
  const asks = all.flatMap(({ asks = [] }) => asks).join("|");
  const asksUnspaced = anyOf(all.map(({ asksUnspaced }) => asksUnspaced));
  return {
    /** Lines at the head of a mail or an answer of HTTP. */
    header: expression(String.raw`^\s*(?:${head}|[a-z]+(?:-[a-z]+)+)\s?: ?\S`),
    subject: expression(String.raw`^\s*(?:${anyOf(all.map(({ mailSubject }) => mailSubject))})\s?:`),
    /** Words with which questions and requests begin. */
    asks: expression(String.raw`[?？؟]|^(?:[\p{L}\d]+,? ){0,3}(?:${asks})(?![\p{L}])|(?:${asksUnspaced})`),
    /** Words that lines with the fault have; of English ones the end of a word is enough: "TypeError". */
    fault: expression(
      String.raw`(?:${anyOf(all.map(({ fault }) => fault))})(?!\p{L})|${anyOf(all.map(({ faultUnspaced }) => faultUnspaced))}`,
    ),
    /** Words that point to what stands beside them. */
    points: expression(String.raw`(?<![\p{L}])(?:${anyOf(all.map(({ points }) => points))})(?![\p{L}])`),
  };
});

/**
 * Splits a prompt as people write them to agents: what they ask stands before, after or between what they paste (logs,
 * traces, diffs, code, tables, mail), often in another language. Cost: linear.
 */
export function readPrompt(text: string): Prompt {
  const whole: Prompt = { asking: text, pasted: "", pointedAt: "" };
  if (text.length < LEAST_CHARS && text.split("\n").length < LEAST_LINES) return whole;
  const [quoted = ""] = LONG_QUOTE.exec(text) ?? [];
  const beside = quoted === "" ? "" : text.replace(quoted, () => "").trim();
  if (beside.length <= MAX_ASKING_CHARS && PROMPT().asks.test(fold(beside)))
    return promptOf(beside, quoted.split("\n")) ?? whole;
  const lines = text.split(/\r?\n/);
  const kinds = kindsOf(lines);
  if (!kinds.includes("pasted")) return readLetter(lines) ?? whole;
  const first = kinds.findIndex((kind) => kind === "pasted");
  const last = kinds.lastIndexOf("pasted");
  const between = lines.filter(
    (line, i) => i > first && i < last && kinds[i] === "prose" && PROMPT().asks.test(fold(line.trim())),
  );
  const [before, after] = [
    shortRun(paragraphsOf(lines.slice(0, first))),
    shortRun(paragraphsOf(lines.slice(last + 1)).reverse()),
  ];
  const edges = [before, after].filter((run) => PROMPT().asks.test(fold(run)));
  // Lines of prose in the middle of a paste are part of it, unless nothing else is left to be asked.
  const asks = edges.length > 0 || between.length === 0 ? edges : [shortRun([between.join("\n")])];
  const rest = [before, after].filter((run) => run !== "");
  return promptOf((asks.length > 0 ? asks : rest).join("\n").trim(), lines) ?? readLetter(lines) ?? whole;
}

/** Prose that was pasted, a letter or a list: what is asked is its first or last line, or one that empty lines set apart. */
function readLetter(lines: readonly string[]): Prompt | undefined {
  const written = lines.filter((line) => line.trim() !== "");
  const isQuestion = (line: string) => /[?？؟]/u.test(line) && line.length <= MAX_ASKING_CHARS;
  const edges = [written[0] ?? "", written.at(-1) ?? ""].filter(isQuestion);
  const apart = lines.filter(
    (line, i) =>
      isQuestion(line) &&
      /[?？؟]\s*$/u.test(line) &&
      !(lines[i - 1] ?? "").trim() &&
      !(lines[i + 1] ?? "").trim(),
  );
  const asking = edges.length > 0 ? edges : apart.length === 1 ? apart : [];
  const beside = written.reduce((sum, line) => sum + line.length, 0) - (asking[0]?.length ?? 0);
  const isLong = written.length > 1 && asking.length === 1 && beside >= LEAST_CHARS_OF_LETTER;
  if (written.length < LEAST_LINES_OF_LETTER && !isLong) return undefined;
  const [only = ""] =
    asking.length === 1 || longWords(asking[1] ?? "") < LEAST_WORDS - 1 ? asking : asking.slice(1);
  return promptOf(only.trim(), lines);
}

function promptOf(asking: string, lines: readonly string[]): Prompt | undefined {
  if (!/\p{L}{2}/u.test(asking)) return undefined;
  const pasted = lines.filter((line) => line.trim() !== "" && !asking.includes(line.trim()));
  const isPointing = longWords(asking) === 0 || pointsBeside(asking);
  return { asking, pasted: pasted.join("\n"), pointedAt: isPointing ? tellingLine(pasted) : "" };
}

/** Whether a word points to what stands beside the question, and not to a time: "this week". */
function pointsBeside(asking: string): boolean {
  const { points } = PROMPT();
  if (!points.test(fold(asking))) return false;
  const { start = 0, end = 0 } = timeOfQuestion(asking, 0) ?? {};
  // A single word may be no time: "hier" is German for here, too.
  const isTime = asking.slice(start, end).includes(" ");
  return !isTime || points.test(fold(asking.slice(0, start) + asking.slice(end)));
}

/** A word that is long enough to tell something, or as much of a script without spaces. */
const LONG_WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{3}|[\p{L}\p{N}\p{M}]{4,}/gu;

const longWords = (text: string): number => fold(text).match(LONG_WORD)?.length ?? 0;

type LineKind = "prose" | "pasted" | "empty";

function kindsOf(lines: readonly string[]): LineKind[] {
  const folded = lines.map((line) => fold(line));
  const isDiff = lines.some((line) => /^(?:diff --git |@@ )/.test(line));
  const mail = folded.findIndex((line) => PROMPT().subject.test(line));
  // Two lines of a head make one: "Date: …" alone may be a note's.
  const isHead = folded.filter((line) => PROMPT().header.test(line)).length >= 2;
  const hasMail = mail >= 0 && isHead;
  const labelAt = lines.map((line) => LABEL.exec(line)?.[1]);
  const labels = labelAt.filter((label) => label !== undefined);
  const seen = new Set<string>();
  const repeated = new Set(labels.filter((label) => seen.size === seen.add(label).size));
  // Among several labels a line of a chat is pasted where its speaker speaks more than once, a line of a form where it asks nothing.
  const isLabelled = (line: string, i: number) => {
    const label = seen.size < 2 ? undefined : labelAt[i];
    return label !== undefined && (repeated.has(label) || !/[?？؟]\s*$/u.test(line));
  };
  let isFenced = false;
  let isInMail = false;
  return lines.map((line, i): LineKind => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isFenced = !isFenced;
      return "pasted";
    }
    if (isFenced) return "pasted";
    if (line.trim() === "") return "empty";
    if (isHead && PROMPT().header.test(folded[i] ?? "")) {
      isInMail ||= hasMail;
      return "pasted";
    }
    if (/^(?:[-=_*~]{3,}|--.{0,200}--)$/.test(line.trim())) {
      isInMail = false;
      return "pasted";
    }
    if (isInMail) return "pasted";
    if (MACHINE.test(line) || (isDiff && /^[-+ ]/.test(line)) || isLabelled(line, i) || isCode(line))
      return "pasted";
    return "prose";
  });
}

/** Signs of code, in a line that is no sentence; and lines of numbers, names and paths. */
function isCode(line: string): boolean {
  const pieces = line.trim().split(/\s+/);
  const plain = pieces.filter((piece) => /^[("'«„“]?[\p{L}\p{M}'’-]+[)"'»”]?[.,:;!?…]*$/u.test(piece)).length;
  const signs = line.match(/[{}[\]<>=|\\/_#$^*;`~"]|::|->|\(\)/g)?.length ?? 0;
  if (plain / pieces.length <= 0.5) return !/[?？؟]\s*$/.test(line) && (pieces.length > 2 || signs > 1);
  return signs / line.length > 0.08 && !/[.?!]\s*$/.test(line);
}

function paragraphsOf(lines: readonly string[]): string[] {
  return lines
    .join("\n")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");
}

/** Of paragraphs, the one at the edge of the text first: the lines with a question, else all; of a long run those that ask. */
function shortRun(paragraphs: readonly string[]): string {
  const whole = paragraphs.join("\n");
  const lines = whole.split("\n");
  const questions = lines.filter((line) => /[?？؟]/u.test(line)).join("\n");
  const isEnough = longWords(questions) >= Math.max(1, LEAST_WORDS - lines.length);
  if (lines.length > 1 && isEnough && questions.length <= MAX_ASKING_CHARS) return questions;
  if (whole.length <= MAX_ASKING_CHARS) return whole;
  const asking = paragraphs.filter((paragraph) => PROMPT().asks.test(fold(paragraph)));
  return shortened((asking.length > 0 ? asking : paragraphs.slice(0, 1)).join("\n"), MAX_ASKING_CHARS);
}

/** The line of a paste that says what it is about: one with a fault, else the longest of words. */
function tellingLine(pasted: readonly string[]): string {
  const lines = pasted
    .filter((line) => !DIFF_HEADING.test(line))
    .filter((line) => !PROMPT().header.test(fold(line)) || PROMPT().subject.test(fold(line)))
    .map((line) =>
      line
        .replace(new RegExp(String.raw`^\s*[\[(<]?(?:${TIMESTAMP})\S*\s*`, "u"), "")
        .replace(/^(?:[A-Z]{4,8}\b[: ]*|[-+>|#*\s]+)/, "")
        .trim(),
    );
  const lettersOf = (line: string) => line.match(/\p{L}/gu)?.length ?? 0;
  const faults = lines.filter((line) => PROMPT().fault.test(fold(line)));
  const best = (faults.length > 0 ? faults : lines).reduce(
    (found, line) => (lettersOf(line) > lettersOf(found) ? line : found),
    "",
  );
  return shortened(best, TELLING_CHARS);
}
