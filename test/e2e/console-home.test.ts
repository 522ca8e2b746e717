/** The first page of the console, and notes that are written, changed and deleted there, in a real browser. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectText, hasBrowser, picture, useConsole, violations } from "../support/console-page.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";

const DAY_MS = 86_400_000;
const dayAfter = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

describe.skipIf(!hasBrowser)("the first page of the console", () => {
  const world = useConsole();

  it("says what to do first in an empty store, and adds a note there", async () => {
    const daemon = await startDaemonProcess(join(world.home, "empty"));
    const look = { daemon };
    await world.visit(
      "home",
      async (page) => {
        await expectText(page.locator(".steps"), "memoryd mcp install claude-code");
        expect(await violations(page)).toEqual([]);
        await picture(page, "home-empty");
        await page.getByRole("searchbox").fill("where is the key?");
        await page.getByText("Nothing is kept yet").waitFor();
        await page.getByRole("searchbox").fill("");
        await page.getByLabel("Add a note").fill("The key hangs in the shed.");
        await page.getByLabel("Tags, separated by commas").fill("home, keys");
        await page.locator("form.add").getByLabel("Person").fill("ann"); // that of the filters goes a moment after the question
        await page.getByLabel("Happened on").fill("2026-05-04");
        await page.getByLabel("Add a note").press("Control+Enter");
        await page.locator(".note", { hasText: "in the shed" }).waitFor();
        expect(await page.locator(".steps").count()).toBe(0);
        expect(await page.getByLabel("Add a note").inputValue()).toBe("");
        const data = await page.evaluateHandle(
          `(() => { const given = new DataTransfer(); given.items.add(new File(["The drain is under the oak."], "drain.txt")); return given; })()`,
        );
        await page.dispatchEvent("form.add", "drop", { dataTransfer: data });
        await page
          .locator(".note", { hasText: "under the oak" })
          .getByRole("link", { name: "drain.txt" })
          .waitFor();
      },
      look,
    );
    await daemon.stop();
  });

  it("shows what is coming up, and decides whether notes are out of date with one click", async () => {
    const { api } = world;
    const named = dayAfter(5).slice(0, 10);
    await api.memories.add({ content: `The dentist is on ${named}.` });
    const add = async (content: string, days: number) =>
      (await api.memories.add({ content, occurred_at: dayAfter(days) })).id;
    const [port, city] = [
      await add("The API listens on port 4310.", -9),
      await add("Anna lives in Paris.", -9),
    ];
    await add("The API listens on port 4311 now.", -1);
    await add("Anna moved to Rome; she no longer lives in Paris.", -1);
    await world.visit("home", async (page) => {
      await expectText(page.locator("section", { hasText: "Coming up" }), "The dentist is on");
      const pairs = page.locator("section", { hasText: "perhaps out of date" });
      const pair = (text: string) => pairs.locator("li", { hasText: text });
      await pair("port 4310").waitFor();
      expect(await violations(page)).toEqual([]);
      await picture(page, "home");
      await pair("port 4310").getByRole("button", { name: "The later one replaces it" }).click();
      await pair("port 4310").waitFor({ state: "detached" });
      await pair("Paris").getByRole("button", { name: "Both hold" }).click();
      await pairs.waitFor({ state: "detached" });
    });
    expect((await api.memories.get(port)).superseded_how).toBe("told");
    expect((await api.memories.get(city)).superseded_by).toBeNull();
  });

  it("keeps what was written and not saved, asks before it is discarded, and moves the focus", async () => {
    const { id } = await world.api.memories.add({ content: "The ladder is in the shed.", project: "house" });
    await world.api.memories.add({ content: "The drill is in the cellar.", project: "house" });
    await world.visit("notes?project=house", async (page) => {
      await page.locator(".note").nth(1).waitFor();
      for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
      const panel = page.getByRole("complementary");
      await expectText(panel, "The ladder");
      expect(await page.evaluate("document.activeElement.tagName")).toBe("ASIDE");
      await page.keyboard.press("e");
      const text = panel.getByLabel("Text");
      await text.fill("The ladder is at Ben's.");
      await page.locator(".note .text", { hasText: "drill" }).click();
      await expectText(panel, "The drill");
      await page.getByText("not saved yet").waitFor();
      await page.goBack();
      await expect.poll(() => text.inputValue()).toBe("The ladder is at Ben's.");
      await expect.poll(() => page.getByText("not saved yet").count()).toBe(0);
      await page.getByRole("link", { name: "Facts" }).click();
      await page.getByRole("button", { name: "Back to it" }).click();
      await text.press("Escape");
      await page.getByRole("dialog").getByRole("button", { name: "Go on writing" }).click();
      await text.press("Control+Enter");
      await expectText(panel.locator(".content").first(), "at Ben's");
      expect(await page.evaluate("document.activeElement.tagName")).toBe("ASIDE");
      await panel.getByRole("button", { name: "Edit" }).click();
      await text.fill("Nothing of this.");
      await text.press("Escape");
      expect(await violations(page)).toEqual([]);
      await page.getByRole("dialog").getByRole("button", { name: "Discard it" }).click();
      await expectText(panel.locator(".content").first(), "at Ben's");
    });
    expect((await world.api.memories.get(id)).content).toBe("The ladder is at Ben's.");
  });

  it("deletes many together, and brings each back to its place", async () => {
    const names = ["one", "two", "three", "four"];
    for (const name of names) await world.api.memories.add({ content: `Box ${name}.`, project: "boxes" });
    const shown = names.toReversed().map((name) => `Box ${name}.`);
    await world.visit("notes?project=boxes", async (page) => {
      const rows = page.locator(".note .text");
      await expect.poll(() => rows.allTextContents()).toEqual(shown);
      for (const n of [1, 2]) await page.getByRole("checkbox").nth(n).check();
      await page.locator(".picked").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await expect.poll(() => rows.allTextContents()).toEqual([shown[0], shown[3]]);
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(() => rows.allTextContents()).toEqual(shown);
      for (const key of ["j", "x", "j", "x", "Delete"]) await page.keyboard.press(key);
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
      await expect.poll(() => rows.allTextContents()).toEqual(shown.slice(2));
    });
  });
});
