import { join } from "node:path";
import { tablesFolder } from "./checkpoint.ts";
import { type Disk, listFilesBelow, removeTree } from "./disk.ts";
import { asideFolder } from "./open-tables-at.ts";
import { isVersionHint } from "./tables/table-files.ts";

/** Files of the tables that no kept checkpoint names, and their removal. */
export class LeftOvers {
  readonly #disk: Disk;
  readonly #directory: string;
  /** Found so at the last look. A read that began before may still want one: gone at the next. */
  #found = new Set<string>();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /**
   * Removes what `named` does not have, from the second time it is found so; it was there before the checkpoint was, so
   * nothing that LanceDB still writes is among it.
   */
  async remove(named: ReadonlySet<string>): Promise<void> {
    const folder = tablesFolder(this.#directory);
    const found = new Set<string>();
    for (const path of await listFilesBelow(this.#disk, folder)) {
      if (named.has(path) || isVersionHint(path)) continue;
      if (this.#found.has(path)) await this.#disk.remove(join(folder, path));
      else found.add(path);
    }
    this.#found = found;
    await this.removeSetAside();
  }

  /** What was set aside at the start is in the tables again, and in a checkpoint. */
  async removeSetAside(): Promise<void> {
    for (const { name } of await this.#disk.list(asideFolder(this.#directory)))
      await removeTree(this.#disk, join(asideFolder(this.#directory), name));
  }

  /** Removes at once, and for certain, the tables of which `named` has no file, and that nobody reads any more. */
  async removeTables(named: ReadonlySet<string>): Promise<void> {
    const folder = tablesFolder(this.#directory);
    const staying = new Set(Array.from(named, (path) => path.split("/")[0]));
    for (const { name } of await this.#disk.list(folder))
      if (!staying.has(name)) await removeTree(this.#disk, join(folder, name));
    await this.#disk.syncDirectory(folder);
  }
}
