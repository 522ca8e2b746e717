export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of the platform's WebAssembly used here; neither the language's nor Node's types declare it. */
declare const WebAssembly: {
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => KernelMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: KernelMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export const PAGE_BYTES = 65_536;
/** WebAssembly's own limit for 32-bit memories: 4 GiB. */
const MAX_PAGES = 65_536;

const compiled = new Map<string, object>();

/** An instance of compiled code, in base64, over a memory of its own of at least so many bytes. */
export function openKernel(code: string, bytes: number) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES), maximum: MAX_PAGES });
  const module = compiled.get(code) ?? new WebAssembly.Module(kernelBytes(code));
  compiled.set(code, module);
  return { memory, exports: new WebAssembly.Instance(module, { env: { memory } }).exports };
}

/** Makes a memory at least so long, and an eighth longer, so that adding one by one makes it grow seldom. */
export function reserve(memory: KernelMemory, bytes: number): void {
  const { byteLength } = memory.buffer;
  if (bytes > byteLength) memory.grow(Math.ceil((bytes - byteLength + (byteLength >> 3)) / PAGE_BYTES));
}

/** The bytes of compiled code; tests compare them with the source. */
export function kernelBytes(code: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
}

/** The compiled `int8-kernel.wat` beside this file. */
export const INT8_KERNEL =
  "AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwUEAAAAAAcfBANkb3QAAARtYXg0AAEFc2lnbnMAAgZkaWZmZXIAAwr8BwS2AgIEfwJ7IAQgAkECdGohByADQWBxIQgCQANAIAQgB08NAf0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQogACEFIAEgCGohBgJAA0AgASAGTw0BIAkgAf0BAwAgBf0ABAD9ugH9rgEhCSAKIAH9AQMIIAX9AAQQ/boB/a4BIQogCSAB/QEDECAF/QAEIP26Af2uASEJIAogAf0BAxggBf0ABDD9ugH9rgEhCiABQSBqIQEgBUHAAGohBQwACwsgA0EQcQRAIAkgAf0BAwAgBf0ABAD9ugH9rgEhCSAKIAH9AQMIIAX9AAQQ/boB/a4BIQogAUEQaiEBCyAJIAr9rgEhCSAEIAn9GwAgCf0bAWogCf0bAiAJ/RsDamo2AgAgBEEEaiEEDAALCwvLAwIDfwd7IAT9AAQAIQogASACIANsaiEHAkADQCABIAdPDQH9DAAAAAAAAAAAAAAAAAAAAAAhC/0MAAAAAAAAAAAAAAAAAAAAACEM/QwAAAAAAAAAAAAAAAAAAAAAIQ39DAAAAAAAAAAAAAAAAAAAAAAhDiAAIQUgASADaiEGA0AgAf0BAwAhCCAB/QEDCCEJIAsgCCAF/QAEAP26ASAJIAX9AAQQ/boB/a4B/a4BIQsgDCAIIAX9AAQg/boBIAkgBf0ABDD9ugH9rgH9rgEhDCANIAggBf0ABED9ugEgCSAF/QAEUP26Af2uAf2uASENIA4gCCAF/QAEYP26ASAJIAX9AARw/boB/a4B/a4BIQ4gAUEQaiEBIAVBgAFqIQUgASAGSQ0ACyALIAz9DQABAgMQERITBAUGBxQVFhcgCyAM/Q0ICQoLGBkaGwwNDg8cHR4f/a4BIQggDSAO/Q0AAQIDEBESEwQFBgcUFRYXIA0gDv0NCAkKCxgZGhsMDQ4PHB0eH/2uASEJIAogCCAJ/Q0AAQIDBAUGBxAREhMUFRYXIAggCf0NCAkKCwwNDg8YGRobHB0eH/2uAf24ASEKDAALCyAEIAr9CwQAC1wBA38gASACIANsaiEHAkADQCABIAdPDQEgACEFIAEgA2ohBgNAIAQgAf0ABAAgBf0ABAD9J/1kOwEAIAFBEGohASAFQRBqIQUgBEECaiEEIAEgBkkNAAsMAAsLC5cBAgN/AXsgASACIANsaiEHAkADQCABIAdPDQH9DAAAAAAAAAAAAAAAAAAAAAAhCCAAIQUgASADaiEGA0AgCCAB/QAEACAF/QAEAP1R/WL9biEIIAFBEGohASAFQRBqIQUgASAGSQ0ACyAI/X39fyEIIAQgCP0bACAI/RsBaiAI/RsCIAj9GwNqajsBACAEQQJqIQQMAAsLCw==";

