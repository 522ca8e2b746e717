import { type ServiceError, unprocessable, unsupportedMediaType } from "../core/errors.ts";
import type { DocumentClaims, DocumentKind, TextKind } from "../core/documents/extraction.ts";
import { MAILBOX_START, TEXT_EXTENSIONS } from "../files/file-kinds.ts";
import { CONTAINER_NAMES } from "./media/container.ts";
import { looksLikeSubtitles } from "./formats/subtitles.ts";
import { looksLikeUtf16 } from "../files/text-decoding.ts";
import { openParts } from "./formats/zip.ts";

/** Types outside `text/` whose bytes are text. */
const TEXT_TYPES = new Set(
  (
    "json ndjson jsonl x-ndjson x-jsonlines ld+json json5 xml yaml x-yaml toml javascript x-javascript ecmascript typescript " +
    "x-sh x-shellscript x-httpd-php x-python x-perl x-ruby sql graphql rtx x-tex x-latex x-csv csv x-log"
  ).split(" "),
);
/** Whether a media type or an extension is read as plain text. */
function isTextName(name: string): boolean {
  const subtype = /^application\/(.+)$/.exec(name)?.[1];
  if (subtype !== undefined) return TEXT_TYPES.has(subtype) || /\+(?:json|xml|yaml)$/.test(subtype);
  return name.startsWith("text/") || TEXT_EXTENSIONS.has(name);
}

/** Media types, and the nouns of kinds that their bytes tell; all others are text. */
const KINDS: Readonly<Record<TextKind, readonly [mediaType: string, noun?: string]>> = {
  pdf: ["application/pdf", "a PDF"],
  docx: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a Word document (DOCX)"],
  html: ["text/html"],
  md: ["text/markdown"],
  txt: ["text/plain"],
  srt: ["application/x-subrip"],
  vtt: ["text/vtt"],
  eml: ["message/rfc822"],
  mhtml: ["multipart/related"],
  ipynb: ["application/x-ipynb+json"],
  xlsx: ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "an Excel workbook (XLSX)"],
  pptx: [
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "a PowerPoint presentation (PPTX)",
  ],
  epub: ["application/epub+zip", "an EPUB book"],
  odt: ["application/vnd.oasis.opendocument.text", "an OpenDocument text (ODT)"],
  ods: ["application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet (ODS)"],
  odp: ["application/vnd.oasis.opendocument.presentation", "an OpenDocument presentation (ODP)"],
  rtf: ["application/rtf", "a rich text (RTF)"],
  png: ["image/png", "a PNG picture"],
  jpeg: ["image/jpeg", "a JPEG picture"],
  webp: ["image/webp", "a WebP picture"],
};

export const mediaTypeOf = (kind: TextKind): string => KINDS[kind][0];

const nounOf = (kind: DocumentKind): string =>
  kind === "audio" || kind === "video" ? kind : (KINDS[kind][1] ?? "text");

const NAMES: Readonly<Record<string, TextKind>> = {
  "application/x-pdf": "pdf",
  "application/xhtml+xml": "html",
  "text/x-markdown": "md",
  markdown: "md",
  mdown: "md",
  mkd: "md",
  htm: "html",
  "text/rtf": "rtf",
  mht: "mhtml",
  emlx: "eml",
  "application/x-mimearchive": "mhtml",
  xhtml: "html",
  text: "txt",
  "text/srt": "srt",
  "application/srt": "srt",
  "text/x-subrip": "srt",
  webvtt: "vtt",
  jpg: "jpeg",
  "image/jpg": "jpeg",
  xlsm: "xlsx",
  "application/vnd.ms-excel.sheet.macroenabled.12": "xlsx",
  pptm: "pptx",
  ppsx: "pptx",
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": "pptx",
  ...Object.fromEntries(
    Object.entries(KINDS).flatMap(([kind, [type]]) => [
      [kind, kind as TextKind],
      [type, kind as TextKind],
    ]),
  ),
};

/** Senders that do not know these formats call them plain text. */
const TEXT_FORMATS: ReadonlySet<TextKind> = new Set(["md", "html", "srt", "vtt", "eml", "mhtml", "ipynb"]);

/** First bytes of pictures. */
const PICTURES: readonly (readonly [kind: TextKind, offset: number, magic: string])[] = [
  ["png", 0, "\x89PNG"],
  ["jpeg", 0, "\xff\xd8\xff"],
  ["webp", 8, "WEBP"],
];

/** First bytes of formats that are not read and may pass for text: dark pixels (TIFF) and quiet sound (AIFF) for UTF-16. */
const NOT_READ = /^(?:%!PS|GIF8|Rar!|II\*[^ -~]|MM[^ -~]\*|FORM.{4}AIF)/s;

