import type { EverydaySet } from "./everyday-set.ts";
import { CHANGES, RESEMBLING, NEAR, FAR, ASKED, BESIDE } from "./changes.ts";
const DAY = 86_400_000;
export function changesSet(): EverydaySet {
  const now = Date.now();
  const seen = new Set<string>();
  const series = RESEMBLING.flat().filter((t) => !seen.has(t) && seen.add(t));
  return {
    name: "changes",
    now,
    memories: [
      ...CHANGES.map(([earlier], i) => ({
        name: `e${i}`,
        content: earlier,
        userId: "u",
        occurredAt: now - (600 - i * 3) * DAY,
      })),
      ...series.map((content, i) => ({
        name: `s${i}`,
        content,
        userId: "u",
        occurredAt: now - (480 - i) * DAY,
      })),
      ...CHANGES.map(([, later], i) => ({
        name: `l${i}`,
        content: later,
        userId: "u",
        occurredAt: now - (200 - i * 3) * DAY,
      })),
    ],
    questions: [
      ...CHANGES.map(([, , q], i) => ({
        kind: "updated",
        userId: "u",
        text: q,
        expect: [`l${i}`],
        stale: [`e${i}`],
      })),
      ...CHANGES.map(([, , , q], i) => ({
        kind: "history",
        userId: "u",
        text: q,
        expect: [`e${i}`],
        stale: [],
      })),
      ...ASKED.map(([q, start]) => ({
        kind: "asked",
        userId: "u",
        text: q,
        expect: series.flatMap((t, i) => (t.startsWith(start) ? [`s${i}`] : [])),
        stale: [],
      })),
      ...BESIDE.map((q) => ({ kind: "none-beside", userId: "u", text: q, expect: [], stale: [] })),
      ...NEAR.map((q) => ({ kind: "none-near", userId: "u", text: q, expect: [], stale: [] })),
      ...FAR.map((q) => ({ kind: "none-far", userId: "u", text: q, expect: [], stale: [] })),
    ],
  };
}
