#!/usr/bin/env node
// Agents start this at moments of a conversation. Whatever happens, it ends with 0: the agent must go on.
process.exitCode = 0;
process.on("uncaughtException", function () {
  process.exit(0);
});
import("../dist/cli/hooks/run-hook.js").then(
  function (hook) {
    return hook.runHook(process.argv.slice(2));
  },
  function () {},
);
