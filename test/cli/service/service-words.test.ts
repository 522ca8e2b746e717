import fc from "fast-check";
import { expect, it } from "vitest";
import {
  commandIn,
  serviceDefinition,
  type ServiceRequest,
} from "../../../src/cli/service/service-definition.ts";

const REQUEST: ServiceRequest = {
  platform: "linux",
  home: "/home/ada",
  command: [],
  stopTimeoutMs: 10_000,
  user: "501",
  temporaryFolder: "/tmp",
};
const word = fc.string({
  unit: fc.constantFrom("a", "B", " ", "\\", '"', "%", "$", "&", "<", ">", "n", "'", "é", "-", "="),
  minLength: 1,
  maxLength: 8,
});

it.each(["linux", "darwin", "win32"] as const)("reads back the command of a service on %s", (platform) => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 2, maxLength: 5 }), (command) => {
      const text = serviceDefinition({ ...REQUEST, platform, command })?.text ?? "";
      const detached = platform === "win32" ? ["--detach"] : [];
      expect(commandIn(platform, text)).toEqual([...command, ...detached]);
    }),
  );
});

it("reads a command that a person wrote", () => {
  expect(commandIn("linux", "[Service]\nExecStart=/usr/bin/node /m/memoryd.js start\n")).toEqual([
    "/usr/bin/node",
    "/m/memoryd.js",
    "start",
  ]);
});

it.each(["linux", "darwin", "win32"] as const)("finds none in another text on %s", (platform) => {
  expect(commandIn(platform, "[Service]\n")).toBeUndefined();
});
