import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { modelUnavailable } from "../../core/errors.ts";
import { type ModelFile, PACKAGE_ROOT, readVerified } from "../bundled-models.ts";
import { type Whisper, WINDOW_SAMPLES } from "./transcribe-recording.ts";
import type { WindowDecoder } from "./transcribe-window.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** The model that ships with the program. */
export const WHISPER_DIRECTORY = join(PACKAGE_ROOT, "data/models/whisper-base");

/** Hashes of the bundled files; those of another model are not checked. */
const SHA256 = {
  "encoder.onnx": "21b8002c245270fdf922decda52b2a8fda38e5ba019bcccffc0106b3f8afbc06",
  "decoder.onnx": "54e1759be2e1887c87b7b122c0f9b89ad06d6000cf43fd2cfd13a03065fbd1df",
  "vocab.json": "301dc3618e2f5068c09de45a8015eaf3004dfd8c27ecdf3da6e379917a813934",
} as const;
export const WHISPER_FILES = Object.keys(SHA256) as (keyof typeof SHA256)[];
/** The bundled files. */
export const BUNDLED_WHISPER: readonly ModelFile[] = WHISPER_FILES.map((name) => ({
  path: join(WHISPER_DIRECTORY, name),
  sha256: SHA256[name],
}));

const HEAD_DIMENSIONS = 64;

export interface WhisperOptions {
  /** A folder with the files of a Whisper model, of the interface that the bundled one's MODEL.md describes. */
  readonly directory: string;
  readonly isBundled: boolean;
  /** Cores that a run may use. */
  readonly threads: number;
}

/** Loads the model, its files checked. @throws {ServiceError} MODEL_UNAVAILABLE, saying what to do. */
export async function loadWhisper({ directory, isBundled, threads }: WhisperOptions): Promise<Whisper> {
  for (const name of WHISPER_FILES) {
    if (isBundled) await readVerified({ path: join(directory, name), sha256: SHA256[name] });
    else await access(join(directory, name)).catch((cause: unknown) => refuse(`${name} is missing`, cause));
  }
  try {
    const vocabulary = readVocabulary(await readFile(join(directory, "vocab.json"), "utf8"));
    // By path, so that a model of more than 2 GB finds the files beside it.
    const encoder = await openSession(join(directory, "encoder.onnx"), threads);
    const decoder = await openSession(join(directory, "decoder.onnx"), threads);
    return whisperOf(vocabulary, encoder, decoder);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), error);
  }

  function refuse(reason: string, cause: unknown): never {
    throw modelUnavailable(
      isBundled
        ? `The speech model does not load (${reason}): install memoryd again.`
        : `The folder ${directory} holds no speech model that can be used (${reason}): put ${WHISPER_FILES.join(", ")} there, or leave out --whisper-model-dir for the bundled model.`,
      { cause },
    );
  }
}

function openSession(path: string, threads: number): Promise<InferenceSession> {
  return InferenceSession.create(path, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    logSeverityLevel: 3,
  });
}

function whisperOf(vocabulary: Vocabulary, encoder: InferenceSession, decoder: InferenceSession): Whisper {
  const layers = encoder.outputNames.filter((name) => name.startsWith("cross_k_")).length;
  const caches = Array.from({ length: layers }, (_, i) => [`k_${i}`, `v_${i}`]).flat();
  const expected = ["tokens", ...caches.flatMap((name) => [`past_${name}`, `cross_${name}`])];
  if (layers === 0 || !expected.every((name) => decoder.inputNames.includes(name)))
    throw new TypeError("encoder and decoder have not the inputs and outputs that MODEL.md describes");
  return {
    vocabulary,
    async encode(sound) {
      const cross = await encoder.run({ pcm: new Tensor("float32", sound, [1, WINDOW_SAMPLES]) });
      return decoderOf(decoder, caches, cross);
    },
  };
}

function decoderOf(
  session: InferenceSession,
  caches: readonly string[],
  cross: InferenceSession.ReturnType,
): WindowDecoder {
  const heads = cross["cross_k_0"]?.dims[1] ?? 0;
  const nothing = new Tensor("float32", new Float32Array(0), [1, heads, 0, HEAD_DIMENSIONS]);
  let past: Record<string, Tensor> = {};
  return {
    restart() {
      past = Object.fromEntries(caches.map((name) => [`past_${name}`, nothing]));
    },
    async read(tokens) {
      const ids = new Tensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
      const answer = await session.run({ tokens: ids, ...past, ...cross });
      for (const name of caches) {
        const present = answer[`present_${name}`];
        if (present !== undefined) past[`past_${name}`] = present;
      }
      if (!(answer["logits"]?.data instanceof Float32Array))
        throw new TypeError("the decoder gave no logits");
      return answer["logits"].data;
    },
  };
}
