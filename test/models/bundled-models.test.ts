import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { SETTINGS_SCHEMA } from "../../src/config/settings-schema.ts";
import { stampKey } from "../../src/core/embedding.ts";
import { BUNDLED_MODELS, readVerified } from "../../src/models/bundled-models.ts";

it("are named by the setting, the default of new stores first", () => {
  expect(BUNDLED_MODELS[0]?.name).toBe(SETTINGS_SCHEMA.model.default);
  for (const { name } of BUNDLED_MODELS) expect(SETTINGS_SCHEMA.model.description).toContain(name);
});

it("make vectors of unlike stamps", () => {
  expect(new Set(BUNDLED_MODELS.map(({ stamp }) => stampKey(stamp))).size).toBe(BUNDLED_MODELS.length);
});

it.each(
  BUNDLED_MODELS.flatMap(({ name, files }) =>
    Object.entries(files).map(([part, file]) => ({ name, part, file })),
  ),
)("$name ships the $part it was measured with", async ({ file }) => {
  expect(
    createHash("sha256")
      .update(await readVerified(file))
      .digest("hex"),
  ).toBe(file.sha256);
});
