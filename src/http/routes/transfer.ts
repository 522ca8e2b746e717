import { Readable } from "node:stream";
import { invalidRequest, ServiceError, tooLarge } from "../../core/errors.ts";
import type { TransferRecord } from "../../core/transfer/export-records.ts";
import { fromWire, LINES_MEDIA_TYPE } from "../../schemas/wire.ts";
import * as wire from "../../schemas/transfer.ts";
import { BODY_LIMITS, roundedInteger, scanJson } from "../../schemas/json-limits.ts";
import { batchReply, inTurns, mapInTurns } from "../batch.ts";
import { decodeUtf8, roundedNumber } from "../json-body.ts";
import { inScope } from "../request-fields.ts";
import { linesOf, recordOf } from "../transfer-line.ts";
import { validator } from "../validation.ts";
import { refuseOtherBodies, route, routes } from "../route.ts";
import { invalid } from "../problem.ts";

const checkHeader = validator(wire.ExportHeader, "The first line");
const checkEnd = validator(wire.EndLine, "The last line");
const checks = new Map(
  Object.entries(wire.TRANSFER_LINES).map(([type, schema]) => [type, validator(schema, "The line")]),
);

export const transferRoutes = routes(({ operationsOf, status }, app) => {
  refuseOtherBodies(app, "the lines of an export", LINES_MEDIA_TYPE);
  app.addContentTypeParser(LINES_MEDIA_TYPE, { parseAs: "buffer" }, (_request, bytes, done) =>
    done(null, bytes),
  );
  return {
    export: route("admin GET /export", "Everything, as lines of JSON", {
      answers: LINES_MEDIA_TYPE,
      description:
        "A first line that names the format, then memories, oldest first, what is known of documents, waypoints and facts with " +
        "all their versions, then an `end` line with their numbers; without it the answer was cut off. Originals of documents " +
        "are at `GET /documents/:id/file`.",
      querystring: wire.ExportQuery,
      handle: async (request, reply) => {
        const { waypoints = true, ...filter } = inScope(fromWire(wire.ExportQuery, request.query));
        const records = await operationsOf(request).exportRecords({ waypoints, ...filter });
        return reply
          .type(LINES_MEDIA_TYPE)
          .send(Readable.from(linesOf(records, status().version), { objectMode: false }));
      },
    }),
    import: route("admin POST /import", "Put back up to 1 000 lines of an export", {
      takes: LINES_MEDIA_TYPE,
      bodyKind: "lines",
      description:
        "The first line of the file, then some of its lines in order. Ids and times stay as they are; what is here is never changed. " +
        "What is accepted is stored as one.",
      answer: wire.ImportReply,
      handle: async (request) => {
        const items = await mapInTurns(await readLines(request.body), itemOf);
        const { results } = await operationsOf(request).restoreRecords({ items });
        const known = results.filter(
          (result) => !(result instanceof ServiceError) && result.outcome === "known",
        );
        const { added, ...reply } = await batchReply(results, items, "", request.id, ({ id, outcome }) => ({
          id,
          outcome,
        }));
        return { ...reply, added: added - known.length, known: known.length };
      },
    }),
  };
});

/** The lines between the first and an `end`, as far as they are JSON. @throws {ServiceError} INVALID_REQUEST, TOO_LARGE. */
async function readLines(body: unknown): Promise<(object | ServiceError)[]> {
  if (!Buffer.isBuffer(body)) throw invalid("", "must be lines of JSON, as application/x-ndjson");
  const excess = await inTurns(scanJson(body, BODY_LIMITS.lines));
  if (excess !== undefined) throw tooLarge(`The body ${excess}.`);
  const text = decodeUtf8(body);
  const [first = "", ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  const header = checkHeader(parseLine(first), "/lines/0");
  if ("error" in header) throw header.error;
  const lines = await mapInTurns(rest, parseLine);
  const last = lines.at(-1);
  if (last !== undefined && "value" in checkEnd(last)) lines.pop();
  if (lines.length > wire.MAX_IMPORT_LINES)
    throw tooLarge(
      `More than ${wire.MAX_IMPORT_LINES} lines are not taken at once; \`memoryd import\` sends a file in parts.`,
    );
  return lines;
}

function parseLine(line: string): object | ServiceError {
  const rounded = roundedInteger(line);
  if (rounded !== undefined) return roundedNumber("The line", rounded);
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The parser's own message quotes the line, which may be private.
  }
  return invalidRequest("The line is not a JSON object.");
}

function itemOf(line: object | ServiceError, index: number): TransferRecord | ServiceError {
  if (line instanceof ServiceError) return line;
  const path = `/lines/${index + 1}`;
  const check = "type" in line && typeof line.type === "string" ? checks.get(line.type) : undefined;
  if (check === undefined) return invalid(`${path}/type`, `must be one of ${[...checks.keys()].join(", ")}`);
  const checked = check(line, path);
  return "error" in checked ? checked.error : recordOf(checked.value as wire.TransferLine);
}
