import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "vitest";
import { failPowerAtEveryStep, removeFolder, SmallStore } from "../storage/checkpoints/checkpoint-support.ts";
import { strideOf } from "../support/stress.ts";

it("loses nothing to a power failure at steps all over a flush", async () => {
  const directory = await mkdtemp(join(tmpdir(), "memoryd-power-"));
  const store = await new SmallStore(directory).open();
  await failPowerAtEveryStep(store, { stride: strideOf(3) });
  await store.kill();
  await removeFolder(directory);
});