/** Formats in a zip, by an entry that each has. */
const ZIPPED: readonly (readonly [kind: TextKind, entry: RegExp])[] = [
  ["docx", /^word\/document\d*\.xml$/],
  ["xlsx", /^xl\/workbook\.xml$/],
  ["pptx", /^ppt\/presentation\.xml$/],
  ["epub", /^META-INF\/container\.xml$/],
];

/**
 * The kind of a document by its bytes; for text (plain, Markdown, HTML, subtitles) also by the claim. Audio and video are
 * none.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE for another kind, or bytes that contradict the claim; UNPROCESSABLE for
 *   an empty or encrypted document.
 */
export async function kindOf(bytes: Uint8Array, claim: DocumentClaims): Promise<TextKind> {
  const { kind: claimed, name = "", isForeign } = claimOf(claim);
  const found = await binaryKind(bytes);
  if (found === undefined && isForeign) throw unsupported(`sent as ${nameOf(name)}, which cannot be read`);
  const isText = claimed !== undefined && nounOf(claimed) === "text";
  const start = found === undefined ? startOf(bytes) : "";
  if (MAILBOX_START.test(start))
    throw unsupported("a mailbox of many mails; `memoryd import FILE` makes each of them a document");
  const isVague = claimed === undefined || claimed === "txt" || claimed === "eml";
  const saved = isVague && isSavedPage(start) ? "mhtml" : undefined;
  const kind = found ?? saved ?? (isText ? claimed : textKind(start));
  checkClaim(claim, kind);
  return kind;
}

const startOf = (bytes: Uint8Array): string =>
  new TextDecoder(looksLikeUtf16(bytes) ?? "utf-8").decode(bytes.subarray(0, 4_096));

/** Lines of the header that browsers give to a page they save as one file. */
const SAVED_PAGE = /^(?:snapshot-content-location: |from: <saved by )/im;

/** Whether a text is a page that a browser saved as one file. Some senders call it a mail. */
function isSavedPage(start: string): boolean {
  const [header = ""] = start.split(/\r?\n\r?\n/, 1);
  return SAVED_PAGE.test(header) && /^content-type: *multipart\/related/im.test(header);
}

function textKind(start: string): TextKind {
  return looksLikeSubtitles(start) ?? (looksLikeHtml(start) ? "html" : "txt");
}

/** Checks a claim against the known kind. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE. */
export function checkClaim(claim: DocumentClaims, kind: DocumentKind): void {
  const { name = "", kind: claimed, isMedia, isForeign } = claimOf(claim);
  const isRecording = kind === "audio" || kind === "video";
  const isOtherMedia = isRecording ? /^(?:image|font)\//.test(name) : isMedia;
  const isOtherKind =
    claimed !== undefined && claimed !== kind && (nounOf(kind) !== "text" || nounOf(claimed) !== "text");
  if (isForeign || isOtherMedia || isOtherKind) throw contradiction(name, nounOf(kind));
}

/** The charset parameter of a content type. */
export const claimedCharset = (claimedType: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*"?([\w.:-]{2,40})/i.exec(claimedType ?? "")?.[1]?.toLowerCase();

/** The claim on a document by its type, or else by its name; `kind` where it is one of text. */
export function claimOf({ claimedType, filename }: DocumentClaims) {
  const type = claimedType?.split(";")[0]?.trim().toLowerCase().replace(/^\./, "") ?? "";
  const extension = /\.([a-z0-9]{1,10})$/i.exec(filename ?? "")?.[1]?.toLowerCase() ?? "";
  const byExtension = NAMES[extension];
  const isVague =
    type === "" || /^(application|binary)\/(octet-stream|x-download|force-download|unknown)$/.test(type);
  if (isVague) {
    const isMedia = CONTAINER_NAMES.has(extension);
    const name = isMedia || byExtension !== undefined ? `.${extension}` : undefined;
    // Other extensions decide nothing: the kind of "notes.final" is that of its bytes.
    return { name, kind: byExtension, isMedia, isForeign: false };
  }
  if (
    /^(?:text\/plain|application\/json)$/.test(type) &&
    byExtension !== undefined &&
    TEXT_FORMATS.has(byExtension)
  )
    return { name: `.${extension}`, kind: byExtension, isMedia: false, isForeign: false };
  const isMedia =
    (NAMES[type] === undefined && /^(image|audio|video|font)\//.test(type) && !isTextName(type)) ||
    CONTAINER_NAMES.has(type);
  const kind = NAMES[type] ?? (isTextName(type) ? "txt" : undefined);
  // A specific type counts: one that is unknown is no text.
  return { name: type, kind, isMedia, isForeign: kind === undefined && !isMedia };
}

async function binaryKind(bytes: Uint8Array): Promise<TextKind | undefined> {
  if (bytes.length === 0) throw unprocessable("The document is empty. Send one that holds text.");
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4_096)).toString("latin1");

  // Mail gateways and servers put lines before the header; readers look for it in the first 1024 bytes.
  if (head.slice(0, 1_029).includes("%PDF-")) return "pdf";
  if (head.startsWith("PK\x03\x04")) return await zippedKind(bytes);
  if (head.startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) throw oldOffice(bytes);
  if (head.startsWith("{\\rtf")) return "rtf";
  const picture = PICTURES.find(([, offset, magic]) => head.startsWith(magic, offset));
  if (picture !== undefined) return picture[0];
  if (NOT_READ.test(head) || isBinary(bytes)) throw unsupported("of a kind that is not read");
  return undefined;
}

