/** Conversations in the exports of ChatGPT and Claude, and what these services keep beside them. */
import type { Fields } from "../../config/narrow.ts";
import { timeOf } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import { parseTime } from "../../schemas/wire.ts";
import { faulty, type ImportItem, listOf, memory, objectOf, skipped, textOf } from "./import-item.ts";

export interface ConversationOptions {
  /** Import edited and regenerated messages too, not only the branch that was shown last. */
  readonly allBranches?: boolean;
  /** Import the person's own lines only, no answers. */
  readonly onlyMine?: boolean;
  /** Keep a user that a service made up, too. */
  readonly keepUsers?: boolean;
}

type Service = "chatgpt" | "claude" | "open-webui";

interface Message {
  readonly where: string;
  readonly id: string;
  readonly role: string;
  readonly text: string;
  readonly occurredAt: unknown;
  readonly model?: string | undefined;
  /** Pictures, sound or files are in it. */
  readonly hasFiles: boolean;
  /** Why it is left out. */
  readonly leftOut?: string | undefined;
}

/** Marks of citations, which only the service can follow. */
const CITATION = /\ue200[^\ue200\ue201]{0,400}\ue201|【\d{1,4}[^【】]{0,20}†[^【】]{0,200}】/gu;

/** One memory a message, one session a conversation. */
function* readMessage(
  service: Service,
  { id, title }: { readonly id: string; readonly title: string | undefined },
  message: Message,
  { onlyMine = false }: ConversationOptions,
): Generator<ImportItem> {
  const { where, role, text, hasFiles, model } = message;
  const reason = message.leftOut ?? (onlyMine && role !== "user" ? "answers (--only-mine)" : undefined);
  if (reason !== undefined) return yield skipped(where, reason);
  if (hasFiles) yield skipped(where, "images, sound and files in messages");
  if (text.trim() === "") {
    if (!hasFiles) yield skipped(where, "empty messages");
    return;
  }
  yield memory(where, {
    content: text.replaceAll(CITATION, ""),
    tags: [service, role],
    session_id: `${service}:${id}`,
    occurred_at: message.occurredAt,
    metadata: {
      source: service,
      role,
      conversation_id: id,
      message_id: message.id,
      ...(title !== undefined && title !== "" && { title }),
      ...(model !== undefined && { model }),
    },
  });
}

/** A conversation of ChatGPT. */
export function* readChatGpt(
  talk: Fields,
  where: string,
  options: ConversationOptions,
): Generator<ImportItem> {
  const nodes = objectOf(talk["mapping"]) ?? {};
  const id = textOf(talk["conversation_id"]) ?? textOf(talk["id"]);
  if (id === undefined) return yield faulty(where, "the conversation has no id");
  // Old exports name no current node: the last message that nothing follows.
  const leaf =
    textOf(talk["current_node"]) ??
    Object.keys(nodes).findLast((each) => listOf(objectOf(nodes[each])?.["children"]).length === 0);
  const shown = options.allBranches ? Object.keys(nodes) : branch(nodes, leaf, "parent");
  if (shown.length === 0) return yield skipped(where, "the conversation is empty");
  const isShown = new Set(shown);
  for (const node of Object.keys(nodes))
    if (!isShown.has(node) && /^(?:user|assistant)$/.test(roleOf(messageOf(nodes, node))))
      yield skipped(where, "messages of other branches; --all-branches takes them");

  const times = filled(
    shown.map((node) => secondsTime(messageOf(nodes, node)?.["create_time"])),
    secondsTime(talk["create_time"]) ?? secondsTime(talk["update_time"]),
  );
  for (const [i, node] of shown.entries()) {
    const message = messageOf(nodes, node);
    if (message === undefined) continue;
    const place = `${where}, message ${i + 1}`;
    const kept = keptOutside(message, place);
    if (kept.length > 0) {
      yield* kept;
      continue;
    }
    const content = objectOf(message["content"]) ?? {};
    const read: Message = {
      where: place,
      id: textOf(message["id"]) ?? node,
      role: roleOf(message),
      text: textIn(content),
      occurredAt: times[i],
      model: textOf(objectOf(message["metadata"])?.["model_slug"]),
      hasFiles: listOf(content["parts"]).some((part) => objectOf(part) && textOfPart(part) === undefined),
      leftOut: leftOut(message, content),
    };
    yield* readMessage("chatgpt", { id, title: textOf(talk["title"]) }, read, options);
  }
}

const messageOf = (nodes: Fields, node: string) => objectOf(objectOf(nodes[node])?.["message"]);

const roleOf = (message: Fields | undefined): string => textOf(objectOf(message?.["author"])?.["role"]) ?? "";

