/** Browsing, and what must not be lost while one types, in a real browser. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { expectText, hasBrowser, newPage, useConsole, violations } from "../support/console-page.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";

describe.skipIf(!hasBrowser)("browsing in the console", () => {
  const world = useConsole();

  it("lists the notes related to one", async () => {
    const ids: string[] = [];
    for (const content of ["Packed the tent.", "Took the ferry.", "Climbed the hill."])
      ids.push((await world.api.memories.add({ content, session_id: "trip", project: "trip" })).id);
    await world.visit(`notes?project=trip&id=${ids[0]}`, async (page) => {
      const panel = page.getByRole("complementary");
      await panel.getByRole("link", { name: "Took the ferry." }).click();
      await panel.getByRole("link", { name: "Climbed the hill." }).click();
      await expectText(panel.locator(".content").first(), "Climbed the hill.");
    });
  });

  it("tags many with the keys alone, and takes it back", async () => {
    const notes = ["one", "two", "three"].map((name) => ({
      content: `Shelf ${name} is full.`,
      project: "shelf",
    }));
    await world.api.memories.addMany(
      notes.map((note, index) => ({ ...note, tags: index === 0 ? ["cellar"] : [] })),
    );
    const tagged = async () => (await world.api.memories.page({ project: "shelf", tag: "cellar" })).total;
    await world.visit("notes?project=shelf", async (page) => {
      await page.locator(".note").nth(2).waitFor();
      for (const key of ["j", "x", "j", "x", "x", "a", "t"]) await page.keyboard.press(key);
      await expectText(page.locator(".picked"), "3 notes selected");
      await page.keyboard.type("cellar");
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Add tags" }).click();
      await page.getByText("2 notes changed.").waitFor();
      expect(await tagged()).toBe(3);
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(tagged).toBe(1);
    });
  });

  it("goes from the calendar to the notes of a day", async () => {
    const at = new Date(Date.now() - 30 * 86_400_000);
    await world.api.memories.add({ content: "The tram was late.", occurred_at: at.toISOString() });
    await world.visit("notes", async (page) => {
      await page.getByText("Overview").click();
      await page.locator(".activity rect", { hasText: "1 note" }).first().click();
      await expect.poll(() => page.url()).toMatch(/from=(\d{4}-\d\d-\d\d)&to=\1/);
      await page.locator(".note", { hasText: "tram" }).waitFor();
      await expect.poll(() => page.locator(".note").count()).toBe(1);
    });
  });

  it("shows in one tab what was saved in another meanwhile", async () => {
    const { id } = await world.api.memories.add({ content: "The ladder is in the shed." });
    const context = await world.browser.newContext();
    const pages = [await newPage(context), await newPage(context)] as const;
    for (const page of pages) {
      await page.goto(`${world.daemon.baseUrl}/#/notes?id=${id}`);
      await page.getByRole("button", { name: "Edit" }).click();
    }
    const [first, second] = pages.map((page) => page.getByRole("complementary"));
    await first?.getByLabel("Text").fill("The ladder is at Ben's.");
    await second?.getByLabel("Text").fill("The ladder is in the attic.");
    await first?.getByRole("button", { name: "Save" }).click();
    await first?.getByRole("button", { name: "Edit" }).waitFor();
    await second?.getByRole("button", { name: "Save" }).click();
    await expectText(pages[1].getByRole("alert"), "at Ben's");
    expect(await second?.getByLabel("Text").inputValue()).toBe("The ladder is in the attic.");
    await second?.getByRole("button", { name: "Take theirs" }).click();
    await expectText(pages[1].locator(".panel .content").first(), "at Ben's");
    expect(await world.api.memories.get(id)).toMatchObject({
      content: "The ladder is at Ben's.",
      version: 2,
    });
    await context.close();
  });

  it("loses nothing that was typed when the daemon is started again, nor when the tab must sign in anew", async () => {
    const dataDir = join(world.home, "typed");
    const before = await startDaemonProcess(dataDir);
    const { port } = new URL(before.baseUrl);
    const owner = createClient({ url: before.baseUrl });
    const { key } = await owner.keys.create({ name: "owner", scope: "admin" });
    const cli = (...words: string[]) => runCli([...words, "--data-dir", dataDir], { home: world.home });
    await cli("add", "The boat is in the harbour.");
    const page = await newPage(await world.browser.newContext());
    await page.goto((await cli("open", "--print")).stdout.trim());
    await page.getByRole("link", { name: "Notes" }).click();
    await page.locator(".note .text").first().click();
    const panel = page.getByRole("complementary");
    await panel.getByRole("button", { name: "Edit" }).click();
    await panel.getByLabel("Text").fill("The boat is on land.");
    await before.kill();
    await page.getByText("memoryd cannot be reached").first().waitFor();
    await panel.getByRole("button", { name: "Save" }).click();
    await panel.getByRole("alert").first().waitFor();
    expect(await panel.getByLabel("Text").inputValue()).toBe("The boat is on land.");
    const after = await startDaemonProcess(dataDir, { MEMORYD_PORT: port });
    // The documentation can be read meanwhile.
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.getByRole("heading", { name: "Quickstart" }).waitFor();
    await page.getByRole("link", { name: "To the console" }).click();
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await panel.getByRole("button", { name: "Save" }).click();
    await expectText(panel.locator(".content").first(), "The boat is on land.");
    const { items } = await createClient({ url: after.baseUrl, apiKey: key }).memories.page({});
    expect(items.map(({ content }) => content)).toEqual(["The boat is on land."]);
    await page.context().close();
    await after.stop();
  });
});
