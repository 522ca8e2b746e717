/** What an operator does in the console, against real daemons: settings, log. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { expectText, hasBrowser, picture, useConsole, violations } from "../support/console-page.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";

const SECRET = "an-api-key-that-is-long";

describe.skipIf(!hasBrowser)("the console of an operator", () => {
  const world = useConsole((home, data) => {
    const config = join(home, "config.json");
    writeFileSync(config, JSON.stringify({ historyDays: 90 }));
    const words = ["--log-to-file", `--config=${config}`, "--backup-keep=3"];
    return startDaemonProcess(data, { MEMORYD_LOG_LEVEL: "info" }, words);
  });

  it("shows settings with where each comes from", async () => {
    await world.visit("housekeeping", async (page) => {
      const card = page.locator(".card", { has: page.getByRole("heading", { name: "Settings" }) });
      const row = (flag: string) => card.locator(".settings > div", { hasText: flag });
      await expectText(
        row("--history-days"),
        `90from the file ${join(world.home, "config.json")} · default: 30`,
      );
      await expectText(row("--backup-keep"), "3from the flag --backup-keep");
      await expectText(row("--model"), "all-MiniLM-L6-v2from the variable MEMORYD_MODEL");
      await expectText(row("MEMORYD_API_KEY"), "not set");
      expect(await row("--host").count()).toBe(0);
      await card.getByRole("button", { name: /Show all/ }).click();
      await expectText(row("--host"), "127.0.0.1the default");
      expect(await violations(page)).toEqual([]);
      await card.scrollIntoViewIfNeeded();
      await picture(page, "settings");
    });
  });

  it("shows the log, narrows it, and follows it", async () => {
    await world.visit("housekeeping", async (page) => {
      const card = page.locator(".card", { has: page.getByRole("heading", { name: "Log" }) });
      await expectText(card.locator(".log"), "ready");
      await card.getByLabel("Follow").check();
      const logged = {
        level: 50,
        time: new Date().toISOString(),
        reason: "<b>full</b>",
        msg: "disk is full",
      };
      appendFileSync(join(world.home, "data", "memoryd.log"), `${JSON.stringify(logged)}\n`);
      await expectText(card.locator(".log li").first(), "disk is full reason=<b>full</b>");
      await card.getByLabel("Show").selectOption("error");
      await expect.poll(() => card.locator(".log li").count()).toBe(1);
      expect(await violations(page)).toEqual([]);
      await card.scrollIntoViewIfNeeded();
      await picture(page, "log");
    });
  });

  it("removes what a program added since a moment, with the number first, and brings it back", async () => {
    const { api } = world;
    const rogue = createClient({ url: world.daemon.baseUrl, clientName: "rogue" });
    const { id: spoilt } = await api.memories.add({ content: "The bakery opens at seven." });
    const added = await rogue.memories.addMany(
      Array.from({ length: 60 }, (_, n) => ({ content: `The rogue was here, number ${n}.` })),
    );
    await rogue.memories.update(spoilt, { content: "The bakery opens at nine." });
    const left = async () => (await api.memories.page({ created_by: "rogue" })).total;
    await world.visit("agents", async (page) => {
      await expectText(page.locator("main"), "An agent adds at most 200 notes");
      const remove = page
        .locator(".rows li", { hasText: "rogue" })
        .getByRole("button", { name: "Take back…" });
      const dialog = page.getByRole("dialog");
      await remove.click();
      await expectText(dialog.getByRole("status"), "60 added");
      await expectText(dialog, "and 10 more");
      expect(await violations(page)).toEqual([]);
      await picture(page, "agents-remove");
      await dialog.getByLabel("When").selectOption("moment");
      const since = dialog.getByRole("textbox", { name: "Since" });
      await since.fill("2100-01-01T00:00");
      await expectText(dialog, "since a time that has passed");
      // The plan for another time is no answer to this one.
      expect(await dialog.textContent()).not.toContain("60 added");
      // A second in which all additions have ended.
      await new Promise((done) => setTimeout(done, 1_100));
      const now = new Date();
      const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
      // A field drops seconds that are 00.
      await since.fill(local.replace(/\d{3}Z$/, "001"));
      await expectText(dialog, "It did nothing of that");
      await dialog.getByLabel("When").selectOption("all");
      await dialog.getByRole("button", { name: "Move 60 notes to the trash" }).click();
      await page.getByText("60 changes taken back.").waitFor();
      expect(await left()).toBe(0);
      expect((await api.memories.get(spoilt)).content).toContain("nine");
      expect((await api.trash.page()).total).toBe(60);
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(left).toBe(60);

      await remove.click();
      await dialog.getByLabel("Take back").selectOption("all");
      // Somebody brought these back on purpose.
      await expectText(dialog.getByRole("status"), "1 changed; 60 left");
      await dialog.getByRole("button", { name: "Take back 1 change" }).click();
      await page.getByText("1 change taken back, 60 left").waitFor();
      expect((await api.memories.get(spoilt)).content).toContain("seven");
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(async () => (await api.memories.get(spoilt)).content).toContain("nine");
    });
    expect(added.added).toBe(60);
  });

  it("says where there is no log to read, and that a key is set but not which", async () => {
    const keyed = await startDaemonProcess(join(world.home, "keyed"), { MEMORYD_API_KEY: SECRET });
    await world.visit(
      "housekeeping",
      async (page) => {
        await page.getByLabel("Key").fill(SECRET);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByText("where this page cannot read it").waitFor();
        await page.getByText("set, never shown").waitFor();
        expect(await page.content()).not.toContain(SECRET);
      },
      { daemon: keyed },
    );
    await keyed.stop();
  });
});
