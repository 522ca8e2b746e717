/** Of one track as WebVTT: what is said in days takes a tenth of it. */
export const MAX_SUBTITLE_BYTES = 64 * 1_024 * 1_024;

/** Gathers a track while it is written; of one that is larger than the bound enough to see that. */
export class SubtitleText {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  add(piece: Uint8Array): void {
    if (this.#bytes <= MAX_SUBTITLE_BYTES) this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
