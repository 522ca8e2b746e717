import { NAMES_A_USER, type Checked } from "./check-item.ts";
import type { ImportItem } from "./import-item.ts";

/** Passes on what came of an item, unless it belongs to a record of the same export that was refused for its user. */
export type LeaveOut = (item: ImportItem, checked: Checked) => Checked;

/** Remembers records that were refused for their user: their waypoints and originals would only fail after them. */
export function refusedOwners(): LeaveOut {
  const refused = new Set<unknown>();
  const belongs = (item: ImportItem): boolean => {
    if (item.kind === "original") return refused.has(item.documentId);
    if (item.kind !== "line" || item.body["type"] !== "waypoint") return false;
    return refused.has(item.body["source"]) || refused.has(item.body["target"]);
  };
  return (item, checked) => {
    if (item.kind === "line" && "reason" in checked && checked.reason === NAMES_A_USER) {
      refused.add(item.body["id"]);
      return checked;
    }
    if (!belongs(item)) return checked;
    const reason = "waypoints and originals of records that name a user";
    return { kind: "skipped", where: item.where, reason };
  };
}
