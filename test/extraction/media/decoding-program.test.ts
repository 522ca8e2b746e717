import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { decodingWorker, openWith } from "../../../src/extraction/media/decoding-program.ts";
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
  const mediaTypes = { audio: "audio/wav", video: "audio/wav" };
  const found = { container: "wav", mediaTypes } as const;
  const input = { ...found, path, limits, signal, running: new Set<never>() };
  const opening = withoutNode(() => openWith(decodingWorker(WORKER, input), input));
  const failure: unknown = await opening.catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "INTERNAL",
    message: "The process that decodes recordings does not start.",
  });
  // In the words of Node, of the walls around the process, or of a shell.
  expect(String((failure as Error).cause)).toMatch(/ENOENT|No such file|not found/);
});
