import { describe, expect, it } from "vitest";
import { explainStartFailure } from "../../../src/cli/commands/start-detached.ts";
import { ServiceError } from "../../../src/core/errors.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no luck`), { code, syscall: "open" });
}

describe("explainStartFailure", () => {
  it.each([
    [systemError("EACCES"), /^The data directory \/data may not be read or written .*--data-dir\.$/],
    [systemError("ENOTDIR"), /a file is in its way/],
    [systemError("EROFS"), /read-only/],
    [
      systemError("ELOOP"),
      /^The data directory \/data cannot be used: .*circle; name another with --data-dir\.$/,
    ],
    [systemError("ENAMETOOLONG"), /is too long; name another with --data-dir\.$/],
    [systemError("ENOSPC"), /is full; free some space/],
    [systemError("EMFILE"), /ulimit/],
    [new Error("wrapped", { cause: systemError("ENOSPC") }), /is full/],
    [
      new ServiceError("STORE_UNUSABLE", "The store is newer.", { cause: systemError("EACCES") }),
      /^The store is newer\.$/,
    ],
    [new TypeError("x is undefined"), /could not start: x is undefined/],
    ["odd", /could not start: odd/],
  ])("explains %s", (error, sentence) => {
    expect(explainStartFailure(error, "/data")).toMatch(sentence);
  });
});
