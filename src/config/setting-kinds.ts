/** The kinds of settings. Not TypeBox's, which takes longer to load than most commands take. */

export interface Setting<Value = string | number | readonly string[]> {
  readonly default: Value;
  /** Text for `--help` and docs/settings.md. */
  readonly description: string;
  /** In words that follow "must be". */
  readonly expected: string;
  /** True if the setting can have this value of the configuration file. */
  readonly accepts: (value: unknown) => boolean;
  /** The value of a text, in the type of the setting if it can be; the check follows. */
  readonly fromText: (said: string) => unknown;
  /** Empty where there is no fixed number of them. */
  readonly choices: readonly string[];
  /** Names a file or a folder: made absolute. */
  readonly isPath?: true;
  /** For the program itself and its tests: in no help and no documentation. */
  readonly isInternal?: true;
}
export type SettingValue<S extends Setting> = S extends Setting<infer Value> ? Value : never;

interface Form {
  readonly pattern: RegExp;
  readonly expected: string;
}

const plain = { choices: [], fromText: (said: string): unknown => said };

/** A text; without a form any, if the default is empty, else any but an empty one. */
export function text(description: string, usual = "", form?: Form): Setting<string> {
  const { pattern, expected } = form ?? {
    pattern: usual === "" ? /^/ : /[^]/,
    expected: "a text that is not empty",
  };
  const accepts = (value: unknown) => typeof value === "string" && pattern.test(value);
  return { ...plain, default: usual, description, expected, accepts };
}

export function path(description: string, usual = ""): Setting<string> {
  return { ...text(description, usual), isPath: true };
}

export function internal<Value>(setting: Setting<Value>): Setting<Value> {
  return { ...setting, isInternal: true };
}

export function wholeNumber(
  description: string,
  usual: number,
  [least, most]: readonly [least: number, most: number],
): Setting<number> {
  return {
    ...plain,
    default: usual,
    description,
    expected: `a whole number from ${least} to ${most}`,
    accepts: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
    fromText: (said) => (/^\d{1,15}$/.test(said.trim()) ? Number(said) : said),
  };
}

export function choice<const Choice extends string>(
  description: string,
  usual: Choice,
  choices: readonly Choice[],
): Setting<Choice> {
  const accepts = (value: unknown) => choices.some((each) => each === value);
  return {
    ...plain,
    default: usual,
    description,
    expected: `one of ${choices.join(", ")}`,
    accepts,
    choices,
  };
}

export function list(description: string, { pattern, expected }: Form): Setting<readonly string[]> {
  const isItem = (item: unknown) => typeof item === "string" && pattern.test(item);
  return {
    ...plain,
    default: [],
    description,
    expected,
    accepts: (value) => Array.isArray(value) && value.every(isItem),
    fromText: (said) =>
      said
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
  };
}
