import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Document, HeadingLevel, Packer, Paragraph } from "docx";
import Pdf from "pdfkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";

/** Documents with the real daemon: real files, the sandbox, the model, kills in the middle. */

const NOUNS = [
  "river",
  "harbour",
  "lantern",
  "orchard",
  "violin",
  "ledger",
  "saddle",
  "meadow",
  "engine",
  "cellar",
];
const PAGES = 60;
const MIDDLE = PAGES / 2;

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-documents-"));
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Sentences that differ, the same at every run. */
function filler(seed: number, count: number): string {
  let state = seed + 1;
  const pick = () => NOUNS[(state = (state * 48_271) % 2_147_483_647) % NOUNS.length] ?? "";
  return Array.from(
    { length: count },
    () => `The ${pick()} of the ${pick()} stood beside the ${pick()} and the ${pick()}.`,
  ).join(" ");
}

function makePdf(pages: number, factPage: number, fact: string): Promise<Buffer> {
  const pdf = new Pdf({ info: { Title: "Chronicle" } });
  const chunks: Buffer[] = [];
  for (let page = 1; page <= pages; page += 1) {
    if (page > 1) pdf.addPage();
    pdf.fontSize(11).text(filler(page, 12)).moveDown();
    if (page === factPage) pdf.text(fact).moveDown();
    pdf.text(filler(page + 1_000, 8));
  }
  return new Promise((resolve) => {
    pdf.on("data", (chunk: Buffer) => chunks.push(chunk));
    pdf.on("end", () => resolve(Buffer.concat(chunks)));
    pdf.end();
  });
}

function makeDocx(fact: string): Promise<Buffer> {
  const children = Array.from({ length: 20 }, (_, i) => [
    new Paragraph({ text: `Part ${i}`, heading: HeadingLevel.HEADING_1 }),
    new Paragraph(`${filler(i, 12)}${i === 10 ? ` ${fact}` : ""}`),
  ]);
  return Packer.toBuffer(new Document({ sections: [{ children: children.flat() }] }));
}

async function upload(bytes: Uint8Array, filename: string, headers = {}): ReturnType<typeof call> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)]), filename);
  const response = await fetch(`${daemon.baseUrl}/ingest`, { method: "POST", body: form, headers });
  return { status: response.status, body: await response.json() };
}

const best = async (query: string) =>
  (await call(daemon, "POST", "/memory/query", { query, k: 1 })).body.matches[0];
const jobOf = async (id: string) => (await call(daemon, "GET", `/jobs/${id}`)).body;

async function ended(id: string) {
  for (;;) {
    const job = await jobOf(id);
    if (isOver(job)) return job;
    await sleep(100);
  }
}

const isOver = ({ status }: { readonly status: string }) => !["queued", "running"].includes(status);

describe("documents", () => {
  it("of every kind are found by a fact in their middle, with its place", async () => {
    const html = Array.from(
      { length: 15 },
      (_, i) =>
        `<h2>Part ${i}</h2><p>${filler(i, 14)}${i === 8 ? " The miller's cat is called Brombeere." : ""}</p>`,
    );
    const markdown = Array.from(
      { length: 15 },
      (_, i) =>
        `## Topic ${i}\n\n${filler(i + 50, 14)}${i === 9 ? " The tram to Lindau is painted purple." : ""}\n`,
    );
    const sent: [Buffer, string, string, object][] = [
      [
        await makePdf(40, 21, "The lighthouse keeper of Varnholm was Oleander Quist."),
        "a.pdf",
        "Who was the lighthouse keeper of Varnholm?",
        { page: 21 },
      ],
      [
        await makeDocx("The treasurer of Lund paid for the bell in herring."),
        "b.docx",
        "How was the bell of Lund paid for?",
        { section: "Part 10" },
      ],
      [
        Buffer.from(`<title>Mill</title><article>${html.join("")}</article>`),
        "c.html",
        "What is the miller's cat called?",
        { section: "Mill › Part 8" },
      ],
      [
        Buffer.from(markdown.join("\n")),
        "d.md",
        "What colour is the tram to Lindau?",
        { section: "Topic 9" },
      ],
    ];
    for (const [bytes, filename, question, place] of sent) {
      const { status, body } = await upload(bytes, filename);
      expect([filename, status, body.strategy]).toEqual([filename, 200, "root-child"]);
      expect(await best(question)).toMatchObject({
        source: { filename, document_id: body.document.id, ...place },
      });
    }
  });

  it("are in whole or not at all when the daemon is killed, and go on by themselves", async () => {
    const pdf = await makePdf(PAGES, MIDDLE, "The ferry at Grauwick costs eleven shillings.");
    const { status, body } = await upload(pdf, "killed.pdf", { prefer: "respond-async" });
    expect(status).toBe(202);
    const before = (await call(daemon, "GET", "/memory/all?l=1")).body.total;
    for (let kills = 0; kills < 3; kills += 1) {
      for (let job; job?.progress.stage !== "embedding" && (job === undefined || !isOver(job));) {
        job = await jobOf(body.id);
        await sleep(20);
      }
      await sleep(150 * kills);
      await daemon.kill();
      daemon = await startDaemonProcess(dataDir);
      const { total } = (await call(daemon, "GET", "/memory/all?l=1")).body;
      if (total !== before) break;
    }
    const job = await ended(body.id);
    expect(job).toMatchObject({ status: "succeeded", result: { deduplicated: false } });
    expect((await call(daemon, "GET", "/memory/all?l=1")).body.total).toBe(
      before + job.result.memory_ids.length,
    );
    expect((await best("What does the ferry at Grauwick cost?")).source).toMatchObject({
      filename: "killed.pdf",
      page: MIDDLE,
    });
  });

  it("are one when they come twice at once", async () => {
    const pdf = await makePdf(8, 4, "Nothing to see.");
    const [one, two] = await Promise.all([upload(pdf, "twice.pdf"), upload(pdf, "twice.pdf")]);
    expect(two.body.document.id).toBe(one.body.document.id);
    expect(two.body.memory_ids).toEqual(one.body.memory_ids);
  });

  it("stay deleted, and so do their originals in time", async () => {
    const { body } = await upload(Buffer.from("The heron of Eschbach is called Wanda."), "gone.txt");
    const { document, root_memory_id: root } = body;
    expect((await best("the heron of Eschbach")).id).toBe(root);
    expect((await call(daemon, "DELETE", `/memory/${root}`)).body).toMatchObject({ ok: true, deleted: 1 });
    for (let life = 0; life < 2; life += 1) {
      expect((await best("the heron of Eschbach"))?.id).not.toBe(root);
      expect((await call(daemon, "GET", `/documents/${document.id}`)).status).toBe(404);
      await daemon.kill();
      daemon = await startDaemonProcess(dataDir);
    }
    // No temporary file outlives the kills, and the others are all named by documents.
    expect(readdirSync(join(dataDir, "files")).every((name) => /^[0-9a-f]{64}$/.test(name))).toBe(true);
  });

  it("that cannot be read are refused, and the next one is fine", async () => {
    expect((await upload(Buffer.from("%PDF-1.7 not really"), "bad.pdf")).status).toBe(422);
    expect((await upload(Buffer.from("ID3\u0004\u0000\u0000 song"), "song.mp3")).status).toBe(422);
    expect((await upload(Buffer.from("GIF89a picture"), "picture.gif")).status).toBe(415);
    expect((await upload(Buffer.from("All is well."), "fine.txt")).status).toBe(200);
  });
});
