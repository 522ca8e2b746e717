/** Text in pictures: Tesseract as WebAssembly, which decodes them too, all in this process and from files of two packages. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { loadedOnce } from "../../core/at-once.ts";
import { type ServiceError, tooLarge, unprocessable, unsupportedMediaType } from "../../core/errors.ts";
import type { Block } from "../../core/documents/extraction.ts";
import { type ReadDocument, plainTextBlocks } from "./clean-text.ts";

/** Packages that are installed by who wants it: together they have 58 MB. */
const PROGRAM = "tesseract.js-core";
const LANGUAGES = "@tesseract.js-data";
const OCR_PACKAGES = [PROGRAM, `${LANGUAGES}/eng`];

/** A page of A4 at 600 points per inch has 35 million. */
export const MAX_PIXELS = 40_000_000;
/** Time grows with each language. */
const MAX_LANGUAGES = 4;
/** Orientations of Exif; a picture without a text that can be read is tried in all. */
const UPRIGHT = 1;
const TURNED = [6, 8, 3];
/** Tesseract's confidence in percent. What it finds in photos has 20 to 50, print more than 80. */
const MIN_CONFIDENCE = 60;
const SURE = 75;
const LSTM_ONLY = 1;

/** The part of it that is used; it has no types of its own. */
interface Tesseract {
  readonly FS: { writeFile(name: string, data: Uint8Array): void };
  readonly TessBaseAPI: new () => {
    Init(path: null, languages: string, mode: number): number;
    SetImageFile(exif: number, angle: number): number;
    Recognize(monitor: null): number;
    MeanTextConf(): number;
    GetJSONText(page: number): string;
    Clear(): void;
  };
}

type Recognised = { readonly confidence: number; readonly blocks: readonly Block[] };

/**
 * The text of a PNG, JPEG or WebP picture, in whichever of the four directions it stands, with `confidence` from 0 to 1.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE where Tesseract is not installed; TOO_LARGE above 40 million pixels; UNPROCESSABLE
 *   if the picture is damaged, or holds no text.
 */
export async function readPicture(bytes: Uint8Array): Promise<ReadDocument> {
  const size = pictureSize(bytes);
  if (size === undefined || size.width * size.height === 0) throw damaged();
  const pixels = size.width * size.height;
  if (pixels > MAX_PIXELS) {
    const megapixels = Math.round(pixels / 1e6);
    throw tooLarge(
      `The picture has ${megapixels} megapixels; the limit is ${MAX_PIXELS / 1e6}. Make it smaller.`,
    );
  }
  const { confidence, blocks } = (await recognise())(bytes);
  if (confidence < MIN_CONFIDENCE || blocks.length === 0)
    throw unprocessable("The picture holds no text that can be read.");
  return { blocks, confidence: confidence / 100 };
}

/**
 * The text of a scanned page in any format of Netpbm; undefined where it has none that can be read.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE where Tesseract is not installed.
 */
export async function readScan(picture: Uint8Array): Promise<Recognised | undefined> {
  const found = (await recognise())(picture);
  return found.confidence >= MIN_CONFIDENCE && found.blocks.length > 0 ? found : undefined;
}

const recognise = loadedOnce(load);

async function load(): Promise<(picture: Uint8Array) => Recognised> {
  const require = createRequire(import.meta.url);
  let wasm: string;
  let folder: string;
  try {
    wasm = require.resolve(`${PROGRAM}/tesseract-core-simd-lstm.wasm`);
    folder = dirname(dirname(require.resolve(`${LANGUAGES}/eng/package.json`)));
  } catch {
    throw unsupportedMediaType(
      `The file holds pictures instead of text. To read the text in pictures, install beside memoryd: npm install ${OCR_PACKAGES.join(" ")}`,
    );
  }
  const start = require(`${PROGRAM}/tesseract-core-simd-lstm.js`) as (options: object) => Promise<Tesseract>;
  const nothing = () => undefined;
  const core = await start({
    wasmBinary: readFileSync(wasm),
    TesseractProgress: nothing,
    print: nothing,
    printErr: nothing,
  });
  const languages = readdirSync(folder)
    .filter((name) => /^[a-z_]{3,12}$/.test(name))
    .sort((a, b) => Number(b === "eng") - Number(a === "eng"))
    .slice(0, MAX_LANGUAGES);
  for (const language of languages)
    core.FS.writeFile(`/${language}.traineddata`, languageData(join(folder, language), language));
  const api = new core.TessBaseAPI();
  if (api.Init(null, languages.join("+"), LSTM_ONLY) !== 0) throw new Error("Tesseract does not start");

  const inDirection = (exif: number): Recognised => {
    if (api.SetImageFile(exif, 0) !== 0 || api.Recognize(null) !== 0) throw damaged();
    return { confidence: api.MeanTextConf(), blocks: blocksOf(api.GetJSONText(0)) };
  };
  return (picture) => {
    core.FS.writeFile("/input", picture);
    let best = inDirection(UPRIGHT);
    // A page without any mark has none in another direction.
    for (const exif of best.confidence === 0 ? [] : TURNED) {
      if (best.confidence >= SURE) break;
      const found = inDirection(exif);
      if (found.confidence > best.confidence) best = found;
    }
    api.Clear();
    core.FS.writeFile("/input", new Uint8Array());
    return best;
  };
}

