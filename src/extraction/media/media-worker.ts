/**
 * The process that decodes foreign recordings where no program of the system does: no files but the program's own and
 * the one it was given as its standard input, no child processes, no native addons, no environment. It is talked to by
 * `openInEngine` alone, and writes sound to its standard output.
 */
import { Watchdog } from "../../sandbox/watchdog.ts";
import { givenSource, type MediaEngine, type OpenEngine } from "./media-engine.ts";
import type { EngineName, FromEngine, ToEngine } from "./media-messages.ts";

let engine: MediaEngine | undefined;

process.on("disconnect", () => process.exit());
process.on("message", (message: ToEngine) => {
  // The decoder's own words may quote the file: only that it failed is passed on.
  work(message).then(send, () => send({ type: "failed" }));
});

send({ type: "ready" });

async function work(message: ToEngine): Promise<FromEngine> {
  if (message.type === "open") {
    new Watchdog(message.limits).begin();
    const open = await engineNamed(message.engine);
    engine = await open(givenSource(message.container));
    return { type: "opened", report: engine?.report };
  }
  if (engine === undefined) throw new TypeError("nothing is open");
  if (message.type === "subtitles")
    return { type: "subtitles", bytes: await engine.subtitles(message.index) };
  await engine.decode(message.index, message.maxSeconds);
  // The last that is asked. The other side does not end it: where it closes the channel, Node tells it of no end.
  setImmediate(() => process.disconnect());
  return { type: "sound" };
}

/** Each is loaded only where it is used. */
async function engineNamed(name: EngineName): Promise<OpenEngine> {
  switch (name) {
    case "wav":
      return (await import("./wav-engine.ts")).openWav;
    case "libav":
      return (await import("./libav-engine.ts")).openLibAv;
    case "ffmpeg-wasm":
      return (await import("./ffmpeg-core-engine.ts")).openFfmpegCore;
  }
}

function send(message: FromEngine): void {
  process.send?.(message);
}
