import { cpSync, lstatSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";

let top: string;
let dataDir: string;
let daemon: DaemonProcess | undefined;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "memoryd-moved-away-"));
  dataDir = join(top, "data");
});
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  rmSync(top, { recursive: true, force: true });
});

const add = (to: DaemonProcess, content: string) => call(to, "POST", "/memory/add", { content });

it.skipIf(process.platform === "win32").each<[string, (folder: string) => void]>([
  ["moved", (folder) => renameSync(folder, `${folder}.away`)],
  ["removed", (folder) => rmSync(folder, { recursive: true })],
  [
    "replaced by a backup",
    (folder) => {
      renameSync(folder, `${folder}.away`);
      cpSync(`${folder}.away`, folder, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
    },
  ],
])("a daemon whose data directory was %s says yes to no write", async (how, goes) => {
  const running = await startDaemonProcess(dataDir);
  daemon = running;
  expect((await add(running, "The violin was lent to a neighbour.")).status).toBe(200);
  goes(dataDir);

  for (const content of ["It came back.", "It was lent again."]) {
    const { status, body } = await add(running, content);
    expect([status, body.code]).toEqual([503, "NOT_READY"]);
    expect(body.detail).toContain(`process ${running.pid}`);
    expect(body.detail).toContain("moved or removed");
  }
  const form = new FormData();
  form.set("file", new Blob(["It hung on the wall."]), "violin.txt");
  const json = (body: object) => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const requests: [string, Omit<RequestInit, "method">][] = [
    ["/ingest", json({ text: "It was tuned." })],
    ["/ingest", { body: form }],
    ["/memory/ingest", json({ content_type: "txt", data: "SXQgaXMgb2xkLg==" })],
    ["/memory/ingest/url", json({ url: "http://127.0.0.1/violin" })],
  ];
  for (const [path, request] of requests) {
    const answer = await fetch(`${running.baseUrl}${path}`, { method: "POST", ...request });
    expect([answer.status, await answer.json()]).toEqual([
      503,
      expect.objectContaining({ code: "NOT_READY", detail: expect.stringContaining("moved or removed") }),
    ]);
  }
  const ready = await call(running, "GET", "/readyz");
  expect([ready.status, ready.body.detail]).toEqual([503, expect.stringContaining("moved or removed")]);
  expect(running.output().match(/"msg":"store is read-only"/g)).toHaveLength(1);
  if (how === "removed") return;

  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
  renameSync(`${dataDir}.away`, dataDir);
  const again = await startDaemonProcess(dataDir);
  daemon = again;
  const { body } = await call(again, "GET", "/memory/all");
  expect(body.items.map((item: { content: string }) => item.content)).toEqual([
    "The violin was lent to a neighbour.",
  ]);
  expect((await add(again, "It came back.")).status).toBe(200);
});
