/** Names for FFmpeg as WebAssembly: of the file that it reads, and of the one that it writes. */
export const INPUT = "input";
export const OUTPUT = "output";
/** The first output of our decoders. */
export const STARTED = "started\n";
