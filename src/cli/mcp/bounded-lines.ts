import { Transform, type TransformCallback } from "node:stream";
import { BODY_LIMITS, jsonExcess } from "../../schemas/json-limits.ts";

const NEWLINE = 0x0a;

/** Passes on lines within the limits of one message; any other is dropped before it is parsed or kept whole. */
export class BoundedLines extends Transform {
  readonly #refuse: (why: string) => void;
  #line: Buffer[] = [];
  #bytes = 0;

  /** @param refuse gets the limit that a dropped line breaks, in words that follow "The message". */
  constructor(refuse: (why: string) => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let from = 0; from < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, from);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.#bytes += end - from;
      if (this.#bytes <= BODY_LIMITS.item.bytes) this.#line.push(chunk.subarray(from, end));
      if (newline >= 0) this.#endLine();
      from = end;
    }
    done();
  }

  #endLine(): void {
    const line = Buffer.concat(this.#line);
    const why =
      this.#bytes > BODY_LIMITS.item.bytes
        ? `must not be larger than ${BODY_LIMITS.item.bytes} bytes`
        : jsonExcess(line, BODY_LIMITS.item);
    this.#line = [];
    this.#bytes = 0;
    if (why === undefined) this.push(line);
    else this.#refuse(why);
  }
}
