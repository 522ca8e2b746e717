import { createHash } from "node:crypto";
import { type ApiKey, type KeyFile, KeyRing } from "../../src/core/access/key-ring.ts";
import { fakeId } from "./fake-operations.ts";

export interface FakeKeyFile extends KeyFile {
  kept: readonly ApiKey[] | undefined;
  writes: number;
  /** Thrown by the next write. */
  fault: Error | undefined;
}

export function createFakeKeyFile(): FakeKeyFile {
  const file: FakeKeyFile = {
    kept: undefined,
    writes: 0,
    fault: undefined,
    async write(keys) {
      const { fault } = file;
      file.fault = undefined;
      if (fault !== undefined) throw fault;
      file.writes += 1;
      file.kept = structuredClone(keys);
    },
    async remove() {
      file.kept = undefined;
    },
  };
  return file;
}

/** Keys count up: mk_00000001_… */
export function createKeyRing(clock: { now(): number }, file: FakeKeyFile = createFakeKeyFile()): KeyRing {
  let made = 0;
  return new KeyRing(
    {
      file,
      clock,
      ids: { newId: () => fakeId((made += 1)) },
      sha256: (text) => createHash("sha256").update(text).digest("hex"),
      newKey: () => {
        const prefix = `mk_${String(made + 1).padStart(8, "0")}`;
        return { key: `${prefix}_a-secret-that-nobody-can-guess`, prefix };
      },
    },
    file.kept,
  );
}
