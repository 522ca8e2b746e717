/** Records of an export as lines of JSON, and back. */
import type { Static } from "typebox";
import type { DocumentTransfer, TransferRecord } from "../core/transfer/transfer-record.ts";
import { DocumentLine, FactLine, MemoryLine, type TransferLine, WaypointLine } from "../schemas/transfer.ts";
import { fromWire, toWire } from "../schemas/wire.ts";

const MS_PER_SECOND = 1_000;

export function lineOf(record: TransferRecord): TransferLine {
  switch (record.kind) {
    case "memory": {
      const { memory, signals } = record;
      const { supersedes, ...line } = toWire(MemoryLine, { type: "memory", ...memory, ...signals });
      return supersedes?.length === 0 ? line : { ...line, ...(supersedes && { supersedes }) };
    }
    case "document":
      return documentLine(record);
    case "fact": {
      const { versions } = record;
      return toWire(FactLine, { type: "fact", ...versions[0], versions });
    }
    case "waypoint":
      return toWire(WaypointLine, { type: "waypoint", ...record.edge });
  }
}

/** Of a line that fits its schema. */
export function recordOf(line: TransferLine): TransferRecord {
  switch (line.type) {
    case "memory": {
      const { type: kind, salience, lastSeenAt, ...memory } = fromWire(MemoryLine, line);
      return { kind, memory: { supersedes: [], ...memory }, signals: { salience, lastSeenAt } };
    }
    case "document":
      return documentTransfer(line);
    case "fact": {
      const { type: kind, versions, ...fact } = fromWire(FactLine, line);
      return {
        kind,
        versions: versions.map((version, i) => ({ createdBy: null, ...fact, ...version, version: i + 1 })),
      };
    }
    case "waypoint": {
      const { type: kind, ...edge } = fromWire(WaypointLine, line);
      return { kind, edge };
    }
  }
}

function documentLine({ document }: DocumentTransfer): Static<typeof DocumentLine> {
  const { kind: contentType, durationMs, ...extraction } = document.extraction;
  return toWire(DocumentLine, {
    type: "document",
    ...document,
    extraction: {
      ...extraction,
      contentType,
      ...(durationMs !== undefined && { durationS: durationMs / MS_PER_SECOND }),
    },
  });
}

function documentTransfer(line: Static<typeof DocumentLine>): DocumentTransfer {
  const { type: kind, extraction, ...document } = fromWire(DocumentLine, line);
  const { contentType, durationS, ...account } = extraction;
  return {
    kind,
    document: {
      ...document,
      extraction: {
        ...account,
        kind: contentType,
        ...(durationS !== undefined && { durationMs: Math.round(durationS * MS_PER_SECOND) }),
      },
    },
  };
}
