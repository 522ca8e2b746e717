/**
 * The parts of the Python client that follow from others: its types from the API's description, and the synchronous client
 * from the asynchronous one. `npm run docs` writes them.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createTestServer } from "../support/test-server.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
}
interface Api {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const FOLDER = resolve(import.meta.dirname, "../../src/client/python/memoryd");
const MADE_BY = "Made by `npm run docs`; do not edit.";

/** Each generated file as it is and as it should be, by path. */
export async function pythonCode(): Promise<ReadonlyMap<string, { is: string; shouldBe: string }>> {
  const api = (await createTestServer().get("/openapi.json")).json<Api>();
  const read = (name: string) => readFileSync(resolve(FOLDER, name), "utf8");
  return new Map(
    [
      ["types.py", typesOf(api)],
      ["_client.py", synchronous(read("_async_client.py"))],
    ].map(([name = "", shouldBe = ""]) => [resolve(FOLDER, name), { is: read(name), shouldBe }]),
  );
}

/** What stands for what in a program that waits, the longest first. */
const SYNCHRONOUS: readonly (readonly [RegExp, string])[] = [
  [/^"""[^]*?"""/, `"""The synchronous client. ${MADE_BY}"""`],
  [/^import asyncio\n/m, ""],
  [/^import secrets\n/m, "import secrets\nimport time\n"],
  [/asyncio\.sleep/g, "time.sleep"],
  [/__aenter__/g, "__enter__"],
  [/__aexit__/g, "__exit__"],
  [/\b(a)(close|read|iter_bytes)\(/g, "$2("],
  [/AsyncBaseTransport/g, "BaseTransport"],
  [/AsyncClient/g, "Client"],
  [/AsyncIterator/g, "Iterator"],
  [/\bAsync(?=[A-Z])/g, ""],
  [/_AsyncCalls/g, "_Calls"],
  [/\basync (?=def|for|with)/g, ""],
  [/\bawait /g, ""],
  [/asynchronous/g, "synchronous"],
];
const synchronous = (source: string): string =>
  SYNCHRONOUS.reduce((text, [from, to]) => text.replace(from, to), source);

/** Types of the schemas and of each operation's query, as dictionaries. */
function typesOf({ components, paths }: Api): string {
  const queries = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ operationId, parameters = [] }) => {
      const asked = parameters.filter((one) => one.in === "query");
      if (asked.length === 0) return [];
      const properties = Object.fromEntries(asked.map(({ name, schema }) => [name, schema]));
      const required = asked.filter((one) => one.required === true).map(({ name }) => name);
      return dictionary(`${pascal(operationId)}Query`, { properties, required });
    });
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) =>
    schema.properties === undefined ? [`${name} = ${typeOf(schema)}`] : dictionary(name, schema),
  );
  const { text: _text, url: _url, ...fields } = components.schemas["Ingest"]?.properties ?? {};
  return [
    `"""The requests and answers of memoryd's HTTP API, as dictionaries. ${MADE_BY}"""`,
    "from __future__ import annotations\n\nfrom typing import Any, Literal, TypedDict",
    ...schemas,
    ...dictionary("IngestFields", { properties: fields }),
    ...queries,
    "",
  ].join("\n\n");
}

/** With required and optional fields: a class of each, `…Options` the optional ones, and one of both. */
function dictionary(name: string, { properties = {}, required = [] }: Schema): string[] {
  const fields = (isRequired: boolean) =>
    Object.entries(properties)
      .filter(([field]) => required.includes(field) === isRequired)
      .map(([field, schema]) => `    ${field}: ${typeOf(schema)}`);
  const [must, may] = [fields(true), fields(false)];
  const of = (title: string, lines: readonly string[], bases = "TypedDict") =>
    `class ${title}(${bases}):\n${lines.length === 0 ? "    pass" : lines.join("\n")}`;
  if (Object.keys(properties).some((field) => !/^[A-Za-z_]\w*$/.test(field) || field === "from"))
    return [alternative(name, properties)];
  if (may.length === 0) return [of(name, must)];
  if (must.length === 0) return [of(name, may, "TypedDict, total=False")];
  return [
    of(`${name}Options`, may, "TypedDict, total=False"),
    of(`_${name}`, must),
    of(name, [], `_${name}, ${name}Options`),
  ];
}

/** For names that are no names in Python, such as `from`. */
const alternative = (name: string, properties: Readonly<Record<string, Schema>>): string =>
  `${name} = TypedDict(\n    "${name}",\n    {${Object.entries(properties)
    .map(([field, schema]) => `"${field}": "${typeOf(schema).replaceAll('"', "'")}"`)
    .join(", ")}},\n    total=False,\n)`;

const PLAIN: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict[str, Any]",
};

const LITERALS: ReadonlyMap<unknown, string> = new Map([
  [null, "None"],
  [true, "True"],
  [false, "False"],
]);

function typeOf({ $ref, type = [], enum: values, const: only, anyOf, oneOf, items }: Schema): string {
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf("/") + 1);
  const either = anyOf ?? oneOf;
  if (either !== undefined) return [...new Set(either.map(typeOf))].join(" | ");
  const literals = values ?? (only === undefined ? undefined : [only]);
  if (literals !== undefined)
    return `Literal[${literals.map((one) => LITERALS.get(one) ?? JSON.stringify(one)).join(", ")}]`;
  const types = [type].flat();
  if (types.length === 0) return "Any";
  return types
    .map((one) =>
      one === "array" ? `list[${items === undefined ? "Any" : typeOf(items)}]` : (PLAIN[one] ?? "Any"),
    )
    .join(" | ");
}

const pascal = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
