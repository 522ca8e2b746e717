import { beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/core/errors.ts";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";
import { recordingText } from "../../support/fake-decoder.ts";

const SAYS = [
  "The keeper of the lighthouse was called Oleander.",
  "His boat was purple.",
  "On Sundays he painted the chapel.",
];
/** Three sentences, four seconds apart. */
const TALK = { kind: "video", title: "A talk", sounds: [2, 4, 2, 4, 2] } as const;

let world: DocumentWorld;
beforeEach(() => {
  world = createDocumentWorld();
  world.transcriber.says = SAYS;
});

async function resultOf(view: ReturnType<DocumentWorld["ingest"]>) {
  const { result, problem } = await view;
  if (result === undefined) throw new Error(problem?.message);
  const memories = await world.ports.store.readMemories(result.memoryIds);
  return { ...result, memories: result.memoryIds.map((id) => memories.get(id)) };
}

describe("a recording", () => {
  it("becomes a root that says what it is, and chunks with their times", async () => {
    const { document, memories } = await resultOf(
      world.ingest(recordingText(TALK), { filename: "talk.mp4" }),
    );
    expect(document).toMatchObject({
      mediaType: "video/mp4",
      strategy: "root-child",
      extraction: {
        kind: "video",
        method: "fake + whisper",
        title: "A talk",
        language: "en",
        durationMs: 14_000,
      },
    });
    const [root, ...chunks] = memories;
    expect(root?.content).toMatch(/^A talk\n\nVideo, 0:14, English\n\n/);
    expect(root?.content).toContain("Oleander");
    expect(root?.source).toMatchObject({ chunkIndex: -1, startMs: 0, endMs: 14_000 });
    expect(chunks.map((chunk) => [chunk?.content, chunk?.source?.startMs, chunk?.source?.section])).toEqual(
      SAYS.map((text, i) => [text, i * 6_000, "A talk"]),
    );
  });

  it("is found by what is said in it, with the time", async () => {
    await world.ingest(recordingText(TALK));
    const { hits } = await queryMemory(world.ports, { query: "painted the chapel", limit: 1, filter: {} });
    expect(hits[0]?.memory.source).toMatchObject({ startMs: 12_000, endMs: 14_000 });
  });

  it("is one memory with its time where little is said", async () => {
    const { document, memories } = await resultOf(world.ingest(recordingText({ sounds: [0, 3, 1] })));
    expect(document.strategy).toBe("single");
    expect(memories[0]).toMatchObject({ content: SAYS[0], source: { startMs: 3_000, endMs: 4_000 } });
  });

  it("is read from its subtitles where they are preferred, in the language asked for", async () => {
    const lines = [{ startMs: 500, endMs: 2_000, text: "Written, not heard." }];
    const recording = recordingText({ ...TALK, lines, trackLanguage: "de" });
    const { document, memories } = await resultOf(
      world.ingest(recording, { metadata: { prefer_subtitles: true } }),
    );
    expect(memories[0]?.content).toBe("Written, not heard.");
    expect(document.extraction).toMatchObject({ method: "fake + subtitles", language: "de" });
    expect(world.transcriber.heard).toBe(0);

    const french = { prefer_subtitles: true, language: "fr" };
    const heard = await resultOf(world.ingest(recording, { metadata: french, userId: "ann" }));
    expect(heard.document.extraction).toMatchObject({ method: "fake + whisper", language: "fr" });
  });

  it.each([
    ["of one", undefined, [[undefined, true]], undefined],
    ["of several, none marked: the first", undefined, [["de"], ["en"]], 1],
    ["of several, the marked one", undefined, [["de"], ["en", true]], 2],
    ["of several that are marked, the first", undefined, [["de"], ["en", true], ["fr", true]], 2],
    ["in the language asked for, before the marked one", "en-GB", [["de", true], ["en"]], 2],
    ["of several in that language, the marked one", "en", [["de"], ["en"], ["en-US", true]], 3],
    ["as without a wish, where none is in that language", "fr", [["de"], ["en", true]], 2],
  ] as const)("is heard by its track: %s", async (_, language, tracks, number) => {
    const soundTracks = tracks.map(([tag, isDefault = false], index) => ({
      index,
      isDefault,
      ...(tag !== undefined && { language: tag }),
    }));
    const metadata = language === undefined ? {} : { language };
    const recording = recordingText({ ...TALK, soundTracks });
    const { extraction } = (await resultOf(world.ingest(recording, { metadata }))).document;
    expect(extraction.soundTrack).toEqual(
      number === undefined ? undefined : { number, count: tracks.length },
    );
    expect(extraction.durationMs).toBe(14_000 + ((number ?? 1) - 1) * 1_000);
  });

  it("is heard where its subtitles hold no line", async () => {
    const recording = recordingText({ ...TALK, lines: [] });
    const { document } = await resultOf(world.ingest(recording, { metadata: { prefer_subtitles: true } }));
    expect(document.extraction.method).toBe("fake + whisper");
  });

  it.each([
    ["without a sound track", { ...TALK, soundTracks: [] }, {}, "UNPROCESSABLE", /no sound track/],
    ["of silence", { sounds: [0, 5] }, {}, "UNPROCESSABLE", /no speech/i],
    ["in a language that nobody knows", TALK, { language: "tlh" }, "UNPROCESSABLE", /tlh/],
    ["in a language that is a number", TALK, { language: 5 }, "INVALID_REQUEST", /metadata\.language/],
  ])("%s is refused, and nothing is stored", async (_, recording, metadata, code, message) => {
    const { status, problem } = await world.ingest(recordingText(recording), { metadata });
    expect(status).toBe("failed");
    expect(problem).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(world.ports.store.catalogue.size).toBe(0);
  });

  it("that breaks the model down fails with what to do", async () => {
    world.transcriber.failWith = new ServiceError("MODEL_UNAVAILABLE", "A file of the model is missing.");
    expect((await world.ingest(recordingText(TALK))).problem?.code).toBe("MODEL_UNAVAILABLE");
  });
});

describe("recordings among documents", () => {
  /** Sixteen minutes take the fake some time. */
  const LONG = { ...TALK, sounds: [1, 1_000, 1] };

  it("show how many seconds are heard", async () => {
    const id = await world.send(recordingText({ ...LONG, claimedMs: 1_002_000 }));
    const seen = new Set<number>();
    for (;;) {
      const { status, progress } = world.operations.getJob({ id });
      if (progress.stage === "transcribing") {
        expect(progress.total).toBe(1_002);
        seen.add(progress.done);
      }
      if (status !== "running" && status !== "queued") break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  it("are heard one at a time, and no document waits behind them", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map((n) => world.send(recordingText({ ...LONG, title: `Long ${n}` }))),
    );
    const { status } = await world.ingest("A note about herons.");
    expect(status).toBe("succeeded");
    const views = ids.map((id) => world.operations.getJob({ id }));
    expect(views.filter(({ progress }) => progress.stage === "transcribing")).toHaveLength(1);
    expect(views.filter(({ progress }) => progress.stage === "queued")).toHaveLength(2);
    const ends = await Promise.all(
      ids.map((id) => world.operations.awaitJob({ id: id }, new AbortController().signal)),
    );
    expect(ends.map((view) => view.status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  it("that are cancelled while they wait or are heard leave nothing, and let the next one go on", async () => {
    const [first = "", second = "", third = ""] = await Promise.all(
      [1, 2, 3].map((n) => world.send(recordingText({ ...LONG, title: `Long ${n}` }))),
    );
    await world.operations.cancelJob({ id: second });
    await world.operations.cancelJob({ id: first });
    const end = await world.operations.awaitJob({ id: third }, new AbortController().signal);
    expect(end.status).toBe("succeeded");
    expect(world.operations.getJob({ id: first }).status).toBe("cancelled");
    expect(world.operations.getJob({ id: second }).status).toBe("cancelled");
    expect(world.ports.store.catalogue.documents.byId.size).toBe(1);
  });
});
