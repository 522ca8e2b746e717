import type { TableName } from "../../core/rows.ts";

/** A table at one of its versions. */
export interface TableState {
  /** With the generation: `memories-g1`. */
  readonly name: string;
  readonly version: number;
  readonly rows: number;
}

/** The name of a table's folder, without `.lance`. A generation is a table written anew beside the old one. */
export function generationName(table: TableName, generation: number): string {
  return `${table}-g${generation}`;
}

/** The table that a name with a generation belongs to; undefined if it is no such name. */
export function tableOf(name: string): string | undefined {
  return /^([a-z]+)-g[1-9]\d*$/.exec(name)?.[1];
}

/** The generation in such a name. */
export function generationOf(name: string): number | undefined {
  const digits = /-g([1-9]\d*)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