/** Trained data for whole numbers is a third in size of the other, and as good on print. */
function languageData(folder: string, language: string): Uint8Array {
  const versions = readdirSync(folder).filter((name) => /^\d/.test(name));
  const version = versions.find((name) => name.endsWith("best_int")) ?? versions[0] ?? "";
  return gunzipSync(readFileSync(join(folder, version, `${language}.traineddata.gz`)));
}

interface Page {
  readonly blocks?: readonly {
    readonly paragraphs?: readonly { readonly text: string; readonly confidence: number }[];
  }[];
}

function blocksOf(json: string): Block[] {
  const { blocks = [] } = JSON.parse(json) as Page;
  return blocks
    .flatMap(({ paragraphs = [] }) => paragraphs)
    .filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
    .flatMap(({ text }) => plainTextBlocks(text));
}

const damaged = (): ServiceError =>
  unprocessable("The picture is damaged or cut off. Get it again, or save it again.");

/** Width and height of a PNG, JPEG or WebP picture by its head, before anything is decoded; undefined where it has none. */
export function pictureSize(
  bytes: Uint8Array,
): { readonly width: number; readonly height: number } | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    if (view.readUInt32BE(0) === 0x89504e47)
      return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
    if (view.readUInt16BE(0) === 0xffd8) return jpegSize(view);
    return webpSize(view);
  } catch (error) {
    // Cut off within its head.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** From the first frame header; segments before it are skipped. */
function jpegSize(view: Buffer) {
  for (let at = 2; ;) {
    if (view.readUInt8(at) !== 0xff) return undefined;
    const marker = view.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    // C4, C8 and CC are tables.
    else if ((marker >= 0xc0 && marker <= 0xcf && marker % 4 !== 0) || marker === 0xc0)
      return { height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) };
    else at += 2 + view.readUInt16BE(at + 2);
  }
}

function webpSize(view: Buffer) {
  const kind = view.toString("latin1", 12, 16);
  if (kind === "VP8X") return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ")
    return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
  if (kind !== "VP8L") return undefined;
  const bits = view.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** Smaller pictures are logos. */
const MIN_SIDE = 300;

/** A picture as pdf.js gives it. */
export interface PageImage {
  readonly width: number;
  readonly height: number;
  /** 1: one bit per pixel, white is 1; 2: red, green and blue; 3: those and opacity. */
  readonly kind: number;
  readonly data?: Uint8Array | Uint8ClampedArray;
}

/** A picture in a format of Netpbm; undefined for one that is too small for a page, or has no pixels. */
export function asNetpbm({ width, height, kind, data }: PageImage): Uint8Array | undefined {
  if (data === undefined || Math.min(width, height) < MIN_SIDE) return undefined;
  const head = (format: string) =>
    Buffer.from(`${format}\n${width} ${height}\n${format === "P4" ? "" : "255\n"}`);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  if (kind === 1) return Buffer.concat([head("P4"), bytes.map((byte) => byte ^ 0xff)]);
  if (kind === 2) return Buffer.concat([head("P6"), bytes]);
  const colours = Buffer.alloc(width * height * 3);
  for (let from = 0, to = 0; to < colours.length; from += 4, to += 3)
    colours.set(bytes.subarray(from, from + 3), to);
  return Buffer.concat([head("P6"), colours]);
}