/** Rows scanned in one call: keeps the kernel's output at 64 KiB. */
export const ROWS_A_CALL = 16_384;
/** The kernel reads 16 bytes at a time. */
const LANES = 16;

/** Addresses are byte offsets in the kernel's memory. */
type DotProducts = (query: number, rows: number, count: number, dimensions: number, out: number) => void;

/** Raises the four numbers at `out` to the largest products; all addresses as those of `dot`. */
type MaxOfFour = (queries: number, rows: number, count: number, dimensions: number, out: number) => void;
interface Kernel {
  readonly memory: KernelMemory;
  readonly dot: DotProducts;
  readonly maxOfFour: MaxOfFour;
}
/** Queries that the kernel compares at once. */
const FOUR = 4;
const LEAST = -(2 ** 31);

/**
 * A growing list of int8 vectors of one length that answers the dot products of a query with all of them, by SIMD:
 * 100 000 rows of 384 take 2 ms. It lives outside the JavaScript heap and only grows; rows are overwritten, not removed.
 */
export class Int8Rows {
  readonly dimensions: number;
  #count = 0;
  /** Opened for the first row: a kernel takes 10 GB of addresses, and a process may have thousands of empty lists. */
  #opened: Kernel | undefined;
  readonly #rowsAt: number;

  /** @throws {RangeError} if `dimensions` is not a positive multiple of 16. */
  constructor(dimensions: number) {
    if (dimensions <= 0 || dimensions % LANES !== 0)
      throw new RangeError(`dimensions must be a positive multiple of ${LANES}, got ${dimensions}`);
    this.dimensions = dimensions;
    // Output first, then the query, then the rows, which alone grow.
    this.#rowsAt = ROWS_A_CALL * 4 + dimensions * Int16Array.BYTES_PER_ELEMENT;
  }

  get count(): number {
    return this.#count;
  }

