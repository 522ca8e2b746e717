import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FolderFollower } from "../../../src/cli/ingest/folder-follower.ts";
import { emptyTally, startRun } from "../../../src/cli/ingest/sync-files.ts";
import { createFakeDocumentDaemon, type FakeDocumentDaemon } from "../../support/fake-document-daemon.ts";

let folder: string;
let daemon: FakeDocumentDaemon;
let follower: FolderFollower;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-follow-"));
  daemon = createFakeDocumentDaemon();
  const run = await startRun(daemon.api, async () => daemon.api, {}, new AbortController().signal);
  follower = new FolderFollower(folder, run);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The failures that `memoryd watch list` shows after another look. */
async function failuresOfLook(): Promise<readonly string[]> {
  const tally = emptyTally();
  await follower.ingest(tally);
  const { status } = await follower.remove(tally, { isWaiting: false });
  return status.failed.map(({ reason }) => reason);
}

it.each([
  ["tried again at once", 503, "The key is under the third pot."],
  ["changed", 422, "The key is under the fourth pot now."],
])("shows no failure of a file that was ingested since, once it is %s", async (_, status, text) => {
  const path = join(folder, "key.md");
  writeFileSync(path, "The key is under the third pot.");
  daemon.refuseNext(status);
  await failuresOfLook();
  expect(await failuresOfLook()).toEqual([`Refused with ${status}.`]);
  writeFileSync(path, text);
  await failuresOfLook();
  expect(await failuresOfLook()).toEqual([]);
  expect(daemon.documents.size).toBe(1);
});

it("shows the failure of a refused file until the file is gone", async () => {
  const path = join(folder, "key.md");
  writeFileSync(path, "The key is under the third pot.");
  daemon.refuseNext(422);
  for (let n = 0; n < 3; n += 1) await failuresOfLook();
  expect(await failuresOfLook()).toEqual(["Refused with 422."]);
  rmSync(path);
  expect(await failuresOfLook()).toEqual([]);
});

it("is settled whatever another folder still has to try in the same look", async () => {
  const look = { ...emptyTally(), notTried: 2 };
  await follower.ingest(look);
  expect(await follower.ingest(look)).toEqual({ isUnsettled: false, isWaiting: false });
});
