import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stampKey } from "../../src/core/embedding.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { createModelService, openModel } from "../../src/daemon/model-service.ts";
import { createLogger } from "../../src/daemon/system.ts";
import { FORMER_E5, GONE_MODELS, MEMORYD_E5, MINILM } from "../../src/models/bundled-models.ts";
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

it("puts the default in the place of a model that no longer ships, whatever was wanted, and says so", async () => {
  const [sha256 = "", name = ""] = [...GONE_MODELS][0] ?? [];
  const gone = { ...FORMER_E5.stamp, model: sha256 };
  const cases = [
    { stored: gone, wanted: MINILM.name, opened: MEMORYD_E5.name, warns: true },
    { stored: undefined, wanted: name, opened: MEMORYD_E5.name, warns: true },
    { stored: MINILM.stamp, wanted: name, opened: MINILM.name, warns: true },
    { stored: FORMER_E5.stamp, wanted: FORMER_E5.name, opened: FORMER_E5.name, warns: false },
  ];
  for (const { stored, wanted, opened, warns } of cases) {
    const warnings: object[] = [];
    const log = createLogger("silent");
    log.warn = (said: object) => void warnings.push(said);
    const { model, embedder } = openModel(stored, { dataDir: store.directory, model: wanted }, log, 1);
    expect(model.name).toBe(opened);
    expect(warnings.length).toBe(warns ? 1 : 0);
    await (await embedder).close();
  }
});
