import type { Static } from "typebox";
import { type Fields, isObject } from "../../config/narrow.ts";
import type { RecordFactBody } from "../../schemas/fact.ts";
import type { AddMemoryBody } from "../../schemas/memory.ts";

/**
 * One thing found in a file; nothing in it has been checked yet. `isOwnerKept`: its user counts without `--keep-users`; `names`:
 * what the file calls its fields.
 */
export type ImportItem =
  | {
      readonly kind: "memory";
      readonly where: string;
      readonly body: MemoryFields;
      readonly isOwnerKept?: true;
      readonly names?: Readonly<Record<string, string>>;
      /** Its time is that of its file. */
      readonly isDatedByFile?: true;
    }
  | {
      readonly kind: "fact";
      readonly where: string;
      readonly body: FactFields;
      readonly isOwnerKept?: true;
      readonly names?: Readonly<Record<string, string>>;
    }
  /** A line of memoryd's own export. */
  | { readonly kind: "line"; readonly where: string; readonly body: Fields }
  /** The bytes that a document of an export was made of. */
  | OriginalItem
  /** A mail, which becomes a document. */
  | MailItem
  /** Between two notes of a folder, by their places; after both of them. */
  | { readonly kind: "link"; readonly where: string; readonly to: string }
  | LeftOut;

export interface OriginalItem {
  readonly kind: "original";
  readonly where: string;
  readonly documentId: string;
  readonly path: string;
}

export interface MailItem {
  readonly kind: "mail";
  readonly where: string;
  readonly filename: string;
  readonly bytes: Buffer;
  /** When its mailbox was changed, in epoch milliseconds: the time of a mail that names none. */
  readonly changedAt?: number;
}

/** Left out on purpose, or because it cannot be imported. */
export interface LeftOut {
  readonly kind: "skipped" | "faulty";
  readonly where: string;
  readonly reason: string;
}

/** Fields as they were read, not checked yet. */
export type MemoryFields = { readonly [Name in keyof Static<typeof AddMemoryBody>]?: unknown };
export type FactFields = { readonly [Name in keyof Static<typeof RecordFactBody>]?: unknown };

/** Items of a file or folder. A reader returns the same items in the same order each time. */
export type ImportItems = AsyncGenerator<ImportItem>;

export const memory = (where: string, body: MemoryFields): ImportItem => ({ kind: "memory", where, body });
export const faulty = (where: string, reason: string): LeftOut => ({ kind: "faulty", where, reason });
export const skipped = (where: string, reason: string): LeftOut => ({ kind: "skipped", where, reason });

/** A record without a time, with that of its file: the moment of the import is nobody's. Other items as they are. */
export function datedByFile(item: ImportItem, changedAt: number): ImportItem {
  if (item.kind === "memory" && (item.body.occurred_at ?? undefined) === undefined)
    return { ...item, body: { ...item.body, occurred_at: changedAt }, isDatedByFile: true };
  if (item.kind === "fact" && (item.body.valid_from ?? undefined) === undefined)
    return { ...item, body: { ...item.body, valid_from: changedAt } };
  return item.kind === "mail" ? { ...item, changedAt } : item;
}

/** A value out of a file that should be an object; undefined for anything else. */
export const objectOf = (value: unknown): Fields | undefined => (isObject(value) ? value : undefined);

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const IMPORT_FORMATS = [
  "memoryd",
  "chats",
  "markdown",
  "ndjson",
  "json",
  "csv",
  "mbox",
  "openmemory",
] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Agents whose conversations `memoryd import` reads. */
export const TRANSCRIPT_AGENTS = ["claude-code", "codex", "gemini", "cursor"] as const;
export type TranscriptAgentId = (typeof TRANSCRIPT_AGENTS)[number];
