import { setImmediate as nextTurn } from "node:timers/promises";
import {
  millisecondsOf,
  type Pcm,
  PCM_RATE,
  type Segment,
  type Transcriber,
  type TranscriptionOptions,
} from "../../src/core/documents/audio-decoder.ts";
import { ServiceError } from "../../src/core/errors.ts";

/** Sounds with less quiet than this between them are one segment. */
const PAUSE_MS = 200;
const LOUD = 100;
const LANGUAGES = ["en", "de", "fr"];

export interface FakeTranscriber extends Transcriber {
  /** What it hears, segment by segment; beyond that "Segment 3." and so on. */
  says: readonly string[];
  /** Every later call fails with this; undefined mends it. */
  failWith: Error | undefined;
  /** Recordings heard to their end. */
  readonly heard: number;
}

/** A transcriber for tests that takes every sound for speech. Times are the sound's own; no model, no process. */
export function createFakeTranscriber(): FakeTranscriber {
  const closing = new AbortController();
  let turn: Promise<unknown> = Promise.resolve();
  let heard = 0;

  async function hear(audio: Pcm, { language, signal, onProgress }: TranscriptionOptions) {
    signal?.throwIfAborted();
    if (fake.failWith) throw fake.failWith;
    const spoken = languageOf(language ?? "en");
    const segments: Segment[] = [];
    const sounds = new Sounds();
    for await (const piece of untilAborted(audio, signal)) {
      sounds.hear(piece);
      await nextTurn();
      signal?.throwIfAborted();
      onProgress?.(sounds.durationMs);
    }
    for (const { startMs, endMs } of sounds.found) {
      const text = fake.says[segments.length] ?? `Segment ${segments.length + 1}.`;
      segments.push({ startMs, endMs, text });
    }
    if (segments.length === 0) throw new ServiceError("UNPROCESSABLE", "No speech in the recording.");
    heard += 1;
    return { segments, language: spoken, durationMs: sounds.durationMs };
  }

  const fake: FakeTranscriber = {
    says: [],
    failWith: undefined,
    get heard() {
      return heard;
    },
    transcribe(audio, options = {}) {
      const signal = AbortSignal.any([closing.signal, ...(options.signal ? [options.signal] : [])]);
      const before = turn;
      const mine = (async () => {
        await Promise.race([before, aborted(signal)]);
        return await hear(audio, { ...options, signal });
      })();
      turn = Promise.allSettled([before, mine]);
      return mine;
    },
    async close() {
      closing.abort(new ServiceError("NOT_READY", "The transcriber is closed."));
      await turn;
    },
  };
  return fake;
}

class Sounds {
  readonly found: { startMs: number; endMs: number }[] = [];
  #samples = 0;

  get durationMs() {
    return millisecondsOf(this.#samples);
  }

  hear(piece: Int16Array) {
    for (const sample of piece) {
      this.#samples += 1;
      if (Math.abs(sample) < LOUD) continue;
      const endMs = Math.ceil((this.#samples / PCM_RATE) * 1000);
      const last = this.found.at(-1);
      if (last !== undefined && endMs - last.endMs < PAUSE_MS) last.endMs = endMs;
      else this.found.push({ startMs: endMs - 1, endMs });
    }
  }
}

async function* untilAborted(audio: Pcm, signal: AbortSignal | undefined): Pcm {
  const pieces = audio[Symbol.asyncIterator]();
  const abortion = aborted(signal);
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), abortion]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    void pieces.return?.();
  }
}

/** Rejects when the signal does; never resolves. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted === true) reject(signal.reason as Error);
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function languageOf(name: string): string {
  const primary = name.toLowerCase().split("-")[0] ?? "";
  if (LANGUAGES.includes(primary)) return primary;
  throw new ServiceError("UNPROCESSABLE", `Unknown language ${name}; known are ${LANGUAGES.join(", ")}.`);
}
