/** Bits of a node of the trie, as darts-clone lays them out. */
const HAS_LEAF = 1 << 8;
const LABEL = 0x800000ff | 0;
const VALUE = 0x7fffffff;
const WIDE_OFFSET = 1 << 9;

/**
 * The map by which a SentencePiece model unifies characters before it looks for pieces (`precompiled_charsmap`): a trie over UTF-8
 * bytes, whose longest match is replaced by a text. Without a map, texts stay as they are.
 *
 * @see https://github.com/google/sentencepiece/blob/master/doc/normalization.md
 */
export function readCharacterMap(map: Uint8Array): (text: string) => string {
  if (map.length < 4) return (text) => text;
  const view = new DataView(map.buffer, map.byteOffset, map.byteLength);
  const trieBytes = view.getUint32(0, true);
  const trie = Int32Array.from({ length: trieBytes / 4 }, (_, i) => view.getInt32(4 + 4 * i, true));
  const replacements = map.subarray(4 + trieBytes);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const replacementAt = (start: number) =>
    // A copy: a decoder takes no shared memory.
    decoder.decode(replacements.slice(start, replacements.indexOf(0, start)));

  return (text) => {
    // Nothing of printable ASCII is replaced.
    if (/^[ -~]*$/.test(text)) return text;
    const bytes = encoder.encode(text);
    let normalised = "";
    let done = 0;
    for (let at = 0; at < bytes.length;) {
      const { length, value } = longestMatch(trie, bytes, at);
      const end = at + (length || bytesOfCharacter(bytes[at] ?? 0));
      if (length > 0) {
        normalised += decoder.decode(bytes.subarray(done, at)) + replacementAt(value);
        done = end;
      }
      at = end;
    }
    return normalised + decoder.decode(bytes.subarray(done));
  };
}

/** The longest key at that place, and where its replacement starts; length 0 without one. */
function longestMatch(trie: Int32Array, bytes: Uint8Array, at: number): { length: number; value: number } {
  const match = { length: 0, value: 0 };
  let node = offsetOf(trie[0] ?? 0);
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    node ^= byte;
    const unit = trie[node] ?? 0;
    if ((unit & LABEL) !== byte) break;
    node ^= offsetOf(unit);
    if ((unit & HAS_LEAF) === 0) continue;
    match.length = i + 1 - at;
    match.value = (trie[node] ?? 0) & VALUE;
  }
  return match;
}

function offsetOf(unit: number): number {
  return (unit >>> 10) << ((unit & WIDE_OFFSET) >>> 6);
}

function bytesOfCharacter(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
