/** What a JSON text may hold, counted on its bytes: a text that breaks a limit costs one pass and builds nothing. */

export interface JsonLimits {
  /** Values, keys not counted. */
  readonly elements: number;
  /** The same for each value two levels down, such as an item of `{"memories":[…]}`. */
  readonly elementsPerItem?: number;
  /** It is many texts, one per line: none can hide what the next ones hold. */
  readonly isLines?: boolean;
}

const [KIB, MIB] = [1024, 1024 ** 2];
/** Checking one item takes 40 ms at most: others wait for it. Metadata of 64 KiB rarely holds a tenth. */
const ELEMENTS_PER_ITEM = 10_000;

/** What a body may hold, by its kind. */
export const BODY_LIMITS = {
  question: { bytes: 128 * KIB, elements: 2_000 },
  /** 200 000 characters, each escaped twice, are 2.4 MB. */
  item: { bytes: 4 * MIB, elements: ELEMENTS_PER_ITEM },
  batch: { bytes: 32 * MIB, elements: 200_000, elementsPerItem: ELEMENTS_PER_ITEM },
  document: { bytes: 32 * MIB, elements: ELEMENTS_PER_ITEM },
  /** Of an export: the line of a document names its memories. */
  lines: { bytes: 32 * MIB, elements: 600_000, isLines: true },
} as const satisfies Readonly<Record<string, JsonLimits & { readonly bytes: number }>>;

/** Deeper than any field of ours: metadata of 64 levels, in an item of a batch, in a message. */
export const MAX_JSON_DEPTH = 80;
const ITEM_DEPTH = 2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Which limit a text in UTF-8 breaks, in words that follow "The body"; undefined where it breaks none. Whether it is JSON
 * at all is not looked at. Some 2 ns per byte.
 */
export function jsonExcess(
  bytes: Uint8Array,
  { elements: maxElements, elementsPerItem = maxElements, isLines = false }: JsonLimits,
): string | undefined {
  let depth = 0;
  let elements = 1;
  let inItem = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    switch (bytes[i]) {
      case QUOTE:
        // No string goes over the end of a line.
        for (i += 1; i < bytes.length && bytes[i] !== QUOTE && bytes[i] !== NEWLINE; i += 1)
          if (bytes[i] === BACKSLASH && bytes[i + 1] !== NEWLINE) i += 1;
        if (bytes[i] !== NEWLINE) continue;
        if (isLines) depth = 0;
        continue;
      case NEWLINE:
        if (isLines) depth = 0;
        continue;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        continue;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        if (depth > MAX_JSON_DEPTH) return `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;
        break;
      case COMMA:
        if (depth <= ITEM_DEPTH) inItem = 0;
        break;
      default:
        continue;
    }
    elements += 1;
    inItem += 1;
    if (elements > maxElements) return `must not have more than ${maxElements} elements`;
    if (inItem > elementsPerItem) return `must not have an item with more than ${elementsPerItem} elements`;
  }
  return undefined;
}
