/** Limits of a JSON text, counted on its bytes in one pass. */

export interface JsonLimits {
  /** Values, keys not counted. */
  readonly elements: number;
  /** The same for each item of a list like that of `{"memories":[…]}`, and for all that is in no such list. */
  readonly elementsPerItem?: number;
  /** It is many texts, one per line: none can hide what the next ones hold. */
  readonly isLines?: boolean;
}

const [KIB, MIB] = [1024, 1024 ** 2];
/** Checking one item takes 40 ms at most: others wait for it. Metadata of 64 KiB rarely holds a tenth. */
const ELEMENTS_PER_ITEM = 10_000;
/** 200 000 characters, each escaped twice, are 2.4 MB. */
const MAX_ITEM_BYTES = 4 * MIB;
/** As much of a text is scanned before others may get their turn. */
const PIECE_BYTES = 256 * KIB;

/** Limits of a body, by its kind. */
export const BODY_LIMITS = {
  question: { bytes: 128 * KIB, elements: 2_000 },
  item: { bytes: MAX_ITEM_BYTES, elements: ELEMENTS_PER_ITEM },
  batch: { bytes: 32 * MIB, elements: 200_000, elementsPerItem: ELEMENTS_PER_ITEM },
  document: { bytes: 32 * MIB, elements: ELEMENTS_PER_ITEM },
  /** A line of an export: that of a document names its memories. */
  lines: { bytes: 32 * MIB, elements: 600_000, isLines: true },
} as const satisfies Readonly<Record<string, JsonLimits & { readonly bytes: number }>>;

/** Deeper than any field of ours: metadata of 64 levels, in an item of a batch, in a message. */
export const MAX_JSON_DEPTH = 80;
const ITEM_DEPTH = 2;
const LARGE_ITEM = `must not have an item larger than ${MAX_ITEM_BYTES} bytes`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const NEWLINE = 0x0a;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts what a text in UTF-8 holds, in steps of `PIECE_BYTES`. Whether it is JSON is not looked at. Some 2 ns per byte, 4 in long strings.
 * @returns which limit it breaks, in words that follow "The body"; undefined where it breaks none.
 */
export function* scanJson(
  bytes: Uint8Array,
  { elements: maxElements, elementsPerItem = maxElements, isLines = false }: JsonLimits,
): Generator<void, string | undefined> {
  /** Within a list right in the object that the text is. */
  let isInList = false;
  let root: number | undefined;
  let [depth, elements, inItem, outside, keysOfLine] = [0, 1, 0, 0, 0];
  let [itemStart, stepEnds] = [0, PIECE_BYTES];
  for (let i = 0; i < bytes.length; i += 1) {
    if (i >= stepEnds) {
      stepEnds = i + PIECE_BYTES;
      yield;
    }
    const byte = bytes[i];
    switch (byte) {
      case QUOTE:
        // No string goes over the end of a line.
        for (i += 1; i < bytes.length && bytes[i] !== QUOTE && bytes[i] !== NEWLINE; i += 1) {
          if (bytes[i] === BACKSLASH && bytes[i + 1] !== NEWLINE) i += 1;
          if (i < stepEnds) continue;
          stepEnds = i + PIECE_BYTES;
          yield;
        }
        if (isLines && bytes[i] === NEWLINE) depth = keysOfLine = 0;
        continue;
      case NEWLINE:
        if (isLines) depth = keysOfLine = 0;
        continue;
      case COLON:
        keysOfLine += 1;
        if (isLines && keysOfLine > ELEMENTS_PER_ITEM)
          return `must not have a line with more than ${ELEMENTS_PER_ITEM} keys`;
        continue;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (!isInList || depth >= ITEM_DEPTH) continue;
        isInList = false;
        if (i - itemStart > MAX_ITEM_BYTES) return LARGE_ITEM;
        continue;
      case OPEN_LIST:
      case OPEN_OBJECT:
        root ??= byte;
        depth += 1;
        if (depth > MAX_JSON_DEPTH) return `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;
        if (isInList) inItem += 1;
        else if (byte === OPEN_LIST && depth === ITEM_DEPTH && root === OPEN_OBJECT && !isLines) {
          isInList = true;
          inItem = 0;
          itemStart = i;
        }
        break;
      case COMMA:
        inItem += 1;
        if (!isInList || depth > ITEM_DEPTH) break;
        if (i - itemStart > MAX_ITEM_BYTES) return LARGE_ITEM;
        inItem = 0;
        itemStart = i;
        break;
      default:
        continue;
    }
    elements += 1;
    if (!isInList) outside += 1;
    if (elements > maxElements) return `must not have more than ${maxElements} elements`;
    if (inItem > elementsPerItem || outside > elementsPerItem)
      return `must not have an item with more than ${elementsPerItem} elements`;
  }
  return undefined;
}

/** Signs that begin or end a string, those that do not, and whole numbers of at least 16 digits. */
const MARKS = /\\.|"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

/** The JSON text with another text in place of each whole number that would be written as another one after it was read, being beyond 2⁵³. */
function replaceRounded(json: string, by: (number: string) => string): string {
  if (!/\d{16}/.test(json)) return json;
  let isString = false;
  return json.replace(MARKS, (found) => {
    if (found === '"') isString = !isString;
    const isExact = isString || found.length < 16 || String(Number(found)) === found;
    return isExact ? found : by(found);
  });
}

/** The first whole number of a JSON text that would be rounded; undefined where there is none. */
export function roundedInteger(json: string): string | undefined {
  let first: string | undefined;
  replaceRounded(json, (number) => (first ??= number));
  return first;
}

/** The value of a JSON text; undefined for any other text. Whole numbers that would be rounded, being beyond 2⁵³, become texts. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(replaceRounded(text, (number) => `"${number}"`));
  } catch {
    return undefined;
  }
}
