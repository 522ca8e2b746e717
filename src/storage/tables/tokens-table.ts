import { int8Bytes, text } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const tokensTable = rowTable("tokens", { vectors: int8Bytes, stamp: text });
