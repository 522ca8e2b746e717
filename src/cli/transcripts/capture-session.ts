import { createHash } from "node:crypto";
import { findSecret, tellsSecret } from "../../core/text/find-secret.ts";
import { sentencesOf } from "../../core/text/sentences.ts";
import { statementKind } from "../../core/text/statement-words.ts";
import { shortened } from "../../core/text/text-size.ts";
import { present } from "../../schemas/wire.ts";
import type { MemoryFields } from "../import/import-item.ts";
import { timeOf } from "../../files/front-matter.ts";
import {
  type Correction,
  isCorrectedBy,
  isEndedBy,
  isReply,
  readCorrection,
  withBefore,
} from "./corrections.ts";
import type { TranscriptEvent, TranscriptLine } from "./agents.ts";
import { fold } from "../../core/text/fold.ts";
import { fromLanguages, wordsOfAll } from "../../core/text/languages.ts";

/** A sentence of a person that lasts; `at` in epoch milliseconds. */
export interface Remark {
  readonly text: string;
  readonly kind: string;
  readonly messageId: string;
  readonly at: number;
  /** Present where the person speaks against something earlier, which may be in the store. */
  readonly correction?: Correction;
}

const MAX_SENTENCES_PER_MESSAGE = 12;
const MAX_SENTENCE_CHARS = 600;
const MIN_ASKED_CHARS = 12;
const MAX_ASKED = 8;
const MAX_CHANGED = 30;
const MAX_COMMANDS = 12;
const MAX_ERRORS = 6;
const MAX_LINE_CHARS = 160;
const MAX_OPEN_CALLS = 200;
/** Sentences of the person that a correction may be about. */
const MAX_SENTENCES = 400;
const MAX_STEPS = 5;
/** Commands that only look. */
const LOOKING =
  /^(?:cd|ls|cat|echo|pwd|head|tail|wc|which|grep|rg|find|tree|stat|file|printf|env|ps|sed -n|nl|git (?:status|diff|log|show|branch)|true|sleep|mkdir|export)\b/;
const ERROR_LINE =
  /(?:error|exception|failed|failure|cannot|could not|not found|undefined|denied|refused|panic|fatal)/i;

/** A sentence that tells what an error came from, or what removed it. */
const SOLVED =
  /(?<![\p{L}])(?:fixed|solved|resolved|caused by|(?:the|root|real) (?:cause|culprit|reason|problem|issue)|turned out|it was because|behoben|gelöst|ursache|lag an|lag daran|corrigé|résolu|la cause|arreglado|solucionado|resuelto|la causa|risolto|corretto|resolvido|corrigido|a causa|opgelost|gefixt|oorzaak)(?![\p{L}])/iu;

interface Failure {
  readonly reason: string;
  readonly changed: Set<string>;
  readonly ran: Set<string>;
}

/** Gathers what lasts from the events of one session, in their order. */
export class SessionCapture {
  conversation: string | undefined;
  folder: string | undefined;
  #title: string | undefined;
  readonly #seen: Set<string>;
  readonly #asked: string[] = [];
  readonly #changed = new Set<string>();
  readonly #commands = new Set<string>();
  readonly #errors: string[] = [];
  readonly #calls = new Map<string, string>();
  /** Commands that failed last, with the line that tells why, and the files that were changed and what was run since. */
  readonly #failed = new Map<string, Failure>();
  /** The person's, the latest last. */
  readonly #sentences: string[] = [];
  /** The latest error whose solution nobody has told. */
  #unsolved: string | undefined;
  /** The time of the line before. */
  #time: number | undefined;
  #from = Infinity;
  #to = -Infinity;

  /** @param seen hashes of remarks that were taken before; see `seen`. */
  constructor(seen: readonly string[] = []) {
    this.#seen = new Set(seen);
  }

