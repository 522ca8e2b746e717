/** The client in a page of another origin, in a real browser: what CORS lets through is a browser's to say. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { serveHttp, type WebServer } from "../support/web-server.ts";

const CLIENT = resolve(import.meta.dirname, "../../dist/client");
const BROWSERS = [process.env["MEMORYD_TEST_CHROMIUM"], "chromium", "chromium-browser", "google-chrome"];
const browser = BROWSERS.find((name) => name !== undefined && spawnSync(name, ["--version"]).status === 0);
if (browser === undefined)
  process.stderr.write("Skipped: no Chromium on the PATH (or in MEMORYD_TEST_CHROMIUM).\n");

/** Runs in the page; what it answers, or why it failed, is sent back to where the page is from. */
const PROGRAM = `
import { createClient, MemorydError } from "/client/client.js";
const said = {};
const codeOf = (call) => call.then(() => "none", (error) => (error instanceof MemorydError ? error.code : String(error)));
try {
  const memoryd = createClient({ url: DAEMON, clientName: "page" });
  const { id, version } = await memoryd.memories.add({ content: "The spare key hangs behind the water meter.", tags: ["home"] });
  await memoryd.memories.add({ content: "The boat's winter cover is in the attic." });
  said.found = (await memoryd.query("where is the key?", { k: 1 })).matches[0].content;
  said.updated = (await memoryd.memories.update(id, { tags: ["cellar"] }, { ifVersion: version })).version;
  said.late = await codeOf(memoryd.memories.update(id, { tags: ["attic"] }, { ifVersion: version }));
  said.listed = 0;
  for await (const memory of memoryd.memories.list({ limit: 1 })) said.listed += memory.created_by === "page" ? 1 : 0;
  const file = new Blob(["# Garlic\\n\\nPlant it in October."], { type: "text/markdown" });
  said.title = (await memoryd.documents.ingest({ file, filename: "garden.md" })).extraction.title;
  await memoryd.memories.delete(id);
  said.gone = await codeOf(memoryd.memories.get(id));
} catch (error) {
  said.failed = String(error);
}
await fetch("/said", { method: "POST", body: JSON.stringify(said) });
`;

interface Page extends WebServer {
  /** What the page sends back. */
  readonly said: Promise<unknown>;
  daemonUrl: string;
}

async function servePage(): Promise<Page> {
  let answer: (said: unknown) => void = () => undefined;
  const said = new Promise((done) => (answer = done));
  const state = { daemonUrl: "" };
  const listener: RequestListener = (request, response) => {
    const { url = "/" } = request;
    if (request.method === "POST") {
      let text = "";
      request.setEncoding("utf8").on("data", (part: string) => (text += part));
      request.on("end", () => {
        response.end();
        answer(JSON.parse(text));
      });
    } else if (url.startsWith("/client/")) {
      const script = readFileSync(join(CLIENT, url.slice("/client/".length)));
      response.setHeader("content-type", "text/javascript").end(script);
    } else {
      const program = PROGRAM.replace("DAEMON", JSON.stringify(state.daemonUrl));
      response.setHeader("content-type", "text/html").end(`<script type="module">${program}</script>`);
    }
  };
  return Object.assign(state, await serveHttp(listener), { said });
}

async function askPage(page: Page, home: string): Promise<unknown> {
  const words = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${home}`];
  const child = spawn(browser ?? "", [...words, page.url], { stdio: "ignore" });
  const ended = new Promise((done) => child.once("exit", done));
  try {
    return await Promise.race([page.said, ended.then((code) => `the browser ended with ${String(code)}`)]);
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

it.skipIf(browser === undefined)(
  "a page whose origin is allowed does everything, any other nothing",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "memoryd-browser-"));
    const [allowed, foreign] = [await servePage(), await servePage()];
    let daemon: DaemonProcess | undefined;
    try {
      daemon = await startDaemonProcess(join(home, "data"), {
        MEMORYD_ALLOWED_ORIGINS: new URL(allowed.url).origin,
      });
      allowed.daemonUrl = foreign.daemonUrl = daemon.baseUrl;
      expect(await askPage(allowed, join(home, "allowed"))).toEqual({
        found: "The spare key hangs behind the water meter.",
        updated: 2,
        late: "VERSION_MISMATCH",
        listed: 2,
        title: "Garlic",
        gone: "NOT_FOUND",
      });
      expect(await askPage(foreign, join(home, "foreign"))).toEqual({
        failed: expect.stringContaining("cannot be reached") as string,
      });
      const { items } = (await (await fetch(`${daemon.baseUrl}/memory/all`)).json()) as { items: unknown[] };
      expect(items).toHaveLength(2);
    } finally {
      await daemon?.stop();
      await allowed.close();
      await foreign.close();
      // The browser's own children may still be writing.
      rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
);
