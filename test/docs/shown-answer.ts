/**
 * Answers as a page shows them: real ones, with what differs from run to run shortened and what is beside the point left
 * out as "…". Updating a shown answer with one that was just given changes nothing exactly when it still holds.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const GAP = "…";
/** What the CPU and the second thoughts of a ranking may move a score by. */
const TOLERANCE = 0.05;
const LINE_WIDTH = 110;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** Of JSON, and as the command line prints ids. */
const SHORT_ID = "(?:[0-9a-f]{6}…[0-9a-f]{4}|\\b[0-9a-f]{8}\\b)";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Never the same twice. */
const MEASURED_KEYS = new Set(["took_ms"]);

/** The shown text with everything that is not so any more replaced by what is. */
export function updateText(shown: string, actual: string): string {
  const lines = shown.trimEnd().split("\n");
  const actualLines = actual.trimEnd().split("\n");
  const updated: string[] = [];
  for (const [i, line] of actualLines.entries()) {
    const known = lines[i];
    if (known === GAP && i === lines.length - 1) {
      updated.push(GAP);
      break;
    }
    updated.push(known !== undefined && holds(known, line) ? known : shorten(line));
  }
  return `${updated.join("\n")}\n`;
}

/** The shown JSON, likewise; @throws {SyntaxError} where it, or the answer, is none. */
export function updateJson(shown: string, actual: string): string {
  return `${print(update(parseShown(shown), JSON.parse(actual) as Json))}\n`;
}

function update(shown: Json | undefined, actual: Json, key = ""): Json {
  if (Array.isArray(actual))
    return updateList(Array.isArray(shown) ? (shown as Json[]) : [], actual as Json[]);
  if (isObject(actual)) return updateObject(isObject(shown) ? shown : {}, actual);
  if (shown === GAP) return shown;
  if (typeof actual === "number") {
    const isClose =
      typeof shown === "number" && Math.abs(actual - shown) <= TOLERANCE && !Number.isInteger(actual);
    return shown === actual || isClose || (typeof shown === "number" && MEASURED_KEYS.has(key))
      ? shown
      : round(actual);
  }
  if (typeof actual === "string")
    return typeof shown === "string" && holds(shown, actual) ? shown : shorten(actual);
  return actual;
}

function updateList(shown: readonly Json[], actual: readonly Json[]): Json[] {
  const isCut = shown.at(-1) === GAP;
  const known = isCut ? shown.slice(0, -1) : shown;
  const wanted = isCut ? actual.slice(0, known.length) : actual;
  // Further elements are shown like the last one that is.
  const updated = wanted.map((element, i) => update(known[i] ?? known.at(-1), element));
  return isCut && actual.length > known.length ? [...updated, GAP] : updated;
}

function updateObject(shown: { readonly [key: string]: Json }, actual: { readonly [key: string]: Json }) {
  const wanted = Object.keys(shown).filter((name) => name !== GAP);
  // Another kind of answer, a refusal perhaps: nothing of it is beside the point.
  const isCut = GAP in shown && wanted.every((name) => name in actual);
  const names = isCut ? wanted : Object.keys(actual);
  const entries = names.map((name): [string, Json] => [
    name,
    update(shown[name], actual[name] ?? null, name),
  ]);
  return Object.fromEntries(isCut ? [...entries, [GAP, GAP]] : entries);
}

const SCORE = /\b\d\.\d+\b/g;

/** Whether a text is as shown: the same but for gaps, ids and times of the clock, and scores near to those shown. */
function holds(shown: string, actual: string): boolean {
  // A time that a person wrote has no milliseconds: this one a clock gave.
  if (TIME.test(shown) && !shown.endsWith(".000Z")) return TIME.test(actual);
  const scores = actual.match(SCORE) ?? [];
  const hasMoved = (score: string, i: number) => Math.abs(Number(score) - Number(scores[i])) > TOLERANCE;
  if ((shown.match(SCORE) ?? []).some(hasMoved)) return false;
  const pattern = withoutMeasures(shown)
    .split(new RegExp(`(${SHORT_ID}|${GAP})`))
    .map((part) => (part === GAP ? ".*" : new RegExp(`^${SHORT_ID}$`).test(part) ? SHORT_ID : escaped(part)))
    .join("");
  return new RegExp(`^${pattern}$`, "s").test(withoutMeasures(shorten(actual)));
}

/** Bars are drawn to the present day, so their lengths change with it. */
function withoutMeasures(text: string): string {
  const plain = text.replace(SCORE, "#");
  return /[├│]/.test(plain) ? plain.replace(/─+/g, "─").replace(/ +/g, " ") : plain;
}

function shorten(text: string): string {
  return text.replace(UUID, (id) => `${id.slice(0, 6)}${GAP}${id.slice(-4)}`);
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON in which a bare … ends an object or a list that goes on. */
function parseShown(text: string): Json {
  const open: string[] = [];
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|…|[{}[\]]|[^"…{}[\]]+/gu) ?? [];
  const json = tokens.map((token) => {
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    if (token !== GAP) return token;
    return open.at(-1) === "{" ? `"${GAP}":"${GAP}"` : `"${GAP}"`;
  });
  return JSON.parse(json.join("")) as Json;
}

/** On one line where it fits, else a line for each part. */
function print(value: Json, indent = ""): string {
  const flat = printFlat(value);
  const isScalar = typeof value !== "object" || value === null;
  if (isScalar || indent.length + flat.length <= LINE_WIDTH) return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const elements = (value as Json[]).map(
      (element) => inner + (element === GAP ? GAP : print(element, inner)),
    );
    return `[\n${elements.join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value).map(([name, field]) =>
    name === GAP ? inner + GAP : `${inner}${JSON.stringify(name)}: ${print(field, inner)}`,
  );
  return `{\n${fields.join(",\n")}\n${indent}}`;
}

function printFlat(value: Json): string {
  if (Array.isArray(value)) {
    return `[${(value as Json[]).map((element) => (element === GAP ? GAP : printFlat(element))).join(", ")}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) =>
    name === GAP ? GAP : `${JSON.stringify(name)}: ${printFlat(field)}`,
  );
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
