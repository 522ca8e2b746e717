import { expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { pythonCode } from "./python-code.ts";

it("the Python client has the types of the API, and a synchronous client like the asynchronous one; else run `npm run docs`", async () => {
  for (const [path, { is, shouldBe }] of await pythonCode())
    expect({ path, text: is }).toEqual({ path, text: shouldBe });
});

it("the Python client has the methods of the TypeScript client", async () => {
  const [, { is: python = "" } = {}] =
    [...(await pythonCode())].find(([path]) => path.endsWith("_client.py")) ?? [];
  const classes = python.split(/^class /m).slice(1);
  const methodsOf = (name: string) => {
    const body = classes.find((text) => text.startsWith(name)) ?? "";
    return new Set(Array.from(body.matchAll(/^ {4}def ([a-z]\w*)/gm), ([, method]) => method));
  };
  const inPython = (name: string) =>
    name === "import" ? "import_" : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const client = Object.entries(createClient());
  for (const [group, calls] of client)
    if (typeof calls === "object")
      expect({
        group,
        methods: methodsOf(`${group.charAt(0).toUpperCase()}${group.slice(1)}(_Calls)`),
      }).toEqual({
        group,
        methods: new Set(Object.keys(calls).map(inPython)),
      });
  const own = client.filter(([, call]) => typeof call === "function").map(([name]) => inPython(name));
  expect(methodsOf("Memoryd:")).toEqual(new Set([...own, "close"]));
});
