import { readdirSync, readFileSync } from "node:fs";
import { internal } from "../core/errors.ts";
import { type Language, readLanguage } from "../core/text/languages.ts";

const FOLDER = new URL("../../data/languages/", import.meta.url);

/**
 * The languages of a folder, one for each file `NAME.json`.
 * @param folder that of the program by default.
 * @throws {ServiceError} where there is none, or a file is damaged.
 */
export function readLanguages(folder: URL = FOLDER): Language[] {
  try {
    const names = readdirSync(folder).filter((file) => file.endsWith(".json"));
    if (names.length === 0) throw new TypeError("the folder is empty");
    return names.map((file) => readFile(new URL(file, folder), file));
  } catch (cause) {
    const { message } = cause as Error;
    throw internal(
      `The languages in ${folder.pathname} cannot be read: ${message}. Correct them, or install memoryd again; the data is not touched.`,
      { cause },
    );
  }
}

function readFile(path: URL, file: string): Language {
  try {
    return readLanguage(file.replace(".json", ""), JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new TypeError(`${file}: ${(cause as Error).message}`, { cause });
  }
}
