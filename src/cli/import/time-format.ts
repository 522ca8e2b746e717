import { parseTime } from "../../schemas/wire.ts";
import { usageFailure } from "../output/output.ts";

const PART = /(YYYY|MM|DD|HH|mm|ss)/;

/**
 * Reads times that are written in a format such as `DD.MM.YYYY HH:mm`, in UTC; undefined for what is not written so.
 * @throws {CliFailure} for a format without year, month and day, or with a part twice.
 */
export function timeReader(format: string): (text: string) => number | undefined {
  const pieces = format.split(PART);
  const names = pieces.filter((piece) => PART.test(piece));
  if (!["YYYY", "MM", "DD"].every((name) => names.includes(name)) || new Set(names).size < names.length)
    throw usageFailure(
      `--date-format needs YYYY, MM and DD once each, and may have HH, mm and ss; got ${JSON.stringify(format)}.`,
    );
  return (text) => {
    const parts = new Map<string, string>();
    let rest = text.trim();
    for (const piece of pieces) {
      const digits = piece === "YYYY" ? /^\d{4}/ : /^\d{1,2}/;
      const found = PART.test(piece) ? digits.exec(rest)?.[0] : piece;
      if (found === undefined || !rest.startsWith(found)) return undefined;
      parts.set(piece, found.padStart(2, "0"));
      rest = rest.slice(found.length);
    }
    const part = (name: string) => parts.get(name) ?? "00";
    const day = `${part("YYYY")}-${part("MM")}-${part("DD")}`;
    return rest === "" ? parseTime(`${day}T${part("HH")}:${part("mm")}:${part("ss")}Z`) : undefined;
  };
}
