/** Records of an export as lines of JSON, and back. */
import type { TransferRecord } from "../core/transfer/transfer-record.ts";
import { DocumentLine, FactLine, MemoryLine, type TransferLine, WaypointLine } from "../schemas/transfer.ts";
import { fromWire, toWire } from "../schemas/wire.ts";
import { writerOf } from "../core/memory.ts";
import { extractionFields, extractionOf } from "./document-record.ts";

export function lineOf(record: TransferRecord): TransferLine {
  switch (record.kind) {
    case "memory": {
      const { memory, signals } = record;
      const { supersedes, ...line } = toWire(MemoryLine, { type: "memory", ...memory, ...signals });
      return supersedes?.length === 0 ? line : { ...line, ...(supersedes && { supersedes }) };
    }
    case "document":
      return toWire(DocumentLine, {
        type: "document",
        ...record.document,
        extraction: extractionFields(record.document.extraction),
      });
    case "fact": {
      const { versions } = record;
      return toWire(FactLine, { type: "fact", ...versions[0], versions });
    }
    case "waypoint":
      return toWire(WaypointLine, { type: "waypoint", ...record.edge });
  }
}

export function recordOf(line: TransferLine): TransferRecord {
  switch (line.type) {
    case "memory": {
      const { type: kind, salience, lastSeenAt, ...memory } = fromWire(MemoryLine, line);
      return { kind, memory: { supersedes: [], ...memory }, signals: { salience, lastSeenAt } };
    }
    case "document": {
      const { type: kind, ...document } = fromWire(DocumentLine, line);
      return { kind, document: { ...document, extraction: extractionOf(document.extraction) } };
    }
    case "fact": {
      const { type: kind, versions, ...fact } = fromWire(FactLine, line);
      return {
        kind,
        versions: versions.map((version, i) => ({ ...writerOf({}), ...fact, ...version, version: i + 1 })),
      };
    }
    case "waypoint": {
      const { type: kind, ...edge } = fromWire(WaypointLine, line);
      return { kind, edge };
    }
  }
}
