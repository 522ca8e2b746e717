/** Browsing, the map, and what must not be lost while one types, in a real browser. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { expectText, hasBrowser, newPage, picture, useConsole, violations } from "../support/console-page.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";

/** By session: what somebody keeps in a year. */
const LIFE = {
  garden: `Planted garlic in bed three, 24 cloves. The tomatoes need water every other day. Slugs ate the lettuce again.
    Pruned the apple tree in February. The compost is ready in May. Garlic came up in March. Tomatoes do better in the greenhouse.`,
  house: `The plumber is called Weber. The boiler was serviced in October. The roof leaks above the stairs.
    The roofer comes on Tuesday. The spare key hangs behind the water meter. The stairs must be painted. Weber mended the boiler.`,
  work: `The release is cut on Thursdays. Ship the migration before the release. Decided against Redis for the queue.
    How to cut a release: tag, build, publish. The queue holds a million jobs. The migration took nine minutes. I was proud of the release.`,
  trip: `Took the night train to Vienna. The hotel by the canal was loud. Loved the museum in Vienna.
    Next time book the quiet hotel. The train back was late. The museum opens at ten. Missed the train in Salzburg and was furious.`,
};

describe.skipIf(!hasBrowser)("browsing in the console", () => {
  const world = useConsole();

  it("draws the map by kind and by time", async () => {
    for (const [session_id, life] of Object.entries(LIFE))
      for (const [month, content] of life.split(/(?<=\.)\s+/).entries()) {
        const occurred_at = `2026-0${month + 1}-15`;
        await world.api.memories.add({ content, session_id, occurred_at, project: "life" });
      }
    await world.visit("map", async (page) => {
      await expectText(page.locator(".count"), "28 notes");
      await page.locator('.map[aria-busy="false"]').waitFor();
      await expectText(page.locator(".terms"), "procedural");
      await picture(page, "map");
      await page.getByLabel("Colours show").selectOption("time");
      await expectText(page.locator(".terms"), "since Jan 15, 2026");
      // Another theme draws anew, where everything is.
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator('.map[aria-busy="false"] canvas').first().waitFor();
      await picture(page, "map-dark");
    });
  });

  it("draws no label of the map over another, nor beyond its edge", async () => {
    await world.api.memories.addMany(
      Array.from({ length: 200 }, (_, n) => ({
        content: `Delivery ${n} of the old bakery at the corner came late again.`,
        project: "dense",
        session_id: `day ${n % 7}`,
      })),
      { timeoutMs: 600_000 },
    );
    const context = await world.browser.newContext({ viewport: { width: 500, height: 900 } });
    const page = await newPage(context);
    await page.addInitScript(`
      const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
      const labels = (globalThis.labels = []);
      const isLabels = ({ canvas }) => canvas.className.includes("sigma-labels");
      Object.assign(CanvasRenderingContext2D.prototype, {
        clearRect(...place) { if (isLabels(this)) labels.length = 0; clearRect.apply(this, place); },
        fillText(text, x, y) {
          if (isLabels(this)) labels.push({ x, y, end: x + this.measureText(text).width });
          fillText.call(this, text, x, y);
        },
      });`);
    await page.goto(`${world.daemon.baseUrl}/#/map?project=dense`);
    await page.locator('.map[aria-busy="false"]').waitFor();
    await page.getByRole("button", { name: "Closer" }).click();
    type Label = { readonly x: number; readonly y: number; readonly end: number };
    const labels = () => page.evaluate<Label[]>("labels");
    await expect.poll(async () => (await labels()).length).toBeGreaterThan(2);
    const drawn = await labels();
    const width = await page.evaluate<number>("document.querySelector('.map').clientWidth");
    expect(drawn.filter(({ end }) => end > width + 1)).toEqual([]);
    const overlapping = drawn.filter((one, n) =>
      drawn
        .slice(n + 1)
        .some((other) => one.x < other.end && other.x < one.end && Math.abs(one.y - other.y) < 12),
    );
    expect(overlapping).toEqual([]);
    await context.close();
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
    await world.visit("browse?project=shelf", async (page) => {
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
    await world.visit("browse", async (page) => {
      await page.getByText("Notes added, by day").click();
      await page.locator(".activity rect").last().click();
      await expect.poll(() => page.url()).toMatch(/day=\d{4}-\d\d-\d\d/);
      await page.locator(".note").first().waitFor();
    });
  });

  it("shows in one tab what was saved in another meanwhile", async () => {
    const { id } = await world.api.memories.add({ content: "The ladder is in the shed." });
    const context = await world.browser.newContext();
    const pages = [await newPage(context), await newPage(context)] as const;
    for (const page of pages) {
      await page.goto(`${world.daemon.baseUrl}/#/browse?id=${id}`);
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

  it("opens a note in the map, and goes outwards from there", async () => {
    const session = { session_id: "trip", project: "trip" };
    const names = ["Packed the tent.", "Took the ferry.", "Climbed the hill.", "Slept in the hut."];
    const ids: string[] = [];
    for (const content of names) ids.push((await world.api.memories.add({ content, ...session })).id);
    await world.visit(`map?project=trip&around=${ids[0]}`, async (page) => {
      const count = page.locator(".count");
      await expectText(count, "2 notes within 1 step of “Packed the tent.”");
      await page.locator('.map[aria-busy="false"]').waitFor();
      await page.getByRole("button", { name: "One step further" }).click();
      await expectText(count, "3 notes within 2 steps");
      await page.locator('.map[aria-busy="false"]').waitFor();
      await page.getByLabel("Colours show").selectOption("time");
      for (const name of ["Closer", "Everything"]) await page.getByRole("button", { name }).click();
      await page.getByRole("button", { name: "List" }).click();
      await page.getByRole("link", { name: "Took the ferry." }).click();
      const panel = page.getByRole("complementary");
      await panel.getByRole("link", { name: "Climbed the hill." }).click();
      await expectText(panel.locator(".content").first(), "Climbed the hill.");
      await expect.poll(() => panel.locator(".neighbours circle").count()).toBe(3);
      await panel.getByRole("link", { name: "On the map, from here" }).click();
      await expectText(count, "3 notes within 1 step of “Climbed the hill.”");
      await page.getByRole("button", { name: "Show all notes" }).click();
      await expectText(count, "notes,");
    });
    // Alone it stands in the middle.
    const { id } = await world.api.memories.add({ content: "All alone.", project: "alone" });
    await world.visit("map?project=alone", async (page) => {
      await page.locator('.map[aria-busy="false"]').waitFor();
      await page.locator(".map").click();
      await expectText(page.getByRole("complementary"), "All alone.");
      expect(page.url()).toContain(id);
    });
  });

  it("shows the map as a list where nothing can be drawn", async () => {
    const context = await world.browser.newContext();
    const page = await newPage(context);
    await page.addInitScript("HTMLCanvasElement.prototype.getContext = () => null");
    await page.goto(`${world.daemon.baseUrl}/#/map?project=trip`);
    await page.getByText("does not draw with WebGL").waitFor();
    await page.getByRole("link", { name: "Took the ferry." }).waitFor();
    expect(await page.locator("canvas").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
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
    await page.getByRole("link", { name: "Browse" }).click();
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
