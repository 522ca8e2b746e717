/** When the client sends again, and when it gives up. */
import { expect, it } from "vitest";
import { type ClientOptions, createClient, type MemorydClient } from "../../src/client/client.ts";

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}
type Answer = Response | Error | "never";

/** A client that gets these answers, one a request. */
function clientWith(
  answers: readonly Answer[],
  options: ClientOptions = {},
): { readonly client: MemorydClient; readonly sent: readonly Sent[] } {
  const sent: Sent[] = [];
  const send: typeof fetch = async (input, init) => {
    sent.push({
      url: input as string,
      headers: new Headers(init?.headers),
      body: typeof init?.body === "string" ? init.body : "",
    });
    const answer = answers[sent.length - 1];
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return await new Promise((_, fail) => {
      init?.signal?.addEventListener("abort", () => fail(init.signal?.reason as Error));
    });
  };
  return { client: createClient({ ...options, fetch: send }), sent };
}

const ok = () => Response.json({ id: "1" });
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ code, detail: "So it is.", status }, { status, headers });
const lost = () => new TypeError("fetch failed");
const keys = (sent: readonly Sent[]) => sent.map(({ headers }) => headers.get("idempotency-key"));

it("sends a write again after a lost answer, under one key", async () => {
  const { client, sent } = clientWith([lost(), problem(409, "CONFLICT", { "retry-after": "0" }), ok(), ok()]);
  await client.memories.add({ content: "Tea." });
  expect(sent).toHaveLength(3);
  const [key] = keys(sent);
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(keys(sent))).toEqual(new Set([key]));
  await client.memories.add({ content: "Tea." });
  expect(keys(sent)[3]).not.toBe(key);
});

it("takes a key of the caller's", async () => {
  const { client, sent } = clientWith([ok()]);
  await client.facts.record({ subject: "a", predicate: "b", object: "c" }, { idempotencyKey: "mine" });
  expect(keys(sent)).toEqual(["mine"]);
});

it("waits for a busy daemon as long as it says, but not for ever", async () => {
  const busy = () => problem(429, "RATE_LIMITED", { "retry-after": "0" });
  const { client, sent } = clientWith([busy(), problem(503, "NOT_READY"), ok()]);
  await client.memories.delete("1");
  expect(sent).toHaveLength(3);

  const longer = clientWith([problem(429, "RATE_LIMITED", { "retry-after": "3600" })]);
  await expect(longer.client.sectors()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3_600 });

  const stubborn = clientWith([busy(), busy(), busy()], { retries: 2 });
  await expect(stubborn.client.sectors()).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(stubborn.sent).toHaveLength(3);
});

it("sends no change or deletion again after a lost answer, and nothing that was refused", async () => {
  for (const call of [
    (client: MemorydClient) => client.memories.update("1", { tags: [] }),
    (client: MemorydClient) => client.memories.delete("1"),
    (client: MemorydClient) => client.documents.delete("1"),
  ]) {
    const { client, sent } = clientWith([lost(), ok()]);
    await expect(call(client)).rejects.toMatchObject({ code: "UNREACHABLE", status: 0 });
    expect(sent).toHaveLength(1);
  }
  const refused = clientWith([problem(409, "CONFLICT"), ok()]);
  await expect(refused.client.memories.add({ content: "x" })).rejects.toMatchObject({ detail: "So it is." });
});

it("ends in time, and at once when its signal says so", async () => {
  await expect(clientWith(["never"], { timeoutMs: 20 }).client.sectors()).rejects.toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining("20 ms"),
  });
  await expect(clientWith(["never"]).client.sectors({}, { timeoutMs: 20 })).rejects.toMatchObject({
    code: "TIMEOUT",
  });
  const reason = new Error("changed my mind");
  const ended = clientWith([ok()]);
  await expect(ended.client.sectors({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(ended.sent).toEqual([]);
  const stop = new AbortController();
  const waiting = clientWith(["never"]).client.sectors({}, { signal: stop.signal });
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  // Also while it waits for a further try.
  const second = new AbortController();
  const pausing = clientWith([problem(429, "RATE_LIMITED", { "retry-after": "20" })]).client.sectors(
    {},
    { signal: second.signal },
  );
  setTimeout(() => second.abort(reason), 10);
  await expect(pausing).rejects.toBe(reason);
});

it("says so when something else answers", async () => {
  const page = () => {
    const response = new Response("<h1>Welcome</h1>", { status: 200 });
    Object.defineProperty(response, "url", { value: "http://127.0.0.1:8080/sectors" });
    return response;
  };
  await expect(clientWith([page()]).client.sectors()).rejects.toMatchObject({
    code: "BAD_ANSWER",
    status: 200,
  });
  await expect(
    clientWith([new Response("no", { status: 404 })]).client.memories.get("1"),
  ).rejects.toMatchObject({ code: "BAD_ANSWER", status: 404 });
});

it("encodes what stands in an address, and leaves out what is not given", async () => {
  const { client, sent } = clientWith([ok(), ok()], { url: "http://host/base/" });
  await client.memories.get("a/b?c", { user_id: "ann & bob" });
  expect(sent[0]?.url).toBe("http://host/base/memory/a%2Fb%3Fc?user_id=ann+%26+bob");
  await client.facts.current({ subject: "a", predicate: "b" });
  expect(sent[1]?.url).toBe("http://host/base/api/temporal/fact/current?subject=a&predicate=b");
});

it("says what keeps a call from being sent, and leaves no timer", async () => {
  const faults: [ClientOptions, RegExp][] = [
    [
      { url: "localhost:9850" },
      /begins with http:\/\/ or https:\/\/, such as .*; got localhost:9850; nothing was sent/,
    ],
    [{ clientName: "Иван" }, /clientName must be printable ASCII; got Иван/],
    [{ apiKey: "mk_secret–" }, /^The key has signs that no key has; nothing was sent\.$/],
  ];
  for (const [options, message] of faults) {
    const { client, sent } = clientWith([ok()], options);
    await expect(client.memories.get("1")).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(message) as string,
    });
    expect(sent).toEqual([]);
  }
  const { client, sent } = clientWith([ok()], { apiKey: "mk_key\n" });
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await expect(client.call({ method: "POST", path: "/x", body: { big: 1n } })).rejects.toThrow(
    /cannot be sent as JSON \(.*BigInt.*\); nothing was sent/,
  );
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(timers);
  await client.memories.get("1");
  expect(sent).toHaveLength(1);
});
