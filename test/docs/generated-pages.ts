/** The parts of docs/ that follow from the program: routes, commands, settings. `npm run docs` writes them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Argument, Command, Option } from "commander";
import { program } from "../../src/cli/main.ts";
import { SETTINGS } from "../../src/config/config.ts";
import { createTestServer } from "../support/test-server.ts";
import { nameOf, type OpenApi, type Route, type Schema } from "./openapi-shapes.ts";
import { exampleOf } from "./route-example.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** The pages of the HTTP API, by tag of their routes. */
const TAGS = ["memory", "fact", "document", "user", "system"] as const;

const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  ...Object.fromEntries(TAGS.map((tag) => [`docs/http-api-${tag}.md`, () => routesOf(tag)])),
  "docs/http-api-objects.md": objects,
  "docs/cli.md": commandLine,
  "docs/settings.md": settings,
};
const GENERATED = /(<!-- generated: npm run docs -->\n)[^]*?(<!-- end -->)/;

/** Each generated page as it should be, by path: the text around the marks is written by hand and kept. */
export async function generatedPages(): Promise<ReadonlyMap<string, { is: string; shouldBe: string }>> {
  const pages = new Map<string, { is: string; shouldBe: string }>();
  for (const [path, generate] of Object.entries(PAGES)) {
    const is = readFileSync(resolve(ROOT, path), "utf8");
    if (!GENERATED.test(is)) throw new Error(`${path} lacks the marks of its generated part`);
    const generated = await generate();
    pages.set(path, { is, shouldBe: is.replace(GENERATED, (_, from, to) => `${from}\n${generated}\n${to}`) });
  }
  return pages;
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`)
    .join("\n");

/** Defaults that depend on the machine, in words. */
const DEFAULTS: Readonly<Record<string, string>> = {
  dataDir: "the data folder of the user, see below",
};

function settings(): string {
  return table(
    ["flag", "variable", "default", "what"],
    SETTINGS.map(({ name, flag, variable, default: usual, description }) => {
      const isEmpty = usual === "" || (Array.isArray(usual) && usual.length === 0);
      const shown = DEFAULTS[name] ?? (isEmpty ? "" : `\`${String(usual)}\``);
      return [`\`${flag}\``, `\`${variable}\``, shown, description];
    }),
  );
}

function commandLine(): string {
  const memoryd = program([]);
  const shown = memoryd.createHelp().visibleCommands(memoryd);
  return memoryd.commands
    .filter((command) => shown.includes(command))
    .flatMap((command) => describeCommand(command))
    .join("\n\n");
}

