import { expect, it } from "vitest";
import { createTestServer, FAKE_MODELS } from "../support/test-server.ts";

it("lists the models and how far a change is, and begins one", async () => {
  const { get, post } = createTestServer();
  expect((await get("/models")).json()).toEqual(FAKE_MODELS);
  const used = await post("/models/use", { name: "new" });
  expect([used.statusCode, used.json().migration.to]).toEqual([202, "new"]);
  for (const body of [{}, { name: "" }, { name: 5 }])
    expect((await post("/models/use", body)).statusCode).toBe(400);
});
