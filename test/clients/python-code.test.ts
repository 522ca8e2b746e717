import { expect, it } from "vitest";
import { pythonCode } from "./python-code.ts";

it("the Python client has the types of the API, and a synchronous client like the asynchronous one; else run `npm run docs`", async () => {
  for (const [path, { is, shouldBe }] of await pythonCode())
    expect({ path, text: is }).toEqual({ path, text: shouldBe });
});
