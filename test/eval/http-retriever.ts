import type { EvalMemory } from "./data-sets.ts";
import type { EvalQuestion, Retriever } from "./metrics.ts";

/** Memories of one request, well under the contract's thousand. */
const BATCH = 200;
const TIMEOUT_MS = 300_000;

/**
 * Adds memories to a running daemon as a client would, in order, and asks it: the ids that it answers with are the
 * data set's. Resolves when every memory was acknowledged.
 *
 * @param base such as `http://127.0.0.1:8080`
 */
export async function httpRetriever(
  base: string,
  memories: readonly EvalMemory[],
  k = 20,
): Promise<Retriever> {
  const idOf = new Map<string, string>();
  for (let start = 0; start < memories.length; start += BATCH) {
    const part = memories.slice(start, start + BATCH);
    const { results } = await post<{ results: { id?: string }[] }>(`${base}/memory/add/batch`, {
      memories: part.map(({ content, userId, sessionId, occurredAt }) => ({
        content,
        user_id: userId,
        session_id: sessionId,
        occurred_at: new Date(occurredAt).toISOString(),
      })),
    });
    for (const [i, { id }] of results.entries()) {
      const memory = part[i];
      if (id === undefined || memory === undefined) throw new Error("a memory was not accepted");
      // The same text said twice in a session is one memory to the daemon: its first id stands for both.
      if (!idOf.has(id)) idOf.set(id, memory.id);
    }
  }
  return async ({ text, userId }: EvalQuestion) => {
    const { matches } = await post<{ matches: { id: string }[] }>(`${base}/memory/query`, {
      query: text,
      user_id: userId,
      k,
    });
    return matches.map(({ id }) => idOf.get(id) ?? id);
  };
}

async function post<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