  get #kernel(): Kernel {
    if (this.#opened !== undefined) return this.#opened;
    const { memory, exports } = openKernel(INT8_KERNEL, 2 * PAGE_BYTES);
    const [dot, maxOfFour] = [exports["dot"] as DotProducts, exports["max4"] as MaxOfFour];
    return (this.#opened = { memory, dot, maxOfFour });
  }

  /** Replaces all rows by those of some lists, laid end to end. @throws {RangeError} as `makeRoom`. */
  load(lists: readonly (Int8Array | undefined)[]): void {
    let bytes = 0;
    for (const list of lists) bytes += list?.length ?? 0;
    this.#count = 0;
    const room = this.makeRoom(bytes);
    let at = 0;
    for (const list of lists) {
      if (list === undefined) continue;
      room.set(list, at);
      at += list.length;
    }
  }

  /** The rows end to end, until the next is added. */
  get values(): Int8Array {
    return new Int8Array(this.#kernel.memory.buffer, this.#rowsAt, this.#count * this.dimensions);
  }

  /**
   * Adds rows of so many bytes in all, to be filled before the next is added.
   *
   * @throws {RangeError} on a length that is no multiple of the dimensions, or past 4 GiB.
   */
  makeRoom(bytes: number): Uint8Array {
    const first = this.#count;
    const count = bytes / this.dimensions;
    if (!Number.isInteger(count)) throw new RangeError(`${bytes} is no multiple of ${this.dimensions}`);
    reserve(this.#kernel.memory, this.#rowsAt + (first + count) * this.dimensions);
    this.#count += count;
    return new Uint8Array(this.#kernel.memory.buffer, this.#rowsAt + first * this.dimensions, bytes);
  }

  /** Writes a row: one that is there, or the next. @throws {RangeError} on another length or place, or past 4 GiB. */
  set(index: number, row: Int8Array): void {
    this.#assertLength(row);
    if (!(index >= 0 && index <= this.#count))
      throw new RangeError(`there is no row ${index} of ${this.#count}`);
    if (index === this.#count) this.makeRoom(row.length);
    new Int8Array(this.#kernel.memory.buffer).set(row, this.#rowsAt + index * this.dimensions);
  }

  /** A copy of a row. @throws {RangeError} where no row is. */
  row(index: number): Int8Array {
    if (!(index >= 0 && index < this.#count))
      throw new RangeError(`there is no row ${index} of ${this.#count}`);
    return new Int8Array(this.#kernel.memory.buffer).slice(
      this.#rowsAt + index * this.dimensions,
      this.#rowsAt + (index + 1) * this.dimensions,
    );
  }

  /** The dot product of the query with every row, by index. @param products as many numbers as there are rows, overwritten */
  dot(query: Int8Array, products = new Int32Array(this.#count)): Int32Array {
    this.#assertLength(query);
    if (this.#count === 0) return products;
    const { memory, dot } = this.#kernel;
    const queryAt = ROWS_A_CALL * 4;
    new Int16Array(memory.buffer, queryAt, query.length).set(query);
    for (let first = 0; first < this.#count; first += ROWS_A_CALL) {
      const count = Math.min(ROWS_A_CALL, this.#count - first);
      dot(queryAt, this.#rowsAt + first * this.dimensions, count, this.dimensions, 0);
      products.set(new Int32Array(memory.buffer, 0, count), first);
    }
    return products;
  }

  /** The same of some rows, in their order. */
  dotOf(query: Int8Array, rows: readonly number[]): Int32Array {
    this.#assertLength(query);
    const { memory, dot } = this.#kernel;
    const queryAt = ROWS_A_CALL * 4;
    new Int16Array(memory.buffer, queryAt, query.length).set(query);
    const out = new Int32Array(memory.buffer, 0, 1);
    return Int32Array.from(rows, (row) => {
      dot(queryAt, this.#rowsAt + row * this.dimensions, 1, this.dimensions, 0);
      return out[0] ?? 0;
    });
  }

  /**
   * The largest dot product of each query with the rows of each list, by list and then by query. Queries lie end to end, and so do
   * lists, from the first row on; `ends` has the row after the last of each. Of an empty list it is the least number of 32 bits.
   */
  maxima(queries: Int8Array, ends: readonly number[]): Int32Array {
    const { dimensions } = this;
    const { memory, maxOfFour } = this.#kernel;
    const count = queries.length / dimensions;
    const found = new Int32Array(count * ends.length);
    // Where `dot` puts its products there is room for both.
    const best = new Int32Array(memory.buffer, 0, FOUR);
    const laidOut = new Int16Array(memory.buffer, best.byteLength, FOUR * dimensions);
    for (let query = 0; query < count; query += FOUR) {
      for (let i = 0; i < laidOut.length; i += 1) {
        const lane = Math.floor(i / (FOUR * LANES)) * LANES + (i % LANES);
        laidOut[i] = queries[(query + (Math.floor(i / LANES) % FOUR)) * dimensions + lane] ?? 0;
      }
      const here = Math.min(FOUR, count - query);
      for (let list = 0, first = 0; list < ends.length; list += 1) {
        const end = ends[list] ?? first;
        best.fill(LEAST);
        if (end > first)
          maxOfFour(
            best.byteLength,
            this.#rowsAt + first * dimensions,
            end - first,
            dimensions,
            best.byteOffset,
          );
        for (let i = 0; i < here; i += 1) found[list * count + query + i] = best[i] ?? 0;
        first = end;
      }
    }
    return found;
  }

  #assertLength(vector: Int8Array): void {
    if (vector.length === this.dimensions) return;
    throw new RangeError(`a vector here has ${this.dimensions} dimensions, got ${vector.length}`);
  }
}

/** An int8 vector and the factor that turns it back: `vector[i] ≈ values[i] · scale`. */
export interface QuantisedVector {
  readonly values: Int8Array;
  readonly scale: number;
}

/**
 * The nearest int8 vector, scaled so that the largest component becomes ± 127. The cosine of two vectors of 384
 * quantised so is off by .0006 (root mean square, measured on sentence embeddings).
 */
export function quantise(vector: Float32Array): QuantisedVector {
  let largest = 0;
  for (const component of vector) largest = Math.max(largest, Math.abs(component));
  const scale = largest === 0 ? 1 : largest / 127;
  const values = new Int8Array(vector.length);
  for (let i = 0; i < vector.length; i += 1) values[i] = Math.round((vector[i] ?? 0) / scale);
  return { values, scale };
}