  get seen(): string[] {
    return [...this.#seen];
  }

  /** The remarks of a line. @param fallback the time of a line without one where no line before has one, epoch milliseconds. */
  take({ at, events }: TranscriptLine, fallback: number): Remark[] {
    const given = timeOf(at);
    const time = typeof given === "number" ? given : (this.#time ?? fallback);
    this.#time = time;
    return events.flatMap((event) => this.#event(event, time));
  }

  #event(event: TranscriptEvent, at: number): Remark[] {
    switch (event.kind) {
      case "about":
        this.conversation ??= event.conversation;
        this.folder ??= event.folder;
        this.#title = event.title ?? this.#title;
        return [];
      case "said":
        this.#noteTime(at);
        return this.#remarks(event.text, event.id, at);
      case "changed":
        this.#noteTime(at);
        this.#changed.add(this.#shortPath(event.path));
        for (const { changed } of this.#failed.values())
          if (changed.size < MAX_STEPS) changed.add(this.#shortPath(event.path));
        return [];
      case "ran": {
        const command = commandLine(event.command);
        if (command === undefined) return [];
        if (this.#calls.size >= MAX_OPEN_CALLS) this.#calls.clear();
        this.#calls.set(event.call, command);
        return [];
      }
      case "ended":
        return this.#ended(event, at);
    }
  }

  #remarks(text: string, messageId: string, at: number): Remark[] {
    const lines = ownWords(text).filter((line) => !isPraise(line));
    const [first] = lines;
    if (first !== undefined && first.length >= MIN_ASKED_CHARS && !tellsSecret(first)) {
      // The first ones tell what it is about, the last ones how it ended.
      if (this.#asked.length >= MAX_ASKED) this.#asked.splice(MAX_ASKED / 2, 1);
      this.#asked.push(lineOf(first));
    }
    const statements = lines.flatMap((line) => {
      const isNew = !this.#seen.has(hashOf(line));
      const unquoted = withoutQuotes(line);
      let from = 0;
      return sentencesOf(line).flatMap((sentence): Remark[] => {
        const own = unquoted.slice(from, (from += sentence.length));
        const isOwn = () => own === sentence || statementKind(own) !== undefined;
        const isWhole = isNew && !FRAGMENT.test(own) && isOwn();
        const remark = isWhole ? this.#remark(sentence.trim()) : undefined;
        this.#sentences.push(sentence.trim());
        if (this.#sentences.length > MAX_SENTENCES) this.#sentences.shift();
        return remark === undefined ? [] : [{ ...remark, messageId, at }];
      });
    });
    for (const line of lines) this.#seen.add(hashOf(line));
    return statements.slice(0, MAX_SENTENCES_PER_MESSAGE);
  }

  /** A sentence as it is kept: a correction with what it corrects, a solution with its error. */
  #remark(content: string): Pick<Remark, "text" | "kind" | "correction"> | undefined {
    const kind =
      content.length > MAX_SENTENCE_CHARS || isPraise(content) ? undefined : statementKind(content)?.kind;
    if (kind === undefined || tellsSecret(content)) return undefined;
    const isAnswer = kind === "correction" || isReply(content);
    const correction = isAnswer ? readCorrection(content) : undefined;
    if (isAnswer && correction === undefined) return undefined;
    if (correction !== undefined && (kind === "correction" || correction.old !== undefined)) {
      const isBefore = correction.isAlone ? isEndedBy : isCorrectedBy;
      const before = this.#sentences.findLast((earlier) => isBefore(earlier, correction));
      const text = before === undefined ? correction.text : withBefore(correction, before);
      if (tellsSecret(text) || !this.#isNew(text)) return undefined;
      return {
        text,
        kind: "correction",
        correction: { ...correction, isAlone: correction.isAlone || before !== undefined },
      };
    }
    const error = SOLVED.test(content) ? this.#unsolved : undefined;
    if (error !== undefined) this.#unsolved = undefined;
    const text = error === undefined ? content : `${content} (The error: ${error})`;
    return this.#isNew(text) ? { text, kind } : undefined;
  }

  #ended({ call, failed, output }: Extract<TranscriptEvent, { kind: "ended" }>, at: number): Remark[] {
    const command = this.#calls.get(call);
    this.#calls.delete(call);
    if (command === undefined) return [];
    this.#noteTime(at);
    if (failed) {
      const reason = reasonIn(output);
      if (this.#failed.size >= MAX_ERRORS) this.#failed.clear();
      this.#failed.set(command, { reason, changed: new Set(), ran: new Set() });
      if (reason !== "" && findSecret(reason) === undefined) this.#unsolved = `\`${command}\`: ${reason}`;
      return [];
    }
    if (this.#commands.size < MAX_COMMANDS) this.#commands.add(command);
    // The same with other options is the same, such as one test of all.
    const isSame = (other: string) => startOf(other) === startOf(command);
    const name = this.#failed.has(command) ? command : ([...this.#failed.keys()].find(isSame) ?? command);
    const before = this.#failed.get(name);
    this.#failed.delete(name);
    for (const { ran } of this.#failed.values()) if (ran.size < MAX_STEPS) ran.add(command);
    if (before === undefined || before.reason === "") return [];
    const steps = [
      ...(before.changed.size === 0 ? [] : [`${[...before.changed].join(", ")} changed`]),
      ...(before.ran.size === 0 ? [] : [`${[...before.ran].map((step) => `\`${step}\``).join(", ")} ran`]),
    ];
    if (steps.length === 0) return [];
    const text = `\`${command}\` failed with "${before.reason}" and works since ${steps.join(" and ")}.`;
    if (findSecret(text) !== undefined) return [];
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(text);
    this.#unsolved = undefined;
    return this.#isNew(text) ? [{ text, kind: "done", messageId: call, at }] : [];
  }

  #isNew(text: string): boolean {
    const isNew = !this.#seen.has(hashOf(text));
    this.#seen.add(hashOf(text));
    return isNew;
  }

  #noteTime(at: number): void {
    this.#from = Math.min(this.#from, at);
    this.#to = Math.max(this.#to, at);
  }

  #shortPath(path: string): string {
    const folder = `${this.folder?.replaceAll("\\", "/").replace(/\/$/, "")}/`;
    const plain = path.replaceAll("\\", "/");
    return (plain.startsWith(folder) ? plain.slice(folder.length) : plain).slice(0, MAX_LINE_CHARS);
  }

  /** The memory that sums up the session; undefined for a session in which nothing was done. */
  summary(captured: Captured, agent: string): MemoryFields | undefined {
    if (this.#asked.length + this.#changed.size + this.#commands.size === 0) return undefined;
    const from = new Date(this.#from).toISOString();
    const [began, ended] = [this.#from, this.#to].map(minuteOf);
    const title = this.#title === undefined || tellsSecret(this.#title) ? "" : `: ${lineOf(this.#title)}`;
    const part = (name: string, list: Iterable<string>, between: string): string[] => {
      const items = [...new Set(list)].join(between);
      return items === "" ? [] : [`${name}: ${items}`];
    };
    const content = [
      `Session with ${agent}, ${began} to ${ended} UTC${title}`,
      ...part("Asked", this.#asked, " · "),
      ...part("Changed", [...this.#changed].slice(0, MAX_CHANGED), ", "),
      ...part("Commands that worked", this.#commands, " · "),
      ...part("Errors and their cause", this.#errors, " · "),
    ].join("\n");
    return { content, occurred_at: from, ...marks(captured, "summary") };
  }
}

const minuteOf = (time: number): string => new Date(time).toISOString().slice(0, 16).replace("T", " ");

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 12);

/** The first line of a command; undefined for one that only looks, or holds a secret. */
function commandLine(command: string): string | undefined {
  const [line = ""] = command
    .trim()
    .replace(/^cd [^&;\n]{1,300}(?:&&|;) ?/, "")
    .split("\n", 1);
  return line === "" || LOOKING.test(line) || findSecret(command) !== undefined ? undefined : lineOf(line);
}

/** Program and command without options: `npm test` of `npm test -- --watch`; all of it where that leaves the program alone. */
function startOf(command: string): string {
  const [start = ""] = command.split(/\s(?:-|\d?>|[|&;])/, 1);
  return start.trim().includes(" ") ? start.trim() : command;
}

/** The line of an output that tells the error, without colours. */
function reasonIn(output: string): string {
  const lines = output
    .slice(-20_000)
    // eslint-disable-next-line no-control-regex -- colours are what is meant
    .replaceAll(/\u001b\[[\d;]{0,16}m/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lineOf((lines.find((line) => ERROR_LINE.test(line)) ?? "").replaceAll('"', "'"));
}

const lineOf = (text: string): string => shortened(text, MAX_LINE_CHARS - 1);

export interface Captured {
  readonly origin: string;
  readonly conversation: string;
  readonly project: string | undefined;
}

/** @param supersedes id of the memory that it corrects. */
export function remarkMemory(
  { text, kind, messageId, at }: Remark,
  captured: Captured,
  supersedes?: string,
): MemoryFields {
  const more = present({ message_id: messageId || undefined });
  const fields = { content: text, occurred_at: new Date(at).toISOString(), ...marks(captured, kind, more) };
  return { ...fields, ...present({ supersedes }) };
}

function marks({ origin, conversation, project }: Captured, kind: string, more: object = {}): MemoryFields {
  return {
    tags: [origin, kind],
    metadata: { origin, kind, conversation_id: conversation, ...more },
    session_id: `${origin}:${conversation}`,
    ...present({ project }),
  };
}

/** Names of blocks that agents put into a person's message; any name with `-` or `_` is one too. */
const BLOCK_NAMES = new Set(["instructions", "context", "caveat", "file", "document", "image"]);
const OPENING = /<([A-Za-z][\w-]{1,40})(?:\s[^<>]{0,200})?>/g;
/** Searches for the end of a block in one message. */
const MAX_BLOCKS = 500;
const MAX_LINES = 2_000;
/** Longer text is a paste, and only its beginning is the person's. */
const MAX_OWN_LINE_CHARS = 1_200;
const MAX_OWN_CHARS = 12_000;

/**
 * The lines of a message that a person wrote: without what agents and hooks injected, what memory answered (which
 * stands between lines with a mark), code in fences, quotes, and marks of pictures.
 */
export function ownWords(message: string): string[] {
  const lines = withoutBlocks(message.slice(0, MAX_OWN_CHARS * 4)).split(/\r?\n/, MAX_LINES);
  const ends = new Set(lines.flatMap((line) => /^\[end ([\w-]{4,64})\]/.exec(line.trim())?.[1] ?? []));
  const own: string[] = [];
  let mark: string | undefined;
  let isCode = false;
  let chars = 0;
  for (const line of lines) {
    const text = line.trim();
    if (mark !== undefined) {
      if (text.startsWith(`[end ${mark}]`)) mark = undefined;
      continue;
    }
    const opened = /^\[[a-z]{1,20} ([\w-]{4,64})[\] ]/.exec(text)?.[1];
    if (opened !== undefined && ends.has(opened)) {
      mark = opened;
      continue;
    }
    if (/^(?:```|~~~)/.test(text)) {
      isCode = !isCode;
      continue;
    }
    if (isCode || /^(?:\t| {4}|>|\[Request interrupted|\[Image|# AGENTS\.md)/.test(line)) continue;
    if (/between lines with the mark/.test(text) || text === "" || text.length > MAX_OWN_LINE_CHARS) continue;
    chars += text.length;
    if (chars > MAX_OWN_CHARS) break;
    own.push(text.replaceAll(/\[(?:Image|Pasted text) #\d{1,4}[^\]]{0,40}\]/g, "").trim());
  }
  return own.filter((text) => text !== "");
}

const QUOTE =
  /"[^"]{0,999}"|“[^“”]{0,999}”|„[^„“”]{0,999}[“”]|«[^«»]{0,999}»|(?<![\p{L}\p{N}])'(?:[^']|'(?=\p{L})){0,999}'(?!\p{L})/gu;
/** Shorter ones are names. */
const MIN_QUOTED_WORDS = 3;

/** The line, of the same length, with blanks in place of what others said. */
const withoutQuotes = (line: string): string =>
  line.replaceAll(QUOTE, (quote) =>
    quote.split(/\s+/).length < MIN_QUOTED_WORDS ? quote : " ".repeat(quote.length),
  );

/** The rest of a sentence that began before a quote or a list. */
const FRAGMENT = /^(?:and|or|but|nor|und|oder|aber|et|ou|mais|y|e|pero|mas|maar)\s/u;

const PRAISE = fromLanguages((languages) => new Set(wordsOfAll(languages, "statement").praise.split("|")));

/** Thanks and praise, and nothing else: "thanks, great job". */
export const isPraise = (text: string): boolean =>
  (fold(text).match(/[\p{L}'’]+/gu) ?? []).every((word) => PRAISE().has(word.replace("’", "'")));

function withoutBlocks(message: string): string {
  let text = "";
  let from = 0;
  let searches = 0;
  for (const { 0: tag, 1: name = "", index } of message.matchAll(OPENING)) {
    if (index < from || (!/[-_]/.test(name) && !BLOCK_NAMES.has(name.toLowerCase()))) continue;
    searches += 1;
    if (searches > MAX_BLOCKS) break;
    const end = message.indexOf(`</${name}>`, index + tag.length);
    // One that does not end is a tag that the person wrote about.
    if (end < 0) continue;
    text += message.slice(from, index);
    from = end + name.length + 3;
  }
  return text + message.slice(from);
}
