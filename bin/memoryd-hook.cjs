#!/usr/bin/env node
// Agents start this at moments of a conversation. Whatever happens, it ends with 0: the agent must go on.
// CommonJS and one file of ours: what Node starts soonest.
process.exitCode = 0;
process.on("uncaughtException", function () {
  process.exit(0);
});
void require("../dist/cli/hooks/hook.cjs").runHook(process.argv.slice(2));
