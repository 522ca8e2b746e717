import { expect, it } from "vitest";
import { createTestServer, FAKE_INSPECTION } from "../support/test-server.ts";

it("shows the settings and where each comes from", async () => {
  const { get } = createTestServer();
  expect((await get("/settings")).json()).toEqual({
    items: FAKE_INSPECTION.items,
    secrets: FAKE_INSPECTION.secrets,
    config_file: "/etc/memoryd.json",
    agent_adds_per_hour: 200,
    requests_per_minute: null,
  });
});

it("shows the end of the log, of a level and above", async () => {
  const { get } = createTestServer();
  expect((await get("/logs?l=5&level=warn")).json()).toEqual({
    file: "/data/memoryd.log",
    items: [{ at: "1970-01-01T00:00:00.000Z", level: "warn", message: "ready", details: { port: 1 } }],
    has_more: false,
  });
  expect((await get("/logs")).statusCode).toBe(200);
  for (const query of ["l=0", "l=1001", "level=loud", "lines=5"])
    expect((await get(`/logs?${query}`)).statusCode).toBe(400);
});
