/** Records of an export as lines of JSON, and back. */
import type { TransferRecord } from "../core/transfer/export-records.ts";
import { DocumentLine, FactLine, MemoryLine, type TransferLine, WaypointLine } from "../schemas/transfer.ts";
import { EXPORT_FORMAT, EXPORT_VERSION, formatTime, fromWire, toWire } from "../schemas/wire.ts";
import type { Fact } from "../core/facts/fact.ts";
import { LATER_FIELDS, writerOf } from "../core/memory.ts";
import { extractionFields, extractionOf } from "./records.ts";

/**
 * An export: its first line, the records, and the line that counts them.
 * @param onFault gets a record that no line can say, as one of a damaged file; without it the export fails.
 */
export async function* linesOf(
  records: AsyncIterable<TransferRecord>,
  version: string,
  onFault?: (record: TransferRecord) => void,
): AsyncGenerator<string> {
  const counts = { memory: 0, document: 0, waypoint: 0, fact: 0 };
  yield jsonLine({
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    exported_at: formatTime(Date.now()),
    memoryd: version,
  });
  for await (const record of records) {
    let line: string;
    try {
      line = jsonLine(lineOf(record));
    } catch (error) {
      if (onFault === undefined) throw error;
      onFault(record);
      continue;
    }
    counts[record.kind] += 1;
    yield line;
  }
  yield jsonLine({
    type: "end",
    memories: counts.memory,
    documents: counts.document,
    waypoints: counts.waypoint,
    facts: counts.fact,
  });
}

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

function lineOf(record: TransferRecord): TransferLine {
  switch (record.kind) {
    case "memory": {
      const { memory, signals } = record;
      // Left out where it says nothing.
      const supersedes = memory.supersedes.length === 0 ? undefined : memory.supersedes;
      return toWire(MemoryLine, { type: "memory", ...memory, ...signals, supersedes });
    }
    case "document":
      return toWire(DocumentLine, {
        type: "document",
        ...record.document,
        extraction: extractionFields(record.document.extraction),
      });
    case "fact": {
      const { versions } = record;
      return toWire(FactLine, { type: "fact", ...(versions[0] as Fact), versions });
    }
    case "waypoint":
      return toWire(WaypointLine, { type: "waypoint", ...record.edge });
  }
}

export function recordOf(line: TransferLine): TransferRecord {
  switch (line.type) {
    case "memory": {
      const { type: kind, salience, lastSeenAt, ...memory } = fromWire(MemoryLine, line);
      return { kind, memory: { ...LATER_FIELDS, ...memory }, signals: { salience, lastSeenAt } };
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
