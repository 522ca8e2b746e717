import type { Sector } from "./memory.ts";

export interface SectorCount {
  readonly name: Sector;
  readonly description: string;
  readonly count: number;
}
