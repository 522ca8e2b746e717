import { expect, it } from "vitest";
import { createTestServer } from "../support/test-server.ts";

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
interface Metric {
  readonly type: string;
  readonly samples: Map<string, Sample[]>;
}

/** Reads the text format and throws at whatever Prometheus would refuse, or warn of. */
function parse(text: string): Map<string, Metric> {
  const metrics = new Map<string, Metric>();
  const seen = new Set<string>();
  let helped = "";
  let current: [string, Metric] | undefined;
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-z_]+) [^\\]+$/.exec(line);
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line);
    const [, name = "", labelText = "", valueText = ""] =
      /^([a-z_]+)(\{(?:[a-z]+="[^"\\]*",?)*\})? (\S+)$/.exec(line) ?? [];
    if (help !== null) helped = help[1] ?? "";
    else if (type !== null) {
      expect([helped, metrics.has(helped)]).toEqual([type[1], false]);
      current = [helped, { type: type[2] ?? "", samples: new Map() }];
      metrics.set(...current);
    } else {
      const [family = "", metric] = current ?? [];
      const suffixes = metric?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      expect(suffixes.map((suffix) => family + suffix)).toContain(name);
      expect(seen.has(name + labelText)).toBe(false);
      seen.add(name + labelText);
      const value = Number(valueText);
      expect(Number.isFinite(value)).toBe(true);
      const labels = Object.fromEntries(
        [...labelText.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, label = "", content = ""]) => [
          label,
          content,
        ]),
      );
      metric?.samples.set(name, [...(metric.samples.get(name) ?? []), { labels, value }]);
    }
  }
  return metrics;
}

it("has requests by route and status with their seconds, and the state of the store", async () => {
  const { app, get, post } = createTestServer();
  for (let i = 0; i < 3; i += 1) await get("/memory/all?user_id=canary-user");
  await post("/memory/add", { content: "canary-text", user_id: "canary-user", tags: ["canary-tag"] });
  await get("/memory/all?canary-name=1");
  await get("/users/canary-user/summary");
  await get("/canary-path");
  const answer = await get("/metrics");
  expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(answer.body).not.toMatch(/canary|store-1|\/data\b|instance-1|MiniLM/);

  const metrics = parse(answer.body);
  const valueOf = (name: string, labels: Record<string, string> = {}) =>
    metrics
      .get(`memoryd_${name}`)
      ?.samples.get(`memoryd_${name}`)
      ?.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
  const requests = (method: string, route: string, status: string) =>
    valueOf("http_requests_total", { method, route, status });
  expect(requests("GET", "/memory/all", "200")).toBe(3);
  expect(requests("GET", "/memory/all", "400")).toBe(1);
  expect(requests("POST", "/memory/add", "200")).toBe(1);
  expect(requests("GET", "/users/:user_id/summary", "200")).toBe(1);
  expect(requests("", "", "404")).toBe(1);
  expect(valueOf("memories")).toBe(3);
  expect(valueOf("jobs", { state: "waiting" })).toBe(0);
  expect(valueOf("journal_bytes")).toBe(2_000);
  expect(valueOf("checkpoints_total")).toBe(5);
  expect(valueOf("records_total")).toBe(7);
  expect(valueOf("ready")).toBe(1);

  const { samples } = metrics.get("memoryd_http_request_duration_seconds") ?? {
    samples: new Map<string, Sample[]>(),
  };
  const ofList = (name: string) =>
    samples
      .get(`memoryd_http_request_duration_seconds_${name}`)
      ?.filter(({ labels }) => labels["route"] === "/memory/all") ?? [];
  const buckets = ofList("bucket").map(({ labels, value }) => [
    Number(labels["le"]?.replace("+Inf", "Infinity")),
    value,
  ]);
  expect(buckets).toEqual(buckets.toSorted(([a = 0], [b = 0]) => a - b));
  expect(buckets.map(([, value]) => value)).toEqual(
    buckets.map(([, value = 0]) => value).toSorted((a, b) => a - b),
  );
  expect(buckets.at(-1)).toEqual([Infinity, 4]);
  expect(ofList("count")[0]?.value).toBe(4);
  expect(ofList("sum")[0]?.value).toBeGreaterThan(0);
  await app.close();
});
