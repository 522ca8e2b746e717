import { flagOf, ALL_SETTINGS, type StartedWith } from "./config.ts";

/** The arguments of a start with these settings. */
export function startWordsOf({ configFile, flags }: Omit<StartedWith, "secrets">): string[] {
  return [
    "start",
    ...(configFile === undefined ? [] : [`--config=${configFile}`]),
    ...Object.entries(flags).map(([name, value]) => `${flagOf(name)}=${value}`),
  ];
}

/** Settings in the arguments of a start, in both spellings of flags; ignores unknown flags and other words. */
export function readStartWords(words: readonly string[]): Omit<StartedWith, "secrets"> {
  const flags: Record<string, string> = {};
  let configFile: string | undefined;
  for (const [index, word] of words.entries()) {
    const [flag = "", ...rest] = word.split("=");
    const value = rest.length > 0 ? rest.join("=") : words[index + 1];
    if (value === undefined) continue;
    if (flag === "--config") configFile = value;
    const setting = ALL_SETTINGS.find((each) => each.flag === flag);
    if (setting !== undefined) flags[setting.name] = value;
  }
  return { ...(configFile !== undefined && { configFile }), flags };
}
