import type { DocumentIndex } from "./document-index.ts";
import type { DocumentRow } from "./document.ts";
import type { Memory } from "../memory.ts";
import type { Change } from "../rows.ts";

/**
 * A memory as it is read: its source names the document as that is called now, so that a name changes in one row and not
 * in thousands. Where the document's row is missing, as it may be during an import, the memory's own word stands.
 */
export function citedAsNow(memory: Memory, documents: Pick<DocumentIndex, "findDocument">): Memory {
  const { source } = memory;
  const document = source === null ? undefined : documents.findDocument(source.documentId);
  if (source === null || document === undefined || document.filename === source.filename) return memory;
  return { ...memory, source: { ...source, filename: document.filename } };
}

/** What a document is called once its bytes were sent again: as they are called now, where that is said. */
export function nameAfter(document: Pick<DocumentRow, "filename">, sent: string | null): string | null {
  return sent ?? document.filename;
}

/** The change that gives a document the name under which its bytes were sent again; none where that is its name. */
export function renaming(id: string, document: DocumentRow, sent: string | null): Change[] {
  const filename = nameAfter(document, sent);
  return filename === document.filename ? [] : [{ table: "documents", id, row: { ...document, filename } }];
}
