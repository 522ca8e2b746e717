import { createHash } from "node:crypto";
import type { ImportItem } from "./import-item.ts";

export interface ChatMessage {
  readonly service: "chatgpt" | "claude";
  readonly role: string;
  readonly text: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly title: string | undefined;
  readonly occurredAt: unknown;
  readonly model?: string | undefined;
}

const MAX_SESSION_CHARS = 256;

/** Marks of citations, which only the service can follow. */
const CITATION = /\ue200[^\ue200\ue201]{0,400}\ue201|【\d{1,4}[^【】]{0,20}†[^【】]{0,200}】/gu;

/** One memory a message, one session a conversation. */
export function chatMessage(message: ChatMessage, where: string): ImportItem {
  const { service, role, text, conversationId, messageId, title, occurredAt, model } = message;
  return {
    kind: "memory",
    where,
    body: {
      content: text.replaceAll(CITATION, ""),
      tags: [service, role],
      session_id: sessionId(service, conversationId),
      occurred_at: occurredAt,
      metadata: {
        source: service,
        role,
        conversation_id: conversationId,
        message_id: messageId,
        ...(title !== undefined && title !== "" && { title }),
        ...(model !== undefined && { model }),
      },
    },
  };
}

/** An id that is too long to be a session's goes in as its hash. */
function sessionId(service: string, id: string): string {
  const plain = `${service}:${id}`;
  if (plain.length <= MAX_SESSION_CHARS) return plain;
  return `${service}:${createHash("sha256").update(id).digest("hex")}`;
}
