/** A real browser for tests of the console. With MEMORYD_TEST_SCREENSHOTS pictures are kept in that folder. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const BROWSERS = [process.env["MEMORYD_TEST_CHROMIUM"], "chromium", "chromium-browser", "google-chrome"];
const program = BROWSERS.map((name) => (name === undefined ? "" : pathOf(name))).find((path) => path !== "");
const pictures = process.env["MEMORYD_TEST_SCREENSHOTS"];

export const hasBrowser = program !== undefined;
if (!hasBrowser) process.stderr.write("Skipped: no Chromium on the PATH.\n");

function pathOf(name: string): string {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
}

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: program ?? "",
    args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
  });
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
  mkdirSync(resolve(pictures), { recursive: true });
  await page.screenshot({ path: resolve(pictures, `${name}.png`) });
}
