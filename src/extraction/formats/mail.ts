import { isUtf8 } from "node:buffer";
import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import type { Block } from "../../core/documents/extraction.ts";
import { readCards } from "./cards.ts";
import { cleanDate, cleanField, cleanLine, type ReadDocument, plainTextBlocks } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { parseHtml } from "./html-tree.ts";
import { readHtml } from "./html.ts";
import { unprocessable } from "../../core/errors.ts";
import { decode, withWindowsCharacters } from "../../files/text-decoding.ts";

/** Deeper parts and longer headers are hostile. */
// Mails in a mail are read here: the library writes their dates as the machine's language does.
const BOUNDS = { maxNestingDepth: 32, maxHeadersSize: 1_000_000, maxRfc822NestingDepth: 0 };
const MAX_MAILS_DEEP = 10;
const MAX_ADDRESSES = 100;
const MAX_ATTACHMENTS = 200;

/**
 * A mail: who wrote to whom and when, its text (of its HTML part where it has one), mails and invitations in it likewise, and the names of its other
 * attachments, which are not read. Nothing that it links is fetched.
 */
export async function readMail(bytes: Uint8Array, depth = 0): Promise<ReadDocument> {
  const mail = await parseMail(bytes);
  const from = addresses(mail.from === undefined ? [] : [mail.from]);
  const received = mail.headers
    .find(({ key }) => key === "received")
    ?.value.split(";")
    .at(-1);
  const sentAt = cleanDate(mail.date) ?? cleanDate(received);
  const head = [
    ["From", from],
    ["To", addresses(mail.to)],
    ["Cc", addresses(mail.cc)],
    ["Date", sentAt === undefined ? "" : new Date(sentAt).toISOString()],
    ["Subject", cleanLine(mail.subject ?? "")],
  ].flatMap(([name, value]) => (value === "" ? [] : `${name}: ${value}`));
  const isMail = ({ mimeType }: Attachment) => mimeType === "message/rfc822" && depth < MAX_MAILS_DEEP;
  const mails: Block[] = [];
  for (const { content } of mail.attachments.slice(0, MAX_ATTACHMENTS).filter(isMail))
    if (typeof content !== "string")
      mails.push(...(await readMail(new Uint8Array(content), depth + 1)).blocks);
  const others = mail.attachments.filter((attachment) => !isMail(attachment));
  for (const { mimeType, content } of others)
    if (mimeType === "text/calendar" && typeof content !== "string")
      mails.push(...readCards(new TextDecoder().decode(content)).blocks);
  const names = others.slice(0, MAX_ATTACHMENTS).map(({ filename, mimeType }) => {
    const name = cleanField(filename) ?? "without a name";
    return { type: "list-item", text: `- Attachment: ${name} (${cleanLine(mimeType)})`, level: 1 } as const;
  });
  const text = bodyOf(mail);
  return {
    blocks: [
      ...(head.length > 0 ? [{ type: "paragraph", text: head.join("\n") } as const] : []),
      ...text,
      ...names,
      ...mails,
    ],
    title: cleanField(mail.subject),
    author: cleanField(from),
    date: sentAt,
    occurredAt: sentAt,
  };
}

/** A mail in parts, its texts as they were written. */
async function parseMail(bytes: Uint8Array): Promise<Email> {
  const mail = await PostalMime.parse(asUtf8(withoutFrame(bytes)), BOUNDS);
  const { subject, from, to, cc, html, text } = mail;
  const texts = JSON.stringify({ subject, from, to, cc, html, text });
  // Node reads windows-1252 as Latin-1.
  return { ...mail, ...(JSON.parse(withWindowsCharacters(texts)) as Partial<Email>) };
}

/** A mail as Apple's Mail keeps it (EMLX), without its length before it and the list of marks behind it. */
function withoutFrame(bytes: Uint8Array): Uint8Array {
  const [line = "", length] =
    /^(\d{1,10}) *\n/.exec(Buffer.from(bytes.subarray(0, 20)).toString("latin1")) ?? [];
  return length === undefined ? bytes : bytes.subarray(line.length, line.length + Number(length));
}

/** A mail whose parts name no encoding but have letters outside ASCII, as old programs wrote them, in UTF-8. */
function asUtf8(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes;
  const source = Buffer.from(bytes).toString("latin1");
  if (/charset\s*=\s*"?(?!utf-?8|us-ascii)/i.test(source)) return bytes;
  return Buffer.from(decode(bytes).text.replace(/charset\s*=\s*"?us-ascii"?/gi, "charset=utf-8"));
}

/** A page that a browser saved as one file (RFC 2557): its HTML is read as that of a web page; it happened when it was saved. */
export async function readSavedPage(bytes: Uint8Array): Promise<ReadDocument & { readonly method: string }> {
  const { html, headers, subject, date } = await parseMail(bytes);
  if (html === undefined) throw unprocessable("The saved page holds no HTML.");
  // Behind the page itself its frames: advertisements mostly.
  const end = /<\/html\s*>/i.exec(html);
  const places = headers.filter(({ key }) => /^(?:snapshot-)?content-location$/.test(key));
  const page = readHtml(
    end === null ? html : html.slice(0, end.index),
    places.map(({ value }) => value).find((place) => URL.canParse(place)),
  );
  return { ...page, title: page.title ?? cleanField(subject), occurredAt: cleanDate(date) };
}

function bodyOf({ html, text }: Pick<Email, "html" | "text">): Block[] {
  const blocks = html === undefined ? [] : blocksOfHtml(parseHtml(html).root, { keepsLink: () => true });
  return blocks.length > 0 ? blocks : plainTextBlocks(text ?? "");
}

function addresses(list: readonly Address[] = []): string {
  const shown = list.slice(0, MAX_ADDRESSES).map(({ name, address, group }) => {
    const who = cleanLine(name);
    if (group !== undefined) return `${who}: ${addresses(group)}`;
    return who === "" || who === address ? cleanLine(address ?? "") : `${who} <${cleanLine(address ?? "")}>`;
  });
  const more = list.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
