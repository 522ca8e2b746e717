/** The kinds of settings. Not TypeBox's, which takes longer to load than most commands take. */

interface Described {
  /** Text for `--help` and docs/settings.md. */
  readonly description: string;
  /** For the program itself and its tests: in no help and no documentation. */
  readonly isInternal?: true;
}
export interface TextSetting extends Described {
  readonly kind: "text";
  readonly default: string;
  readonly pattern: RegExp;
  readonly expected: string;
}
export interface NumberSetting extends Described {
  readonly kind: "number";
  readonly default: number;
  readonly minimum: number;
  readonly maximum: number;
}
export interface ChoiceSetting<Choice extends string = string> extends Described {
  readonly kind: "choice";
  readonly default: Choice;
  readonly choices: readonly Choice[];
}
export interface ListSetting extends Described {
  readonly kind: "list";
  readonly default: readonly string[];
  readonly pattern: RegExp;
  readonly expected: string;
}
export type Setting = TextSetting | NumberSetting | ChoiceSetting | ListSetting;
export type SettingValue<S extends Setting> =
  S extends ChoiceSetting<infer Choice>
    ? Choice
    : S extends NumberSetting
      ? number
      : S extends ListSetting
        ? readonly string[]
        : string;

/** A text; without a pattern any, if the default is empty, else any but an empty one. */
export function text({
  default: usual,
  pattern = usual === "" ? /^/ : /[^]/,
  expected = "a text that is not empty",
  description,
}: Pick<TextSetting, "default" | "description"> & Partial<TextSetting>): TextSetting {
  return { kind: "text", default: usual, pattern, expected, description };
}

export function wholeNumber(setting: Omit<NumberSetting, "kind">): NumberSetting {
  return { kind: "number", ...setting };
}

export function choice<const Choice extends string>(
  setting: Omit<ChoiceSetting<Choice>, "kind">,
): ChoiceSetting<Choice> {
  return { kind: "choice", ...setting };
}

export function list(setting: Omit<ListSetting, "kind" | "default">): ListSetting {
  return { kind: "list", default: [], ...setting };
}

/** True if the setting can have this value of the configuration file. */
export function accepts(setting: Setting, value: unknown): boolean {
  switch (setting.kind) {
    case "text":
      return typeof value === "string" && setting.pattern.test(value);
    case "number":
      return (
        typeof value === "number" &&
        Number.isInteger(value) &&
        value >= setting.minimum &&
        value <= setting.maximum
      );
    case "choice":
      return typeof value === "string" && setting.choices.includes(value);
    case "list":
      return (
        Array.isArray(value) && value.every((item) => typeof item === "string" && setting.pattern.test(item))
      );
  }
}

/** The value of a text, in the type of the setting if it can be; the check follows. */
export function fromText({ kind }: Setting, said: string): unknown {
  if (kind === "number") return /^\d{1,15}$/.test(said.trim()) ? Number(said) : said;
  if (kind !== "list") return said;
  return said
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export function expectationOf(setting: Setting): string {
  switch (setting.kind) {
    case "number":
      return `a whole number from ${setting.minimum} to ${setting.maximum}`;
    case "choice":
      return `one of ${setting.choices.join(", ")}`;
    default:
      return setting.expected;
  }
}
