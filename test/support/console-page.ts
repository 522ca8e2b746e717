/** A real browser for tests of the console. With MEMORYD_TEST_SCREENSHOTS pictures are kept in that folder. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { createClient, type MemorydClient } from "../../src/client/client.ts";
import { type DaemonProcess, startDaemonProcess } from "./daemon-process.ts";

const BROWSERS = [process.env["MEMORYD_TEST_CHROMIUM"], "chromium", "chromium-browser", "google-chrome"];
const program = BROWSERS.map((name) => (name === undefined ? "" : pathOf(name))).find((path) => path !== "");
const pictures = process.env["MEMORYD_TEST_SCREENSHOTS"];

export const hasBrowser = program !== undefined;
if (!hasBrowser) process.stderr.write("Skipped: no Chromium on the PATH.\n");

function pathOf(name: string): string {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
}

async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
}

/** Everything but `visit` is there while tests run. */
export interface ConsoleWorld {
  /** A folder of its own; the daemon's data are in `data` there. */
  readonly home: string;
  readonly daemon: DaemonProcess;
  readonly api: MemorydClient;
  readonly browser: Browser;
  /** Opens a page of the console (`browse?tag=home`) in a tab of its own. */
  visit(hash: string, look: (page: Page) => Promise<void>, options?: VisitOptions): Promise<void>;
}

export interface VisitOptions {
  /** Another daemon than the world's. */
  readonly daemon?: DaemonProcess;
  readonly colorScheme?: "light" | "dark";
}

/** A daemon and a browser for the tests of one `describe`. `startDaemon` begins with the data in a folder. */
export function useConsole(
  startDaemon: (home: string, data: string) => Promise<DaemonProcess> = (_, data) => startDaemonProcess(data),
): ConsoleWorld {
  const world = { visit } as { -readonly [Name in keyof ConsoleWorld]: ConsoleWorld[Name] };
  /** Holds a blank tab: a tab beside it takes half the processor time of a window. Visits leave nothing in it. */
  let shared: BrowserContext;
  beforeAll(async () => {
    world.home = mkdtempSync(join(tmpdir(), "memoryd-console-"));
    world.daemon = await startDaemon(world.home, join(world.home, "data"));
    world.api = createClient({ url: world.daemon.baseUrl, clientName: "seed" });
    world.browser = await launchBrowser();
    shared = await world.browser.newContext({ viewport: { width: 1_200, height: 900 } });
    await shared.newPage();
  }, 0);
  afterAll(async () => {
    await world.browser?.close();
    await world.daemon?.stop();
    rmSync(world.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  async function visit(
    hash: string,
    look: (page: Page) => Promise<void>,
    { daemon = world.daemon, colorScheme = "light" }: VisitOptions = {},
  ): Promise<void> {
    const page = await newPage(shared);
    try {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${daemon.baseUrl}/#/${hash}`);
      await look(page);
      await page.evaluate("localStorage.clear()");
    } finally {
      await page.close();
      await shared.clearCookies();
    }
  }
  return world;
}

/** A tab in which an error of a script, or a broken policy, fails the test. */
export async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => expect.unreachable(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) expect.unreachable(message.text());
  });
  return page;
}

/** Follows a link to what it shows; again where a list was drawn anew in the moment of the click, which is lost then. */
export async function follow(link: Locator, shown: Locator): Promise<void> {
  const isShown = async () => {
    await link.click({ timeout: 5_000 }).catch(() => undefined);
    return shown.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  };
  await expect.poll(isShown).toBe(true);
}

export async function expectText(
  place: { textContent: () => Promise<string | null> },
  text: string,
): Promise<void> {
  await expect.poll(() => place.textContent().catch(() => "")).toContain(text);
}

/** Violations of accessibility, as axe-core finds them. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run().then(({ violations }) => violations)",
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  await expect.poll(() => page.locator(".waiting").count()).toBe(0);
  mkdirSync(resolve(pictures), { recursive: true });
  await page.screenshot({ path: resolve(pictures, `${name}.png`) });
}
