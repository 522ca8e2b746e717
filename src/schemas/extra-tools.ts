/** Groups of tools that `--tools` and `?tools=` add, by name. Apart from the tools, which take long to load. */
export const EXTRA_TOOLS = {
  list: "memory_list",
  reinforce: "memory_reinforce",
  timeline: "fact_timeline",
  summary: "memory_summary",
  ingest_text: "ingest_text",
  ingest_url: "ingest_url",
} as const;
export type ExtraTool = keyof typeof EXTRA_TOOLS;

/** Reads a list as `--tools` has it, separated by commas. @returns the first name that is none, as `unknown`. */
export function readExtraTools(
  list: string,
):
  | { readonly extra: ExtraTool[]; readonly unknown?: undefined }
  | { readonly extra?: undefined; readonly unknown: string } {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.find((name) => !Object.hasOwn(EXTRA_TOOLS, name));
  return unknown === undefined ? { extra: names as ExtraTool[] } : { unknown };
}
