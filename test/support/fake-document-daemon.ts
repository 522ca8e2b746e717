import { createHash } from "node:crypto";
import type { MemorydClient } from "../../src/client/client.ts";
import { MemorydError } from "../../src/client/transport.ts";
import type { Run } from "../../src/cli/ingest/sync-files.ts";

export interface FakeDocument {
  readonly id: string;
  readonly sha256: string;
  readonly created_at: string;
  readonly bytes: number;
  filename: string | null;
  readonly metadata: { path?: string | string[] };
}

export interface FakeDocumentDaemon {
  readonly api: Run["api"];
  /** By id. */
  readonly documents: Map<string, FakeDocument>;
  /** The hashes of those that went to the trash. */
  readonly trash: string[];
  /** What goes with the last file that was sent, but its name and bytes. */
  lastFields: unknown;
  /** How many files were sent. */
  sent: number;
  /** Answers the next upload with this status. */
  refuseNext(status: number): void;
  /** While it is false, uploads are not answered. */
  answers: boolean;
}

/** A daemon's client that keeps documents by their bytes, as the daemon does. */
export function createFakeDocumentDaemon(): FakeDocumentDaemon {
  const documents = new Map<string, FakeDocument>();
  let refusal: number | undefined;
  let made = 0;
  const find = (id: string) => {
    const document = documents.get(id);
    if (document === undefined) throw new MemorydError({ code: "NOT_FOUND", status: 404, detail: "None." });
    return document;
  };
  const fake: FakeDocumentDaemon = {
    documents,
    trash: [],
    lastFields: {},
    sent: 0,
    answers: true,
    refuseNext: (status) => void (refusal = status),
    api: {
      documents: {
        async *list() {
          for (const document of documents.values()) yield { ...document, user_id: null };
        },
        get: async (id: string) => find(id),
        delete: async (id: string, { trash = false } = {}) => {
          if (trash) fake.trash.push(find(id).sha256);
          return documents.delete(find(id).id);
        },
        submit: async (source: { file: Blob; filename: string }, fields: { metadata: { path: string } }) => {
          fake.sent += 1;
          fake.lastFields = fields;
          if (!fake.answers) throw new MemorydError({ code: "UNREACHABLE", detail: "No answer." });
          if (refusal !== undefined) {
            const status = refusal;
            refusal = undefined;
            throw new MemorydError({ code: "REFUSED", status, detail: `Refused with ${status}.` });
          }
          const sha256 = createHash("sha256")
            .update(Buffer.from(await source.file.arrayBuffer()))
            .digest("hex");
          const known = [...documents.values()].find((each) => each.sha256 === sha256);
          const { path } = fields.metadata;
          const document = known ?? {
            id: `document-${(made += 1)}`,
            sha256,
            created_at: new Date().toISOString(),
            bytes: source.file.size,
            filename: null,
            metadata: { path },
          };
          const paths = [document.metadata.path ?? []].flat();
          if (paths.length > 0 && !paths.includes(path)) document.metadata.path = [...paths, path];
          document.filename = source.filename;
          documents.set(document.id, document);
          return {
            deduplicated: known !== undefined,
            memory_ids: ["m"],
            document: { id: document.id, sha256 },
            extraction: source.filename.startsWith("guessed")
              ? { method: "plain-text, koi8-r", encoding: "koi8-r", confidence: 0.2 }
              : { method: "plain-text" },
          };
        },
      } as unknown as MemorydClient["documents"],
      jobs: {} as MemorydClient["jobs"],
    },
  };
  return fake;
}
