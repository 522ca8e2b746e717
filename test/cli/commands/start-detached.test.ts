import { describe, expect, it } from "vitest";
import { explainStartFailure } from "../../../src/cli/commands/start-detached.ts";
import { ServiceError } from "../../../src/core/errors.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no luck`), { code, syscall: "open" });
}

describe("explainStartFailure", () => {
  it.each([
    [
      systemError("EACCES"),
      /^The data directory \/data cannot be used: this user may not use .*; mend that, or name another with --data-dir\.$/,
    ],
    [systemError("ENOENT"), /^The data directory \/data cannot be used: there is no /],
    [systemError("ENOTDIR"), /^The data directory \/data cannot be used: a file is where /],
    [systemError("EEXIST"), /^The data directory \/data cannot be used: a file is in the way at /],
    [systemError("EROFS"), /read-only/],
    [
      systemError("ELOOP"),
      /^The data directory \/data cannot be used: .*circle; mend that, or name another with --data-dir\.$/,
    ],
    [systemError("ENAMETOOLONG"), /is too long; mend that, or name another with --data-dir\.$/],
    [systemError("ENOSPC"), /^The data directory \/data cannot be used: the disk is full; mend that/],
    [systemError("EMFILE"), /raise the limit \(`ulimit -n 4096`\)/],
    [new Error("wrapped", { cause: systemError("ENOSPC") }), /is full/],
    [
      new ServiceError("STORE_UNUSABLE", "The store is newer.", { cause: systemError("EACCES") }),
      /^The store is newer\.$/,
    ],
    [
      new ServiceError("STORE_UNUSABLE", "The store is damaged.", {
        cause: new Error("ended", {
          cause: Object.assign(new Error("Cannot find module 'dist/a.js'"), { code: "ERR_MODULE_NOT_FOUND" }),
        }),
      }),
      /^The program is incomplete: Cannot find module 'dist\/a\.js'\. Build it again/,
    ],
    [new TypeError("x is undefined"), /could not start: x is undefined/],
    ["odd", /could not start: odd/],
  ])("explains %s", (error, sentence) => {
    expect(explainStartFailure(error, "/data")).toMatch(sentence);
  });
});
