import { beforeEach, describe, expect, it } from "vitest";
import { type KeyRing, MAX_KEYS } from "../../../src/core/access/key-ring.ts";
import { createFakeKeyFile, createKeyRing, type FakeKeyFile } from "../../support/key-ring.ts";

const NOW = Date.UTC(2026, 10, 21, 10, 15);
const HOUR_MS = 3_600_000;
const clock = { at: NOW, now: () => clock.at };
let file: FakeKeyFile;
let ring: KeyRing;
beforeEach(() => {
  clock.at = NOW;
  file = createFakeKeyFile();
  ring = createKeyRing(clock, file);
});

const create = (name: string, more = {}) => ring.create({ name, scope: "write", ...more });

describe("a key ring", () => {
  it("keeps of a key what tells it from others, and never the key", async () => {
    const { key, kept } = await create("laptop", { userId: "ann", expiresAt: NOW + HOUR_MS });
    expect(kept).toMatchObject({
      name: "laptop",
      prefix: "mk_00000001",
      scope: "write",
      userId: "ann",
      createdAt: NOW,
      expiresAt: NOW + HOUR_MS,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect(key.startsWith(kept.prefix)).toBe(true);
    expect(kept.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(file.kept)).not.toContain(key.slice(kept.prefix.length + 1));
    expect(file.kept).toEqual(ring.keys);
  });

  it("locks with the first key, and stays locked until it is unlocked", async () => {
    expect(ring.isLocked).toBe(false);
    const { kept } = await create("laptop");
    expect(ring.isLocked).toBe(true);
    await ring.revoke(kept.id);
    expect(ring.isLocked).toBe(true);
    expect(createKeyRing(clock, file).isLocked).toBe(true);
    expect(await ring.unlock()).toBe(1);
    expect(ring.isLocked).toBe(false);
    expect(createKeyRing(clock, file).isLocked).toBe(false);
  });

  it("lets a key end by the clock, while it runs", async () => {
    const { kept } = await create("guest", { expiresAt: NOW + HOUR_MS });
    expect(ring.stateOf(kept)).toBe("active");
    clock.at += HOUR_MS;
    expect(ring.stateOf(kept)).toBe("expired");
    // A clock that is set back: nothing was decided for good.
    clock.at -= 1;
    expect(ring.stateOf(kept)).toBe("active");
  });

  it("revokes once, for good", async () => {
    const { kept } = await create("laptop");
    clock.at += 5;
    const revoked = await ring.revoke(kept.id);
    expect(revoked).toMatchObject({ revokedAt: NOW + 5 });
    expect(ring.stateOf(revoked)).toBe("revoked");
    clock.at += 5;
    expect(await ring.revoke(kept.id)).toMatchObject({ revokedAt: NOW + 5 });
    await expect(ring.revoke("unknown")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("gives a name to one active key at a time", async () => {
    const [first] = await Promise.all([
      create("laptop"),
      expect(create("laptop")).rejects.toMatchObject({ code: "CONFLICT" }),
    ]);
    await ring.revoke(first.kept.id);
    await expect(create("laptop")).resolves.toMatchObject({ kept: { name: "laptop" } });
  });

  it("makes no admin of one user, and no key that has ended", async () => {
    await expect(create("a", { scope: "admin", userId: "ann" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      fields: [{ path: "/user_id" }],
    });
    await expect(create("a", { expiresAt: NOW })).rejects.toMatchObject({
      fields: [{ path: "/expires_at" }],
    });
    expect(ring.isLocked).toBe(false);
  });

  it("changes nothing when the file cannot be written", async () => {
    file.fault = new Error("disk full");
    await expect(create("laptop")).rejects.toThrow("disk full");
    expect(ring.isLocked).toBe(false);
    const { kept } = await create("laptop");
    file.fault = new Error("disk full");
    await expect(ring.revoke(kept.id)).rejects.toThrow("disk full");
    expect(ring.keys).toEqual([kept]);
    await expect(ring.revoke(kept.id)).resolves.toMatchObject({ revokedAt: NOW });
  });

  it("notes the hour of use, and writes at most once an hour", async () => {
    const { kept } = await create("laptop");
    const { writes } = file;
    for (let i = 0; i < 100; i += 1) ring.used(kept);
    expect(ring.lastUse(kept)).toBe(Date.UTC(2026, 10, 21, 10));
    expect(file.writes).toBe(writes);
    await ring.saveUses();
    expect(file.kept).toMatchObject([{ lastUsedAt: Date.UTC(2026, 10, 21, 10) }]);

    const [current] = ring.keys;
    if (current !== undefined) ring.used(current);
    await ring.saveUses();
    expect(file.writes).toBe(writes + 1);
  });

  it("takes the oldest that is of no use any more out for a new one when it is full", async () => {
    const { kept: first } = await create("first");
    const { kept: second } = await create("second", { expiresAt: NOW + HOUR_MS });
    for (let i = 2; i < MAX_KEYS; i += 1) await create(`key ${i}`);
    await expect(create("more")).rejects.toMatchObject({ code: "CONFLICT" });
    clock.at += HOUR_MS;
    await create("more");
    expect(ring.keys).toHaveLength(MAX_KEYS);
    expect(ring.keys.map(({ id }) => id)).not.toContain(second.id);
    expect(ring.keys[0]).toEqual(first);
  });
});
