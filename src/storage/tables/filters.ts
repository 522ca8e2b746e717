import { storedText } from "./columns.ts";

/**
 * A filter for rows whose column is one of some texts. The one place where a value becomes part of a filter: in
 * LanceDB's SQL a quote is doubled and nothing else has a meaning inside quotes.
 */
export function isOneOf(column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => `'${storedText(value).replaceAll("'", "''")}'`).join(",")})`;
}
