import { createHash } from "node:crypto";
import { v7 } from "uuid";
import type { Clock, IdSource } from "../core/ports.ts";

export const systemClock: Clock = { now: Date.now };

export const uuidSource: IdSource = { newId: (now) => v7({ msecs: now }) };

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
