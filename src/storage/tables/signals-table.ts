import { number } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const signalsTable = rowTable("signals", { salience: number, lastSeenAt: number });
