import { type AgentContext, writtenBy } from "./agent-context.ts";

const PAGE = 1_000;

/**
 * Stores something as one add of the client. What fails, or brings nothing new, does not count.
 * @throws {ServiceError} RATE_LIMITED, before `store` is called; else as that.
 */
export async function countedAdd<T extends { readonly deduplicated: boolean }>(
  context: AgentContext,
  store: () => Promise<T>,
): Promise<T> {
  const giveBack = await context.allowance.take(await context.adder(), (since) => addedSince(context, since));
  try {
    const stored = await store();
    if (stored.deduplicated) giveBack();
    return stored;
  } catch (error) {
    giveBack();
    throw error;
  }
}

/**
 * When the client added what the caller can see of it: a note or a fact each, a document once. What clients of the same
 * name added with other keys counts too, since keys are not kept with what they brought.
 */
async function addedSince(
  { operations, allowance, ...context }: AgentContext,
  since: number,
): Promise<readonly number[]> {
  const { facts } = operations.findFacts({
    ...writtenBy(context),
    recordedFrom: since,
    limit: allowance.perHour,
  });
  const times = facts.map(({ recordedAt }) => recordedAt);
  const documents = new Set<string>();
  const filter = { ...writtenBy(context), createdFrom: since };
  for (let before: number | undefined; times.length < allowance.perHour + facts.length;) {
    const page = { limit: PAGE, offset: 0, ...(before !== undefined && { before }) };
    const { items, nextBefore } = await operations.listMemories({ filter, ...page });
    for (const { createdAt, source } of items) {
      if (source !== null && documents.has(source.documentId)) continue;
      if (source !== null) documents.add(source.documentId);
      times.push(createdAt);
    }
    if (nextBefore === undefined) break;
    before = nextBefore;
  }
  return times;
}
