import { isMap, parseDocument, type YAMLMap } from "yaml";
import { isObject } from "../../config/narrow.ts";
import { type EntryFormat, RefusedEdit } from "./known-agents.ts";

/** Changes of one entry of a section in a YAML file. Comments and other values stay; indentation may not. */
export const YAML_ENTRIES: EntryFormat = {
  parse(text) {
    const value: unknown = documentOf(text).toJS() ?? {};
    if (!isObject(value)) throw new RefusedEdit("It does not hold names with values");
    return value;
  },
  put(text, [section, name], entry) {
    const document = documentOf(text);
    const entries = document.get(section, true);
    if (isMap(entries)) entries.set(name, document.createNode(entry));
    else document.set(section, document.createNode({ [name]: entry }));
    return written(document, text);
  },
  /** With the section where nothing else is in it. */
  take(text, [section, name]) {
    const document = documentOf(text);
    document.deleteIn([section, name]);
    const entries = document.get(section, true);
    if (isMap(entries) && entries.items.length === 0) document.delete(section);
    return document.contents?.items.length === 0 ? "" : written(document, text);
  },
};

function documentOf(text: string) {
  const document = parseDocument<YAMLMap>(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  throw new RefusedEdit(`It is not YAML (line ${error.linePos?.[0].line ?? 1})`, { cause: error });
}

/** The document with the line ends of a text. */
function written(document: ReturnType<typeof documentOf>, text: string): string {
  const edited = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return text.includes("\r\n") ? edited.replaceAll("\n", "\r\n") : edited;
}
