import type { EvalMemory } from "./data-sets.ts";
import type { EvalQuestion, Scored } from "./metrics.ts";

/** Memories of one request, well under the contract's thousand. */
const BATCH = 200;
const TIMEOUT_MS = 300_000;
const RELATED_AT_ONCE = 8;

/** A running daemon that holds a data set; ids are the data set's. */
export interface HttpRetriever {
  /** The first `k`, best first. */
  ask(question: EvalQuestion, k: number): Promise<Scored[]>;
  /** How many waypoints lead from the memories, by kind. */
  countWaypoints(): Promise<ReadonlyMap<string, number>>;
}

/**
 * Adds memories to a running daemon as a client would, in order. Resolves when every memory was acknowledged.
 *
 * @param base such as `http://127.0.0.1:8080`
 */
export async function httpRetriever(base: string, memories: readonly EvalMemory[]): Promise<HttpRetriever> {
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
  return {
    async ask({ text, userId }, k) {
      const { matches } = await post<{ matches: Scored[] }>(`${base}/memory/query`, {
        query: text,
        user_id: userId,
        k,
      });
      return matches.map(({ id, score }) => ({ id: idOf.get(id) ?? id, score }));
    },
    async countWaypoints() {
      const kinds = new Map<string, string>();
      const ids = [...idOf.keys()];
      for (let start = 0; start < ids.length; start += RELATED_AT_ONCE) {
        const part = ids.slice(start, start + RELATED_AT_ONCE);
        const answers = await Promise.all(
          part.map((id) => get<Related>(`${base}/memory/${id}/related?depth=1`)),
        );
        for (const { source, target, kind } of answers.flatMap(({ edges }) => edges))
          kinds.set(`${source} ${kind} ${target}`, kind);
      }
      const counts = new Map<string, number>();
      for (const kind of kinds.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
  };
}

interface Related {
  readonly edges: readonly { readonly source: string; readonly target: string; readonly kind: string }[];
}

function post<T>(url: string, body: object): Promise<T> {
  return answerOf(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function get<T>(url: string): Promise<T> {
  return answerOf(url, {});
}

async function answerOf<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
