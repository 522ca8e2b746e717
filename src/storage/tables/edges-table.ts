import { number, oneOf, text } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const edgesTable = rowTable("edges", {
  source: text,
  target: text,
  kind: oneOf(),
  weight: number,
  createdAt: number,
});
