import type { MemoryPorts } from "../memories/memory-ports.ts";
import { type Sector, SECTORS } from "../memory.ts";
import { SECTOR_DESCRIPTIONS } from "./sectors.ts";

export interface SectorCount {
  readonly name: Sector;
  readonly description: string;
  /** Memories with this primary sector. */
  readonly count: number;
}

/** The sectors in their fixed order, with counts over one user's memories or all. */
export function listSectors(
  { store }: Pick<MemoryPorts, "store">,
  filter: { readonly userId?: string },
): SectorCount[] {
  const counts = store.catalogue.sectorCounts(filter);
  return SECTORS.map((name) => ({ name, description: SECTOR_DESCRIPTIONS[name], count: counts[name] }));
}