/** Settings have a page of their own, and `--config` is said of all commands. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(["--config", ...SETTINGS.map(({ flag }) => flag)]);

function describeCommand(command: Command, parent?: unknown): string[] {
  const name = [typeof parent === "string" ? parent : "memoryd", command.name()].join(" ");
  const words = command.registeredArguments.map(argumentName).join(" ");
  const options = command.options.filter(({ long, hidden }) => !hidden && !SAID_ELSEWHERE.has(long ?? ""));
  const rows = [
    ...command.registeredArguments
      .filter(({ description }) => description !== "")
      .map((argument) => [`\`${argumentName(argument)}\``, argument.description]),
    ...options.map((option: Option) => [`\`${option.flags}\``, option.description]),
  ];
  const text = [`### \`${[name, words].join(" ").trim()}\``, `${capitalised(command.description())}.`];
  if (["start", "restart"].includes(command.name()))
    text.push("Takes every [setting](settings.md) as a flag, too.");
  if (rows.length > 0) text.push(table(["", "what"], rows));
  return [text.join("\n\n"), ...command.commands.flatMap((each) => describeCommand(each, name))];
}

function argumentName(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "…" : "");
  return argument.required ? name.toUpperCase() : `[${name.toUpperCase()}]`;
}

const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

async function openApi(): Promise<OpenApi> {
  return (await createTestServer().get("/openapi.json")).json<OpenApi>();
}

async function routesOf(tag: string): Promise<string> {
  const api = await openApi();
  const parts: string[] = [];
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, route] of Object.entries(methods))
      if (route.tags[0] === tag)
        parts.push(describeRoute(api, path, method, route), await exampleOf(api, path, method, route));
  return parts.join("\n\n");
}

async function objects(): Promise<string> {
  const api = await openApi();
  return Object.entries(api.components.schemas)
    .flatMap(([name, schema]) => {
      const rows = fieldsOf(api, schema, "").map((row) => row.toSpliced(1, 1));
      return rows.length === 0 ? [] : [`## ${name}`, table(["field", "type", "what"], rows)];
    })
    .join("\n\n");
}

function describeRoute(api: OpenApi, path: string, method: string, route: Route): string {
  const address = path.replace(/\{(\w+)\}/g, ":$1");
  const rows: string[][] = (route.parameters ?? []).map((parameter) => [
    `\`${parameter.name}\``,
    parameter.in,
    typeOf(parameter.schema),
    parameter.description ?? parameter.schema.description ?? "",
  ]);
  for (const [type, { schema }] of Object.entries(route.requestBody?.content ?? {})) {
    const where = type === "application/json" ? "body" : type;
    const fields = schema === undefined ? [] : fieldsOf(api, schema, where);
    rows.push(
      ...(fields.length > 0 ? fields : [["", where, schema === undefined ? "" : typeOf(schema), ""]]),
    );
  }
  const ok = Object.entries(route.responses).filter(([status]) => status.startsWith("2"));
  const answers = ok.map(([status, { content }]) => {
    const kinds = Object.entries(content ?? {}).map(([type, { schema }]) =>
      type === "application/json" && schema !== undefined ? typeOf(schema) : `\`${type}\``,
    );
    return [status, ...kinds].join(" ");
  });
  const text = [`## \`${method.toUpperCase()} ${address}\``];
  const says = [route.summary, route.description].filter((part) => part !== undefined && part !== "");
  text.push(
    `${says.map((part) => part?.replace(/\.?$/, ".")).join(" ")} Scope: ${route["x-scope"]}. Answers: ${answers.join("; ")}.`,
  );
  if (rows.length > 0) text.push(table(["field", "in", "type", "what"], rows));
  return text.join("\n\n");
}

/** A row for each field: name, where it stands, type, meaning. */
function fieldsOf(api: OpenApi, schema: Schema, where: string): string[][] {
  const all = schema.allOf?.flatMap((part) => fieldsOf(api, part, where)) ?? [];
  if (schema.$ref !== undefined)
    return fieldsOf(api, api.components.schemas[nameOf(schema.$ref)] ?? {}, where);
  const own = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const isNeeded = where !== "" && schema.required?.includes(name) === true;
    return [`\`${name}\`${isNeeded ? " (required)" : ""}`, where, typeOf(field), field.description ?? ""];
  });
  return [...all, ...own];
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined)
    return `[${nameOf(schema.$ref)}](http-api-objects.md#${nameOf(schema.$ref).toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return [...new Set(several.map(typeOf))].join(" or ");
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  const [type = "any"] = types as string[];
  const named =
    type === "array" && schema.items !== undefined ? `list of ${typeOf(schema.items)}` : types.join(" or ");
  const { minimum, maximum, minLength, maxLength, maxItems } = schema;
  const notes = [
    rangeOf(minimum, maximum, ""),
    rangeOf(minLength, maxLength, " characters"),
    maxItems === undefined ? "" : `≤ ${maxItems}`,
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ].filter((note) => note !== "");
  return notes.length === 0 ? named : `${named} (${notes.join(", ")})`;
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string {
  if (most !== undefined) return `${least === undefined ? "≤ " : `${least} to `}${most}${unit}`;
  return least === undefined || least === 0 || unit !== "" ? "" : `≥ ${least}`;
}