/** The ids of a node and of those before it, the first one first. @param parent the field with the id of the one before. */
function branch(nodes: Fields, leaf: string | undefined, parent: string): string[] {
  const path = new Set<string>();
  for (let id = leaf; id !== undefined && Object.hasOwn(nodes, id) && !path.has(id);) {
    path.add(id);
    id = textOf(objectOf(nodes[id])?.[parent]);
  }
  return [...path].reverse();
}

/** A saved memory in the text that the service gives its model: `1. [2025-04-30]. Likes leeks.` */
const SAVED_MEMORY = /^\d{1,4}\. \[(\d{4}-\d\d-\d\d)\]\.? (\S.*)$/;

/**
 * Custom instructions, saved memories and canvas documents, which stand in hidden messages. Every conversation
 * repeats the first two; without a session and its time they are added once.
 */
function keptOutside(message: Fields, where: string): ImportItem[] {
  const content = objectOf(message["content"]) ?? {};
  const kept = (text: string, tag: string, occurred_at?: unknown): ImportItem[] => {
    const body = { content: text.trim(), tags: ["chatgpt", tag], metadata: { source: "chatgpt" } };
    return text.trim() === "" ? [] : [memory(where, { ...body, ...(occurred_at ? { occurred_at } : {}) })];
  };
  if (content["content_type"] === "user_editable_context")
    return ["user_profile", "user_instructions"].flatMap((name) =>
      kept(textOf(content[name]) ?? "", "custom-instructions"),
    );
  if (content["content_type"] === "model_editable_context")
    return (textOf(content["model_set_context"]) ?? "").split("\n").flatMap((line) => {
      const [, day, text = ""] = SAVED_MEMORY.exec(line.trim()) ?? [];
      return kept(text, "memory", day);
    });
  if (message["recipient"] !== "canmore.create_textdoc") return [];
  const canvas = objectOf(jsonOf(textIn(content))) ?? {};
  const text = [canvas["name"], canvas["content"]].flatMap((part) => textOf(part) ?? []).join("\n\n");
  return kept(text, "canvas", secondsTime(message["create_time"]));
}

function leftOut(message: Fields, { content_type: type = "text" }: Fields): string | undefined {
  if (!/^(?:user|assistant)$/.test(roleOf(message))) return "messages of the system and of tools";
  if ((textOf(message["recipient"]) ?? "all") !== "all") return "messages to tools";
  if (objectOf(message["metadata"])?.["is_visually_hidden_from_conversation"] === true)
    return "hidden messages";
  const isText = type === "text" || type === "multimodal_text" || type === "code";
  return isText ? undefined : "reasoning, results and other content";
}

const textOfPart = (part: unknown) => textOf(part) ?? textOf(objectOf(part)?.["text"]);

function textIn(content: Fields): string {
  const parts = listOf(content["parts"]);
  if (parts.length === 0) return textOf(content["text"]) ?? "";
  return parts.flatMap((part) => textOfPart(part) || []).join("\n\n");
}

/** Each time, or that of the one before, else of the next, else of the conversation: never the moment of the import. */
function filled<T>(times: readonly (T | undefined)[], usual: T | undefined): (T | undefined)[] {
  return times.map(
    (time, i) =>
      time ??
      times.slice(0, i).findLast((other) => other !== undefined) ??
      times.slice(i).find((other) => other !== undefined) ??
      usual,
  );
}

/** A model's thoughts, calls and runs before its answer, as Open WebUI writes them into the text. */
const MADE_OF =
  /<details type="(?:reasoning|tool_calls|code_interpreter)"[^>]{0,400}>(?:(?!<details)[\s\S]){0,100000}?<\/details>\s*/g;

/** A chat of Open WebUI: the branch that was shown last, else its list of messages. */
export function* readOpenWebui(
  entry: Fields,
  where: string,
  options: ConversationOptions,
): Generator<ImportItem> {
  const chat = objectOf(entry["chat"]) ?? {};
  const history = objectOf(chat["history"]) ?? {};
  const all = objectOf(history["messages"]) ?? {};
  const path = branch(all, textOf(history["currentId"]), "parentId");
  const shown = path.length > 0 ? path.map((each) => all[each]) : listOf(chat["messages"]);
  const messages = shown.map((one) => objectOf(one) ?? {});
  const id = textOf(entry["id"]) ?? textOf(chat["id"]);
  if (id === undefined) return yield faulty(where, "the conversation has no id");
  if (messages.length === 0) return yield skipped(where, "the conversation is empty");
  const times = filled(
    messages.map((message) => secondsTime(message["timestamp"])),
    secondsTime(entry["created_at"]) ?? secondsTime(entry["updated_at"]),
  );
  for (const [i, message] of messages.entries()) {
    const role = textOf(message["role"]) ?? "";
    const read: Message = {
      where: `${where}, message ${i + 1}`,
      id: textOf(message["id"]) ?? String(i),
      role,
      text: (textOf(message["content"]) ?? textIn({ parts: message["content"] }))
        .replaceAll(MADE_OF, "")
        .trim(),
      occurredAt: times[i],
      model: textOf(message["model"]),
      hasFiles:
        listOf(message["files"]).length > 0 ||
        listOf(message["content"]).some((part) => textOfPart(part) === undefined),
      leftOut: /^(?:user|assistant)$/.test(role) ? undefined : "messages of the system and of tools",
    };
    const title = textOf(entry["title"]) ?? textOf(chat["title"]);
    yield* readMessage("open-webui", { id, title }, read, options);
  }
}

