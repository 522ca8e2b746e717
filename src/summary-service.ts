import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "./config.ts";
import type { MemoryPorts } from "./core/memories/memory-ports.ts";
import { UserSummaries } from "./core/users/user-summaries.ts";
import type { Logger } from "./log.ts";
import { createChatSummaryWriter } from "./models/chat-summary-writer.ts";

/** The part of the daemon that makes summaries of users. */
export interface SummaryService {
  readonly summaries: UserSummaries;
  /** Makes no more unasked. */
  close(): void;
}

/** How often it is looked for users with many changes, and so how long these must have rested. */
const LOOK_EVERY_MS = 30_000;

export function openSummaryService(
  { summaryLlmUrl, summaryLlmModel, summaryLlmKey }: Config,
  { store, facts, clock }: Pick<MemoryPorts, "store" | "facts" | "clock">,
  { log, isBusy }: { readonly log: Logger; readonly isBusy: () => boolean },
): SummaryService {
  const summaries = new UserSummaries({
    store,
    facts,
    clock,
    nextTurn: () => nextTurn(),
    ...(summaryLlmUrl !== "" && {
      summaryWriter: createChatSummaryWriter({
        url: summaryLlmUrl,
        model: summaryLlmModel,
        key: summaryLlmKey,
        report: (reason) => log.warn({ reason }, "summary not written by the language model"),
      }),
    }),
  });
  const timer = setInterval(() => {
    if (isBusy()) return;
    summaries.refreshOne().catch((error: unknown) => log.warn({ err: error }, "summary not made"));
  }, LOOK_EVERY_MS).unref();
  return { summaries, close: () => clearInterval(timer) };
}
