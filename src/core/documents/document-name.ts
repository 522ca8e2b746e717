import type { DocumentReads } from "./document-index.ts";
import type { DocumentRow } from "./document.ts";
import type { Memory, Metadata } from "../memory.ts";
import type { Change } from "../rows.ts";

/**
 * A memory as it is read: its source names the document as that is called now, so that a name changes in one row and not
 * in thousands. Where the document's row is missing, as it may be during an import, the memory's own word stands.
 */
export function citedAsNow(memory: Memory, documents: Pick<DocumentReads, "findDocument">): Memory {
  const { source } = memory;
  const document = source === null ? undefined : documents.findDocument(source.documentId);
  if (source === null || document === undefined || document.filename === source.filename) return memory;
  return { ...memory, source: { ...source, filename: document.filename } };
}

/** Of one document; the oldest are dropped first. */
const MAX_PATHS = 100;

/** What a document becomes when its bytes are sent again: it takes the new name, and remembers the new path. */
export function asSentAgain<Sent extends Pick<DocumentRow, "filename" | "metadata">>(
  document: Sent,
  { filename, metadata }: Pick<DocumentRow, "filename" | "metadata">,
): Sent {
  const [known, path] = [pathsIn(document.metadata), metadata["path"]];
  // A document without a path belongs to no file, and stays so.
  const isNew = known.length > 0 && typeof path === "string" && !known.includes(path);
  return {
    ...document,
    filename: filename ?? document.filename,
    ...(isNew && { metadata: { ...document.metadata, path: [...known, path].slice(-MAX_PATHS) } }),
  };
}

/** The files that a document was ingested from: one path, or a list where several hold the same bytes. */
function pathsIn({ path }: Metadata): string[] {
  return [path].flat().filter((each) => typeof each === "string");
}

/** The change that `asSentAgain` makes to a stored document; none where nothing changes. */
export function sentAgain(
  id: string,
  document: DocumentRow,
  sent: Pick<DocumentRow, "filename" | "metadata">,
): Change[] {
  const row = asSentAgain(document, sent);
  const isSame = row.filename === document.filename && row.metadata === document.metadata;
  return isSame ? [] : [{ table: "documents", id, row }];
}
