import { expect, it } from "vitest";
import { framework } from "../../src/client/frameworks/framework.ts";

it("names the package that is missing, and how to install it", async () => {
  const error = Object.assign(new Error("Cannot find package 'ai' imported from /x.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(framework(Promise.reject(error), "ai", "memoryd/ai-sdk")).rejects.toThrow(
    "memoryd/ai-sdk needs the package ai; install it with `npm install ai`.",
  );
});

it("passes on what goes wrong inside of a framework", async () => {
  const broken = new Error("its own fault");
  await expect(framework(Promise.reject(broken), "ai", "memoryd/ai-sdk")).rejects.toBe(broken);
});
