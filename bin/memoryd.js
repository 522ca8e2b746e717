#!/usr/bin/env node
// Plain JavaScript of any age: it must get as far as its sentence on every Node there is.
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    "memoryd needs Node 20.19 or newer, and this is " +
      process.versions.node +
      ". Install a newer one from https://nodejs.org and try again.\n",
  );
  process.exitCode = 1;
} else {
  // A listener for it keeps Node's debugger shut, which a signal from any process of this user would open.
  process.on("SIGUSR1", function () {});
  // Empty or relative, each would name another place in every working directory: as good as unset, as the XDG
  // specification says of its own.
  ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"].forEach(function (name) {
    if (process.env[name] !== undefined && !/^([/\\]|[a-z]:)/i.test(process.env[name]))
      delete process.env[name];
  });
  // A request whose connection is closed before an answer may never settle, and Node ends where nothing is left to wait for.
  let hasEnded = false;
  process.on("beforeExit", function () {
    if (hasEnded) return;
    process.stderr.write(
      "The connection was closed before an answer came. Look before you repeat the command.\n",
    );
    process.exit(1);
  });
  import("../dist/program/main.js").then(
    function (cli) {
      return cli.main(process.argv.slice(2)).finally(function () {
        hasEnded = true;
      });
    },
    function (error) {
      const missing =
        error && error.code === "ERR_MODULE_NOT_FOUND" && String(error.message).includes("main.js");
      process.stderr.write(
        missing
          ? "memoryd is not built yet; run `npm install` (or `npm run build`) in its folder first.\n"
          : "memoryd cannot start: " + ((error && error.message) || error) + "\n",
      );
      process.exitCode = 1;
      hasEnded = true;
    },
  );
}
