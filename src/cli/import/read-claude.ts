import type { Fields } from "../../config/narrow.ts";
import { chatMessage } from "./chat-message.ts";
import { type ImportItem, listOf, objectOf, textOf, faulty, skipped } from "./import-item.ts";

/** The messages of one conversation of a Claude export: one memory a message. */
export function* readClaude(
  conversation: Fields,
  where: string,
  { onlyMine = false }: { readonly onlyMine?: boolean } = {},
): Generator<ImportItem> {
  const id = textOf(conversation["uuid"]);
  if (id === undefined) return yield faulty(where, "the conversation has no uuid");
  const title = textOf(conversation["name"]);
  const messages = listOf(conversation["chat_messages"]);
  if (messages.length === 0) return yield skipped(where, "the conversation is empty");

  for (const [i, item] of messages.entries()) {
    const message = objectOf(item) ?? {};
    const place = `${where}, message ${i + 1}`;
    const role = message["sender"] === "human" ? "user" : "assistant";
    if (onlyMine && role !== "user") {
      yield skipped(place, "answers (--only-mine)");
      continue;
    }
    const attached = listOf(message["attachments"]).flatMap((item) => attachmentOf(item, message, place));
    yield* attached;
    if (listOf(message["attachments"]).length + listOf(message["files"]).length > attached.length)
      yield skipped(place, "files attached to messages");
    const text = contentOf(message);
    if (text.trim() === "") {
      yield skipped(place, "empty messages");
      continue;
    }
    yield chatMessage(
      {
        service: "claude",
        role,
        text,
        conversationId: id,
        messageId: textOf(message["uuid"]) ?? String(i),
        title,
        occurredAt: message["created_at"] ?? conversation["created_at"],
      },
      place,
    );
  }
}

/** The text that the service read from an attached file, with the message's time. */
function attachmentOf(item: unknown, message: Fields, where: string): ImportItem[] {
  const { extracted_content: content, file_name: filename } = objectOf(item) ?? {};
  if (typeof content !== "string" || content.trim() === "") return [];
  const metadata = { source: "claude", ...(typeof filename === "string" && { filename }) };
  const body = { content, tags: ["claude", "attachment"], occurred_at: message["created_at"], metadata };
  return [{ kind: "memory", where, body }];
}

/** Memories that the user gave Claude, in `memories.json`. */
export function* readClaudeMemories(element: unknown, where: string): Generator<ImportItem> {
  const memories = objectOf(element) ?? {};
  const texts: [string | undefined, unknown][] = [
    [undefined, memories["conversations_memory"]],
    ...Object.entries(objectOf(memories["project_memories"]) ?? {}),
  ];
  for (const [project, text] of texts) {
    if (typeof text !== "string" || text.trim() === "") continue;
    const metadata = { source: "claude", ...(project !== undefined && { claude_project: project }) };
    yield { kind: "memory", where, body: { content: text, tags: ["claude", "memory"], metadata } };
  }
}

/** A project of `projects.json`: what it is for, and the texts that were put into it. */
export function* readClaudeProject(element: unknown, where: string): Generator<ImportItem> {
  const project = objectOf(element) ?? {};
  const name = textOf(project["name"]) ?? "";
  const metadata = { source: "claude", claude_project: textOf(project["uuid"]) ?? name, title: name };
  const about = [name, project["description"], project["prompt_template"]].flatMap(
    (part) => textOf(part)?.trim() || [],
  );
  if (about.length > 1) {
    const body = {
      content: about.join("\n\n"),
      tags: ["claude", "project"],
      occurred_at: project["created_at"],
      metadata,
    };
    yield { kind: "memory", where, body };
  }
  for (const [i, item] of listOf(project["docs"]).entries()) {
    const doc = objectOf(item) ?? {};
    const content = textOf(doc["content"]) ?? "";
    const place = `${where}, text ${i + 1}`;
    if (content.trim() === "") {
      yield skipped(place, "empty texts of projects");
      continue;
    }
    const filename = textOf(doc["filename"]);
    yield {
      kind: "memory",
      where: place,
      body: {
        content,
        tags: ["claude", "project"],
        occurred_at: doc["created_at"] ?? project["created_at"],
        metadata: { ...metadata, ...(filename !== undefined && { filename }) },
      },
    };
  }
}

function contentOf(message: Fields): string {
  const texts = listOf(message["content"]).flatMap((block) => {
    const { type, text } = objectOf(block) ?? {};
    return type === "text" && typeof text === "string" && text !== "" ? [text] : [];
  });
  return texts.length > 0 ? texts.join("\n\n") : (textOf(message["text"]) ?? "");
}