/** Epoch milliseconds of a number of seconds. */
const secondsTime = (value: unknown): number | undefined =>
  typeof value === "number" && value > 0 ? Math.round(value * 1_000) : undefined;

/** A time that can be read. */
function readable(value: unknown): unknown {
  return parseTime(value) === undefined ? parseTime(timeOf(value)) : value;
}

/** A conversation of Claude, with the text that the service read from attached files. */
export function* readClaude(
  talk: Fields,
  where: string,
  options: ConversationOptions,
): Generator<ImportItem> {
  const id = textOf(talk["uuid"]);
  if (id === undefined) return yield faulty(where, "the conversation has no uuid");
  const messages = listOf(talk["chat_messages"]);
  if (messages.length === 0) return yield skipped(where, "the conversation is empty");
  const times = filled(
    messages.map((item) => readable(objectOf(item)?.["created_at"])),
    readable(talk["created_at"]) ?? readable(talk["updated_at"]),
  );
  for (const [i, item] of messages.entries()) {
    const message = objectOf(item) ?? {};
    const place = `${where}, message ${i + 1}`;
    const attached = listOf(message["attachments"]).map((file) => objectOf(file) ?? {});
    const texts = attached.flatMap(({ extracted_content: content, file_name: filename }) => {
      if (typeof content !== "string" || content.trim() === "") return [];
      const metadata = { source: "claude", ...(typeof filename === "string" && { filename }) };
      const occurred_at = times[i];
      return [memory(place, { content, tags: ["claude", "attachment"], occurred_at, metadata })];
    });
    yield* texts;
    const blocks = listOf(message["content"]).flatMap((block) => {
      const { type, text } = objectOf(block) ?? {};
      return type === "text" || type === "voice_note" ? textOf(text) || [] : [];
    });
    const read: Message = {
      where: place,
      id: textOf(message["uuid"]) ?? String(i),
      role: message["sender"] === "human" ? "user" : "assistant",
      text: blocks.length > 0 ? blocks.join("\n\n") : (textOf(message["text"]) ?? ""),
      occurredAt: times[i],
      hasFiles: attached.length + listOf(message["files"]).length > texts.length,
    };
    yield* readMessage("claude", { id, title: textOf(talk["name"]) }, read, options);
  }
}

/** Claude's memory of the user, in `memories.json`. */
export function* readClaudeMemories(memories: Fields, where: string): Generator<ImportItem> {
  const texts: [string | undefined, unknown][] = [
    [undefined, memories["conversations_memory"]],
    ...Object.entries(objectOf(memories["project_memories"]) ?? {}),
  ];
  for (const [project, content] of texts) {
    if (typeof content !== "string" || content.trim() === "") continue;
    const metadata = { source: "claude", ...(project !== undefined && { claude_project: project }) };
    yield memory(where, { content, tags: ["claude", "memory"], metadata });
  }
}

/** A project of `projects.json`: what it is for, and the texts that were put into it. */
export function* readClaudeProject(project: Fields, where: string): Generator<ImportItem> {
  const name = textOf(project["name"]) ?? "";
  const tags = ["claude", "project"];
  const metadata = { source: "claude", claude_project: textOf(project["uuid"]) ?? name, title: name };
  const occurred_at = project["created_at"];
  const about = [name, project["description"], project["prompt_template"]].flatMap(
    (part) => textOf(part)?.trim() || [],
  );
  if (about.length > 1) yield memory(where, { content: about.join("\n\n"), tags, occurred_at, metadata });
  for (const [i, item] of listOf(project["docs"]).entries()) {
    const { content, filename, created_at = occurred_at } = objectOf(item) ?? {};
    const place = `${where}, text ${i + 1}`;
    if (typeof content !== "string" || content.trim() === "") {
      yield skipped(place, "empty texts of projects");
      continue;
    }
    const named = { ...metadata, ...(typeof filename === "string" && { filename }) };
    yield memory(place, { content, tags, occurred_at: created_at, metadata: named });
  }
}
