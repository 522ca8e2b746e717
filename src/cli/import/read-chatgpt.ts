import type { Fields } from "../../config/narrow.ts";
import { chatMessage } from "./chat-message.ts";
import { jsonOf } from "../../files/own-files.ts";
import { type ImportItem, listOf, objectOf, textOf, faulty, skipped } from "./import-item.ts";

export interface ConversationOptions {
  /** Import edited and regenerated messages too, not only the branch that was shown last. */
  readonly allBranches: boolean;
  /** Import the person's own lines only, no answers. */
  readonly onlyMine?: boolean;
  /** Keep a user that a service made up, too. */
  readonly keepUsers?: boolean;
}

/** The messages of one conversation of a ChatGPT export: one memory a message of user or assistant. */
export function* readChatGpt(
  conversation: Fields,
  where: string,
  { allBranches, onlyMine = false }: ConversationOptions,
): Generator<ImportItem> {
  const mapping = objectOf(conversation["mapping"]) ?? {};
  const id = textOf(conversation["conversation_id"]) ?? textOf(conversation["id"]);
  if (id === undefined) return yield faulty(where, "the conversation has no id");
  const title = textOf(conversation["title"]);
  const nodes = allBranches ? Object.keys(mapping) : branch(mapping, textOf(conversation["current_node"]));
  if (nodes.length === 0) return yield skipped(where, "the conversation is empty");
  const shown = new Set(nodes);
  for (const [node, value] of Object.entries(mapping)) {
    const role = shown.has(node) ? "" : roleOf(objectOf(objectOf(value)?.["message"]));
    if (role === "user" || role === "assistant")
      yield skipped(where, "messages of other branches; --all-branches takes them");
  }

  for (const [i, node] of nodes.entries()) {
    const message = objectOf(objectOf(mapping[node])?.["message"]);
    if (message === undefined) continue;
    const place = `${where}, message ${i + 1}`;
    const role = roleOf(message);
    const kept = keptOutside(message, place);
    if (kept.length > 0) {
      yield* kept;
      continue;
    }
    const reason =
      leftOut(message, role) ?? (onlyMine && role !== "user" ? "answers (--only-mine)" : undefined);
    if (reason !== undefined) {
      yield skipped(place, reason);
      continue;
    }
    const { text, others } = contentOf(objectOf(message["content"]) ?? {});
    if (others > 0) yield skipped(place, "images, sound and files in messages");
    if (text.trim() === "") {
      if (others === 0) yield skipped(place, "empty messages");
      continue;
    }
    yield chatMessage(
      {
        service: "chatgpt",
        role,
        text,
        conversationId: id,
        messageId: textOf(message["id"]) ?? node,
        title,
        occurredAt: secondsTime(message["create_time"]) ?? secondsTime(conversation["create_time"]),
        model: textOf(objectOf(message["metadata"])?.["model_slug"]),
      },
      place,
    );
  }
}

const roleOf = (message: Fields | undefined): string => textOf(objectOf(message?.["author"])?.["role"]) ?? "";

/** A saved memory in the text that the service gives its model: `1. [2025-04-30]. Likes leeks.` */
const SAVED_MEMORY = /^\d{1,4}\. \[(\d{4}-\d\d-\d\d)\]\.? (\S.*)$/;

/**
 * Custom instructions, saved memories and canvas documents, which stand in messages that nobody saw. Every conversation
 * repeats the first two; without a session and its time they are added once.
 */
function keptOutside(message: Fields, where: string): ImportItem[] {
  const content = objectOf(message["content"]) ?? {};
  const memory = (text: string, tag: string, occurredAt?: unknown): ImportItem[] =>
    text.trim() === ""
      ? []
      : [
          {
            kind: "memory",
            where,
            body: {
              content: text.trim(),
              tags: ["chatgpt", tag],
              metadata: { source: "chatgpt" },
              ...(occurredAt !== undefined && { occurred_at: occurredAt }),
            },
          },
        ];
  if (content["content_type"] === "user_editable_context")
    return ["user_profile", "user_instructions"].flatMap((name) =>
      memory(textOf(content[name]) ?? "", "custom-instructions"),
    );
  if (content["content_type"] === "model_editable_context")
    return (textOf(content["model_set_context"]) ?? "").split("\n").flatMap((line) => {
      const [, day, text = ""] = SAVED_MEMORY.exec(line.trim()) ?? [];
      return memory(text, "memory", day);
    });
  if (message["recipient"] !== "canmore.create_textdoc") return [];
  const canvas = objectOf(jsonOf(contentOf(content).text));
  const parts = [textOf(canvas?.["name"]), textOf(canvas?.["content"])];
  return memory(
    parts.flatMap((part) => part ?? []).join("\n\n"),
    "canvas",
    secondsTime(message["create_time"]),
  );
}

function branch(mapping: Fields, current: string | undefined): string[] {
  const ids = Object.keys(mapping);
  // Old exports name no current node: the last message that nothing follows.
  const leaf = current ?? ids.findLast((id) => listOf(objectOf(mapping[id])?.["children"]).length === 0);
  const path = new Set<string>();
  for (let id = leaf; id !== undefined && Object.hasOwn(mapping, id) && !path.has(id);) {
    path.add(id);
    id = textOf(objectOf(mapping[id])?.["parent"]);
  }
  return [...path].reverse();
}

function leftOut(message: Fields, role: string): string | undefined {
  if (role !== "user" && role !== "assistant") return "messages of the system and of tools";
  const recipient = textOf(message["recipient"]) ?? "all";
  if (recipient !== "all") return "messages to tools";
  if (objectOf(message["metadata"])?.["is_visually_hidden_from_conversation"] === true)
    return "hidden messages";
  const type = textOf(objectOf(message["content"])?.["content_type"]) ?? "text";
  return ["text", "multimodal_text", "code"].includes(type)
    ? undefined
    : "reasoning, results and other content";
}

function contentOf(content: Fields): {
  readonly text: string;
  readonly others: number;
} {
  const parts = listOf(content["parts"]);
  const texts = parts.flatMap((part) => {
    const text = textOf(part) ?? textOf(objectOf(part)?.["text"]);
    return text === undefined || text === "" ? [] : [text];
  });
  const others = parts.filter(
    (part) => objectOf(part) !== undefined && textOf(objectOf(part)?.["text"]) === undefined,
  );
  if (parts.length === 0) return { text: textOf(content["text"]) ?? "", others: 0 };
  return { text: texts.join("\n\n"), others: others.length };
}

/** Epoch milliseconds of a number of seconds. */
const secondsTime = (value: unknown): number | undefined =>
  typeof value === "number" && value > 0 ? Math.round(value * 1_000) : undefined;
