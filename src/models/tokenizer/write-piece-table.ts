/** A part of `npm run build`: each start would read 250 000 pieces from JSON, which takes .4 s. */
import { MEMORYD_E5 } from "../bundled-models.ts";
import { writePieceTable } from "./piece-table-file.ts";

await writePieceTable(MEMORYD_E5.files.tokenizer);
