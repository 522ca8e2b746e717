/** The console over many notes: 10 000, or under stress 100 000. */
import { describe, expect, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { expectText, hasBrowser, useConsole } from "../support/console-page.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";
import { fillStore } from "../support/fill-store.ts";
import { times } from "../support/stress.ts";

const NOTES = times(10_000);
/** Long enough to come by a dozen windows of rows. */
const SCROLLED = 1_500;
const MOST_ROWS = 200;

describe.skipIf(!hasBrowser)("the console over many notes", () => {
  const world = useConsole(async (_, directory) => {
    await fillStore({ directory, count: NOTES, stamp: MINILM.stamp, users: 10, waypoints: 2 });
    return startDaemonProcess(directory);
  });

  it("browses them with at most 200 rows in the page", async () => {
    await world.visit("notes", async (page) => {
      await expectText(page.locator(".count").first(), `${NOTES.toLocaleString("en")} notes`);
      const seen = new Set<string>();
      await expect
        .poll(async () => {
          const ids = await page
            .locator(".notes [data-id]")
            .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-id") ?? ""));
          expect(ids.length).toBeLessThanOrEqual(MOST_ROWS);
          for (const id of ids) seen.add(id);
          await page.evaluate("scrollTo(0, document.body.scrollHeight)");
          return seen.size;
        })
        .toBeGreaterThanOrEqual(SCROLLED);
      await page.goto(`${world.daemon.baseUrl}/#/notes?tag=rare&user=user0`);
      await expectText(page.locator(".count").first(), `${(NOTES / 100).toLocaleString("en")} notes`);
    });
  });
});
