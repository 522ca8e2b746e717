import { existsSync } from "node:fs";

type Value = string | number | readonly string[];
type Values = Readonly<Record<string, Value>>;
type Known = Readonly<Record<"name" | "flag" | "variable" | "description", string>> & {
  readonly default: Value;
};

/** Addresses, which may hold a password or a token. */
const ADDRESSES = new Set(["httpProxy", "summaryLlmUrl"]);

/** Settings with their values and where each comes from; secrets without their values, an empty `keyFile` for none. */
export function shownSettings(
  known: readonly Known[],
  values: Values,
  layers: Readonly<Record<"flag" | "variable" | "file", Partial<Values>>>,
  configFile: string,
  secrets: readonly { readonly name: string; readonly isVariable: boolean; readonly keyFile: string }[],
) {
  const items = known.map(({ name, flag, variable, description, default: usual }) => {
    const source =
      (["flag", "variable", "file"] as const).find((each) => layers[each][name] !== undefined) ??
      ("default" as const);
    const value = values[name] ?? usual;
    return {
      name,
      flag,
      variable,
      description,
      value: ADDRESSES.has(name) && typeof value === "string" ? withoutCredentials(value) : value,
      default: usual,
      source,
      from: { flag, variable, file: configFile, default: null }[source],
    };
  });
  return {
    items,
    secrets: secrets.map(({ name, isVariable, keyFile }) => ({
      name,
      from: isVariable ? name : keyFile === "" ? null : keyFile,
    })),
    configFile: existsSync(configFile) ? configFile : null,
  };
}

function withoutCredentials(address: string): string {
  // Up to the last "@": a password may hold any sign.
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1…@").replace(/[?#].*$/s, "?…");
}
