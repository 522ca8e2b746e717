/** The tools on documents. */
import type { JobView } from "../core/documents/ingest-jobs.ts";
import { ServiceError } from "../core/errors.ts";
import type { AgentToolInput } from "../schemas/agent-tools.ts";
import { type AgentContext, writeScope, countedAdd } from "./agent-context.ts";
import { shortId } from "./notes.ts";
import { refuseSecrets } from "../core/text/find-secret.ts";
import { present } from "../schemas/wire.ts";

/** How long a call waits for its document; agents give up a call after a minute or so. */
const WAIT_MS = 40_000;

export async function ingestText(
  context: AgentContext,
  input: AgentToolInput<"ingest_text">,
): Promise<string> {
  refuseSecrets(input.allow_secret, [input.text, input.title ?? ""]);
  const { documents } = context;
  return ingest(context, async () => {
    const incoming = await documents.receiveFile();
    try {
      await incoming.write(new TextEncoder().encode(input.text));
      const file = await incoming.keep();
      return await documents.ingest({
        original: { file },
        claimedType: "md",
        ...present({ tags: input.tags, metadata: input.title ? { title: input.title } : undefined }),
        ...writeScope(context),
      });
    } finally {
      await incoming.discard();
    }
  });
}

export async function ingestUrl(context: AgentContext, input: AgentToolInput<"ingest_url">): Promise<string> {
  return ingest(context, () =>
    context.documents.ingest({
      original: { url: input.url },
      publicOnly: true,
      ...present({ tags: input.tags }),
      ...writeScope(context),
    }),
  );
}

async function ingest(context: AgentContext, submit: () => Promise<JobView>): Promise<string> {
  const { job } = await countedAdd(context, async () => {
    const { id } = await submit();
    const seen = await context.documents.awaitJob({ id: id }, AbortSignal.timeout(WAIT_MS));
    if (seen.problem !== undefined) throw new ServiceError(seen.problem.code, seen.problem.message);
    return { job: seen, deduplicated: seen.result?.deduplicated ?? false };
  });
  return outcome(job);
}

function outcome(job: JobView): string {
  if (job.result === undefined)
    return job.status === "cancelled"
      ? "The job was cancelled; nothing was stored."
      : `Still being ingested, as job ${job.id}. It will be found by memory_search when it is done.`;
  const { document, memoryIds, deduplicated } = job.result;
  const stored = deduplicated ? "Nothing new: the same document is there already" : "Stored";
  const notes = `${memoryIds.length} ${memoryIds.length === 1 ? "note" : "notes"}`;
  return `${stored}: document=${document.id}, ${notes}; memory_delete ${shortId(document.rootMemoryId)} removes it.`;
}
