/** Documents and recordings in the console, against a real daemon: how they come in, and where a note came from. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { writePdf } from "../fixtures/documents/pdf-documents.ts";
import { expectText, hasBrowser, picture, useConsole, violations } from "../support/console-page.ts";
import { hasEspeak, speak } from "../support/espeak.ts";
import { silence } from "../support/pcm.ts";
import { wavFile } from "../support/wav-file.ts";

const LATER_S = 40;

describe.skipIf(!hasBrowser)("documents in the console", () => {
  const world = useConsole();

  it("takes a folder in, and says what is no document and what could not be read", async () => {
    const folder = join(world.home, "papers");
    mkdirSync(join(folder, "old", ".git"), { recursive: true });
    writeFileSync(join(folder, "boat.md"), "# Boat\n\nThe boat lies in the harbour.");
    writeFileSync(join(folder, "old", "shed.txt"), "The shed was painted green.");
    writeFileSync(join(folder, "old", "bare.html"), "<html><body></body></html>");
    writeFileSync(join(folder, "old", "noise.bin"), Buffer.from([0, 1, 2, 3, 255, 254]));
    writeFileSync(join(folder, "old", ".git", "config.txt"), "No business of anybody's.");
    await world.visit("documents", async (page) => {
      await page.getByText("No documents yet.").waitFor();
      await page.getByLabel("Choose a folder").setInputFiles(folder);
      await page.locator(".documents a", { hasText: "Boat" }).waitFor();
      await page.locator(".documents a", { hasText: "shed.txt" }).waitFor();
      await expectText(page.locator(".failed"), "1 file is no document that memoryd reads: noise.bin");
      const failed = page.locator(".failed li", { hasText: "bare.html" });
      await expect.poll(() => failed.locator(".problem").textContent()).toMatch(/text/);
      expect(await violations(page)).toEqual([]);
      await picture(page, "documents-folder");
      await failed.getByRole("button", { name: "Dismiss" }).click();
      await failed.waitFor({ state: "detached" });
      await page.reload();
      await expectText(page.locator(".failed"), "1 file is no document");
      expect(await failed.count()).toBe(0);
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.locator(".failed").waitFor({ state: "detached" });
    });
    const { items } = await world.api.documents.page();
    const folders = new Set(items.map(({ metadata }) => metadata["folder"]));
    expect(folders).toEqual(new Set(["papers", "papers/old"]));
  });

  it("takes a file that is dropped", async () => {
    await world.visit("documents", async (page) => {
      const data = await page.evaluateHandle(
        `(() => { const given = new DataTransfer(); given.items.add(new File(["The drain is under the oak."], "drain.txt")); return given; })()`,
      );
      await page.dispatchEvent(".drop", "drop", { dataTransfer: data });
      await page.locator(".documents a", { hasText: "drain.txt" }).click();
      await expectText(page.locator(".panel .parts"), "under the oak");
    });
  });

  it("shows the page of a PDF that a note was found on, as its text", async () => {
    const pages = ["Roses want sun.", "Ferns want shade."].map(
      (text, n) => `Chapter ${n + 1}. ${`${text} `.repeat(90)}`,
    );
    const { memory_ids } = await world.api.documents.ingest({
      file: await pdfOf(pages),
      filename: "garden.pdf",
    });
    const { source } = await world.api.memories.get(memory_ids.at(-1) ?? "");
    expect(source?.page).toBe(2);
    await world.visit(`notes?id=${memory_ids.at(-1)}`, async (page) => {
      await page.getByRole("complementary").getByRole("link", { name: "garden.pdf, page 2" }).click();
      await expectText(page.locator(".panel .wanted .content"), "Ferns want shade");
      await expectText(page.locator(".panel .parts .page").last(), "page 2");
      expect(await page.locator(".panel :is(iframe, embed, object)").count()).toBe(0);
      await picture(page, "documents-page");
    });
  });

  it.skipIf(!hasEspeak)("plays a recording from the second of a note", async () => {
    const sound = silence(LATER_S + 8);
    sound.set(speak("The boiler in the north tower was repaired on Monday."), 0);
    sound.set(speak("My sister sold the yellow bicycle to a baker."), LATER_S * PCM_RATE);
    await world.api.documents.ingest({ file: wavOf(sound), filename: "talk.wav" }, { language: "en" });
    const { matches } = await world.api.query("Who bought the yellow bicycle?", { k: 5 });
    const found = matches.find(({ source }) => (source?.start_ms ?? 0) > 0);
    await world.visit(`notes?id=${found?.id}`, async (page) => {
      await page
        .getByRole("complementary")
        .getByRole("link", { name: /talk.wav/ })
        .click();
      const playing = page.locator(".panel video");
      const position = () => page.evaluate<number>("document.querySelector('.panel video').currentTime");
      await page
        .locator(".panel .wanted")
        .getByRole("button", { name: /Play from/ })
        .click();
      await expect.poll(position).toBeGreaterThan((found?.source?.start_ms ?? 0) / 1_000 + 0.2);
      expect(await playing.getAttribute("src")).toMatch(/^blob:/);
      await page
        .getByRole("button", { name: /Play from/ })
        .first()
        .click();
      await expect.poll(position).toBeLessThan(LATER_S / 2);
      expect(await violations(page)).toEqual([]);
      await picture(page, "documents-recording");
    });
  });

  it.skipIf(!hasEspeak)("shows how far a job is, and cancels it", async () => {
    const sound = silence(900);
    const speech = speak("We walked along the river. The weather was mild. Then we went home again.");
    for (let at = 0; at + speech.length < sound.length; at += speech.length) sound.set(speech, at);
    await world.visit("documents", async (page) => {
      await page.getByLabel("Choose files").setInputFiles({
        name: "long.wav",
        mimeType: "audio/wav",
        buffer: Buffer.from(await wavOf(sound).arrayBuffer()),
      });
      const job = page.locator(".jobs li", { hasText: "long.wav" });
      await expectText(job, "transcribing");
      await picture(page, "documents-job");
      await job.getByRole("button", { name: "Cancel" }).click();
      await job.waitFor({ state: "detached" });
    });
    const { items } = await world.api.jobs.page();
    expect(items[0]?.status).toBe("cancelled");
  });
});

function wavOf(samples: Int16Array): Blob {
  return new Blob([new Uint8Array(wavFile([Float32Array.from(samples, (x) => x / 32_768)]))]);
}

async function pdfOf(pages: readonly string[]): Promise<Blob> {
  const bytes = await writePdf((pdf) =>
    pages.forEach((text, n) => (n === 0 ? pdf : pdf.addPage()).fontSize(11).text(text)),
  );
  return new Blob([new Uint8Array(bytes)]);
}
