import { chatMessage } from "./chat-message.ts";
import { type ImportItem, listOf, objectOf, textOf, faulty, skipped } from "./import-item.ts";

export interface ConversationOptions {
  /** Import edited and regenerated messages too, not only the branch that was shown last. */
  readonly allBranches: boolean;
  /** Keep a user that a service made up, too. */
  readonly keepUsers?: boolean;
}

/** The messages of one conversation of a ChatGPT export: one memory a message of user or assistant. */
export function* readChatGpt(
  conversation: Readonly<Record<string, unknown>>,
  where: string,
  { allBranches }: ConversationOptions,
): Generator<ImportItem> {
  const mapping = objectOf(conversation["mapping"]) ?? {};
  const id = textOf(conversation["conversation_id"]) ?? textOf(conversation["id"]);
  if (id === undefined) return yield faulty(where, "the conversation has no id");
  const title = textOf(conversation["title"]);
  const nodes = allBranches ? Object.keys(mapping) : branch(mapping, textOf(conversation["current_node"]));
  if (nodes.length === 0) return yield skipped(where, "the conversation is empty");

  for (const [i, node] of nodes.entries()) {
    const message = objectOf(objectOf(mapping[node])?.["message"]);
    if (message === undefined) continue;
    const place = `${where}, message ${i + 1}`;
    const role = textOf(objectOf(message["author"])?.["role"]) ?? "";
    const reason = leftOut(message, role);
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

function branch(mapping: Readonly<Record<string, unknown>>, current: string | undefined): string[] {
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

function leftOut(message: Readonly<Record<string, unknown>>, role: string): string | undefined {
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

function contentOf(content: Readonly<Record<string, unknown>>): {
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
function secondsTime(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? Math.round(value * 1_000) : undefined;
}
