import { createHash } from "node:crypto";
import {
  bindDocumentOperations,
  type DocumentOperations,
} from "../../src/core/documents/document-operations.ts";
import type { DocumentPorts, FileStore } from "../../src/core/documents/document-ports.ts";
import { ServiceError } from "../../src/core/errors.ts";
import { IngestJobs } from "../../src/core/documents/ingest-jobs.ts";
import { createFakeDecoder } from "./fake-decoder.ts";
import { createFakeExtractor } from "./fake-extractor.ts";
import { createFakeFetcher } from "./fake-fetcher.ts";
import type { IngestInput } from "../../src/core/documents/submit-document.ts";
import { createFakeTranscriber, type FakeTranscriber } from "./fake-transcriber.ts";
import { createMemoryWorld, type MemoryWorld } from "./memory-world.ts";

export interface DocumentWorld extends MemoryWorld {
  readonly documentPorts: DocumentPorts;
  readonly operations: DocumentOperations;
  readonly jobs: IngestJobs;
  readonly files: FakeFileStore;
  /** Bugs that jobs ran into. */
  readonly reported: unknown[];
  /** Hears what `recording` is sent. */
  readonly transcriber: FakeTranscriber;
  /** What addresses answer. */
  readonly pages: Map<string, string>;
  /** Extractions wait for `release` while this is on. */
  holdExtractions(): () => void;
  /** The same for what fetches bring. */
  holdFetches(): () => void;
  /** How many documents were read. */
  extractions: number;
  send(text: string, more?: Partial<IngestInput>): Promise<string>;
  /** Ingests and waits for the end. */
  ingest(text: string, more?: Partial<IngestInput>): ReturnType<DocumentOperations["awaitJob"]>;
}

export interface FakeFileStore extends FileStore {
  readonly contents: Map<string, Uint8Array>;
  readonly held: Map<string, number>;
  /** Files that were let go of. */
  readonly letGoOf: string[];
}

export function createFakeFileStore(): FakeFileStore {
  const contents = new Map<string, Uint8Array>();
  const held = new Map<string, number>();
  const letGoOf: string[] = [];
  return {
    contents,
    held,
    letGoOf,
    async create() {
      const chunks: Uint8Array[] = [];
      return {
        write: async (chunk) => void chunks.push(chunk.slice()),
        async keep() {
          const bytes = Buffer.concat(chunks);
          const sha256 = createHash("sha256").update(bytes).digest("hex");
          contents.set(sha256, bytes);
          held.set(sha256, (held.get(sha256) ?? 0) + 1);
          return {
            sha256,
            bytes: bytes.length,
            release: () => void held.set(sha256, (held.get(sha256) ?? 0) - 1),
          };
        },
        discard: async () => {},
      };
    },
    letGo: (sha256) => void letGoOf.push(sha256),
    pathOf: (sha256) => sha256,
    sizeOf: async (sha256) => contents.get(sha256)?.length,
    async read(sha256) {
      const bytes = contents.get(sha256);
      if (bytes === undefined) throw new ServiceError("NOT_FOUND", "gone");
      return (async function* () {
        yield bytes;
      })();
    },
  };
}

/** A memory world with documents and, see `recordingText`, recordings: text is "# heading" lines and paragraphs; "[page n]" lines begin a page. */
export function createDocumentWorld(): DocumentWorld {
  const world = createMemoryWorld();
  const files = createFakeFileStore();
  const pages = new Map<string, string>();
  const reported: unknown[] = [];
  const transcriber = createFakeTranscriber();
  let held: Promise<void> | undefined;
  let heldFetches: Promise<void> | undefined;
  const documentPorts: DocumentPorts = {
    ...world.ports,
    files,
    pause: async () => {},
    decoder: createFakeDecoder(files),
    transcriber,
    extractor: createFakeExtractor(files, {
      begun: () => (made.extractions += 1),
      held: () => held,
    }),
    fetcher: createFakeFetcher(pages, { now: () => world.now, held: () => heldFetches }),
  };
  const jobs = new IngestJobs(documentPorts, { concurrency: 2, report: (error) => reported.push(error) });
  const operations = bindDocumentOperations(documentPorts, jobs);
  const made: DocumentWorld = Object.assign(world, {
    documentPorts,
    operations,
    jobs,
    files,
    reported,
    transcriber,
    pages,
    extractions: 0,
    holdExtractions() {
      let release = (): void => {};
      held = new Promise((resolve) => (release = resolve));
      return () => {
        held = undefined;
        release();
      };
    },
    holdFetches() {
      let release = (): void => {};
      heldFetches = new Promise((resolve) => (release = resolve));
      return () => release();
    },
    async send(text: string, more: Partial<IngestInput> = {}) {
      const incoming = await operations.receiveFile();
      await incoming.write(Buffer.from(text));
      const input = { original: { file: await incoming.keep() }, filename: "notes.txt", ...more };
      return (await operations.ingest(input)).id;
    },
    async ingest(text: string, more: Partial<IngestInput> = {}) {
      return operations.awaitJob({ id: await made.send(text, more) }, new AbortController().signal);
    },
  });
  return made;
}
