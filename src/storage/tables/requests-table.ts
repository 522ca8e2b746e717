import { json, number, text } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const requestsTable = rowTable("requests", { bodyHash: text, ids: json(), createdAt: number });
