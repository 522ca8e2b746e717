import { join } from "node:path";
import { MINILM } from "../../src/models/bundled-models.ts";
import { fillStore } from "../support/fill-store.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import { callBeside, ms, table, timed, timeInTurns, timingOf } from "./measure.ts";

const SUMMARISED = 5_000;
const DELETED = 100_000;
const WAYPOINTS = 4;

/** A summary of a user with 5 000 memories, and the deletion of one with 100 000 while others ask `/livez`. */
export async function benchUsers(directory: string): Promise<string> {
  const small = join(directory, "small");
  await fillStore({ directory: small, count: SUMMARISED, stamp: MINILM.stamp, users: 1 });
  let daemon = await startDaemonUnderLoad(small);
  const first = await timed(() => daemon.get("/users/user0/summary"));
  await daemon.loopDelay();
  const regenerate = () => daemon.post("/users/user0/summary/regenerate", {});
  const { again } = await timeInTurns({ again: regenerate }, { rounds: 1, perRound: 5 });
  const summarising = await daemon.loopDelay();
  await daemon.stop();

  const large = join(directory, "large");
  await fillStore({ directory: large, count: DELETED, stamp: MINILM.stamp, users: 1, waypoints: WAYPOINTS });
  daemon = await startDaemonUnderLoad(large);
  await daemon.loopDelay();
  const beside = callBeside(() => daemon.get("/livez"));
  const took = await timed(() => daemon.delete("/users/user0/memories"));
  const deleting = await daemon.loopDelay();
  await beside.stop();
  await daemon.stop();
  return table(
    ["", "took", "longest step of the main thread", "slowest other answer", "goal"],
    [
      [`first summary of ${SUMMARISED} memories`, ms(first), "", "", "≤ 1 s"],
      ["the same, made again", ms(again.p50), ms(summarising.max), "", "≤ 1 s; step ≤ 50 ms"],
      [
        `deletion of ${DELETED} memories with ${WAYPOINTS * DELETED} waypoints in one record`,
        ms(took),
        ms(deleting.max),
        ms(timingOf(beside.times).max),
        "step ≤ 50 ms",
      ],
    ],
  );
}
