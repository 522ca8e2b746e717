import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stampKey } from "../../src/core/embedding.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { createModelService } from "../../src/daemon/model-service.ts";
import { createLogger } from "../../src/daemon/system.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import type { ModelEmbedder } from "../../src/models/onnx-embedder.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

let store: StoreOnDisk;
beforeEach(async () => {
  store = await createStoreOnDisk();
});
afterEach(async () => {
  await store.close();
  store.removeDirectory();
});

it("refuses a change where the disk has no room for all vectors once more, and changes nothing", async () => {
  await addMemory(store.ports, { content: "The spare key lies under the flower pot" });
  await store.opened.checkpointer.flush();
  const { checkpointer } = store.opened;
  const full = new Proxy(checkpointer, {
    // Just more than any disk has.
    get: (target, name) =>
      name === "roomNeeded" ? Number.MAX_SAFE_INTEGER / 2 : (Reflect.get(target, name, target) as unknown),
  });
  const embedder: ModelEmbedder = {
    ...store.ports.embedder,
    name: MINILM.name,
    dimensions: 384,
    modelSha256: "",
    waiting: 0,
    workers: 0,
    close: async () => {},
  };
  const stamps = () => Object.keys(checkpointer.latest?.stamps ?? {});
  const before = stamps();
  const service = createModelService({
    dataDir: store.directory,
    opened: { store: store.opened.store, checkpointer: full },
    model: MINILM,
    embedder,
    log: createLogger("silent"),
  });
  await expect(service.use("memoryd-e5-small-2")).rejects.toMatchObject({
    code: "STORE_FULL",
    message: expect.stringMatching(/no room to embed all memories again \(\d+ MB free, \d+ MB needed\)/),
  });
  expect(existsSync(join(store.directory, "MODEL"))).toBe(false);
  expect(stamps()).toEqual(before);
  expect(stampKey(service.embedder.stamp)).toBe(before[0]);
  expect((await service.list()).migration).toBeNull();
  await expect(service.use("no-such-model")).rejects.toThrow('There is no model "no-such-model"');
  await service.stop();
});
