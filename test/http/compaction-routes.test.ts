import { expect, it } from "vitest";
import { createTestServer } from "../support/test-server.ts";

it("A purge that runs already does not replace backups, and a request for that is refused", async () => {
  const asked: unknown[] = [];
  let started = true;
  const { app, post } = createTestServer(
    {},
    {
      compaction: {
        start: (options) => (asked.push(options), started),
        status: () => ({}),
        purgeWithBackups: async () => ({ made: null, removed: 0, remaining: 0 }),
      },
    },
  );
  expect((await post("/compact?backups=true", "")).statusCode).toBe(202);
  started = false;
  expect((await post("/compact", "")).json()).toMatchObject({ started: false });
  expect((await post("/compact?backups=true", "")).json()).toMatchObject({ code: "CONFLICT" });
  expect(asked).toEqual([true, false, true].map((renewsBackups) => ({ renewsBackups })));
  await app.close();
});
