/**
 * The program that decodes foreign recordings without an FFmpeg of the system: no files but the program's own and its standard
 * input, no child processes, no native addons, no environment, and no network where the system has walls. Its arguments are a
 * decoder, limits and FFmpeg's arguments; sound and subtitles go to its standard output.
 */
import { writeSync } from "node:fs";
import { lowerPriority, Watchdog, type WorkLimits } from "../../sandbox/watchdog.ts";
import { givenSource, STARTED } from "./media-source.ts";

const STDERR = 2;
const [decoder, limits = "{}", ...args] = process.argv.slice(2);

lowerPriority();
process.on("disconnect", () => process.exit());
writeSync(STDERR, STARTED);
new Watchdog(JSON.parse(limits) as WorkLimits).begin();

// Loaded only when used. A decoder's message may quote the file: an error is only an exit code.
const run = async (): Promise<number> => {
  if (decoder === "wav") return (await import("./wav.ts")).runWav(givenSource(), args);
  return await (await import("./ffmpeg-core-engine.ts")).runFfmpegCore(givenSource(), args);
};
run().then(
  (code) => process.exit(code),
  () => process.exit(1),
);