const OPEN_DOCUMENTS = ["odt", "ods", "odp"] as const;
/** Of the entry that names an OpenDocument file's type. */
const MAX_TYPE_BYTES = 65_536;

async function zippedKind(bytes: Uint8Array): Promise<TextKind> {
  const parts = await openParts(bytes, { maxInflatedBytes: MAX_TYPE_BYTES });
  const names = Array.from(parts.names);
  const isOffice = parts.names.has("[Content_Types].xml");
  for (const [kind, entry] of ZIPPED)
    if ((isOffice || kind === "epub") && names.some((name) => entry.test(name))) return kind;
  // A larger one names no type: an archive may hold any file.
  const named = await parts.text("mimetype").catch((error: ServiceError) => {
    if (error.code !== "TOO_LARGE") throw error;
    return "";
  });
  const open = OPEN_DOCUMENTS.find((kind) => KINDS[kind][0] === named.trim());
  if (open !== undefined) return open;
  throw unsupported("an archive, or a document in one that is not read");
}

/** The container of Word before 2007; also what a password makes of a DOCX. Its stream names are UTF-16. */
function oldOffice(bytes: Uint8Array): ServiceError {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isIn = (name: string) => all.includes(Buffer.from(name, "utf16le"));
  const isEncrypted = isIn("EncryptedPackage");
  const isMessage = isIn("__substg1.0_");
  if (!isEncrypted)
    return unsupported(isMessage ? "a message of Outlook (MSG)" : "an Office document of before 2007");
  return unprocessable("The document is encrypted. Save it without a password and send that.");
}

/** A run of zero bytes, as a power failure leaves one in a log. */
// oxlint-disable-next-line no-control-regex
const HOLE = /\0{32,}/g;
/** A bell, the end mark of DOS. */
const FEW_CONTROLS = 2;

/** Text has no zero bytes (but UTF-16, and holes) and few other controls. */
function isBinary(bytes: Uint8Array): boolean {
  if (looksLikeUtf16(bytes) !== undefined) return false;
  const sample = Buffer.from(bytes.subarray(0, 65_536)).toString("latin1").replace(HOLE, "");
  // oxlint-disable-next-line no-control-regex
  const controls: readonly string[] = sample.match(/[\0-\x07\x0e-\x1a\x1c-\x1f]/g) ?? [];
  return controls.includes("\0") || controls.length > Math.max(FEW_CONTROLS, sample.length * 0.01);
}

function looksLikeHtml(start: string): boolean {
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S]){0,2000}-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(
    start,
  );
}

function unsupported(what: string): ServiceError {
  return unsupportedMediaType(
    `The file is ${what}. Readable are PDF, DOCX, XLSX, PPTX, EPUB, ODT, ODS, ODP, RTF, HTML, Markdown, plain text, mails ` +
      "(EML), saved pages (MHTML), notebooks (IPYNB), subtitles (SRT, VTT), pictures of text (PNG, JPEG, WebP) " +
      "and recordings (WAV, MP3, M4A, AAC, FLAC, Ogg, Opus, WebM, MP4, MOV, MKV). Convert it to one of these, or correct its type.",
  );
}

const nameOf = (claimed: string) => (/^[\w.+/-]{1,100}$/.test(claimed) ? claimed : "another kind");

/** @param found in words, such as "a PDF". */
export function contradiction(claimed: string, found: string): ServiceError {
  const name = nameOf(claimed);
  return unsupportedMediaType(
    `The file is sent as ${name} but its bytes are ${found}. Correct the type, or send the other file.`,
  );
}
