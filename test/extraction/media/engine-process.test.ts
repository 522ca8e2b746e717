import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openInEngine } from "../../../src/extraction/media/engine-process.ts";
import { wavFile } from "../../support/wav-file.ts";
import { withoutNode } from "../../support/without-node.ts";

/** It only has to be there. */
const WORKER = resolve(import.meta.dirname, "../../fixtures/job-worker.js");
const folder = mkdtempSync(join(tmpdir(), "memoryd-engine-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("says that its process cannot be started, and why", async () => {
  const path = join(folder, "a.wav");
  writeFileSync(path, wavFile([new Float32Array(100)]));
  const limits = { maxSeconds: 10, maxWorkingMs: 10_000 };
  const { signal } = new AbortController();
  const opening = withoutNode(() =>
    openInEngine("wav", { workerFile: WORKER, container: "wav", path, limits, signal }),
  );
  await expect(opening).rejects.toMatchObject({
    code: "INTERNAL",
    message: "The process that decodes recordings does not start.",
    cause: { code: "ENOENT" },
  });
});
