import { openOriginal } from "../open-original.ts";

const PAGE_HEAD_BYTES = 27;
/** Where a page says of how many segments it is, whose lengths follow its head. */
const SEGMENT_COUNT_AT = 26;
const MAX_SEGMENTS = 255;
const MAX_PAGE_BYTES = PAGE_HEAD_BYTES + MAX_SEGMENTS + MAX_SEGMENTS * 255;

/** True for an Ogg file that ends within a page. @see RFC 3533, 6. */
export async function endsWithinPage(path: string): Promise<boolean> {
  await using file = await openOriginal(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(MAX_PAGE_BYTES),
    0,
    MAX_PAGE_BYTES,
    Math.max(0, size - MAX_PAGE_BYTES),
  );
  return isPagePartial(buffer.subarray(0, bytesRead));
}

/** Whether the last page that begins in the end of a file goes beyond it; no page at all is for the decoder to judge. */
export function isPagePartial(end: Buffer): boolean {
  const page = end.lastIndexOf("OggS\0");
  if (page < 0) return false;
  const segmentsAt = page + PAGE_HEAD_BYTES;
  const segments = end.subarray(segmentsAt, segmentsAt + (end[page + SEGMENT_COUNT_AT] ?? MAX_SEGMENTS));
  const isHeadWhole = end.length >= segmentsAt && segments.length === end[page + SEGMENT_COUNT_AT];
  return (
    !isHeadWhole || segmentsAt + segments.reduce((sum, length) => sum + length, segments.length) > end.length
  );
}
