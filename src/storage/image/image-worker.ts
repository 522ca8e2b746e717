/**
 * The process that makes an image beside the daemon: it reads the tables at a checkpoint as a start does, and writes the image to
 * its standard output. It writes no file, and ends with the daemon.
 */
import { pipeline } from "node:stream/promises";
import { StoreCatalogue } from "../catalogue/catalogue.ts";
import { StampedVectors } from "../catalogue/stamped-vectors.ts";
import { WordIndex } from "../catalogue/word-index.ts";
import { encodeImage } from "./index-image.ts";
import type { ImageOrder } from "./kept-image.ts";
import { imageOf, loadImaged } from "../store-indexes.ts";
import { openTables } from "../tables/tables.ts";

process.on("disconnect", () => process.exit());
if (!process.connected) process.exit();

const { folder, states, stamp, key, sequence } = JSON.parse(process.argv[2] ?? "") as ImageOrder;
const indexes = {
  catalogue: new StoreCatalogue(Date.now),
  words: new WordIndex(),
  vectors: new StampedVectors(stamp),
};
const tables = await openTables(folder, states, { isFixed: true });
const log = { info() {}, warn() {}, error() {} };
await loadImaged(indexes, tables, log);
await tables.close();
await pipeline(encodeImage({ key, sequence }, imageOf(indexes)), process.stdout);
// Else the channel to the daemon keeps it.
process.disconnect();
