/** How long a call waits for its job where it does not say. */
const USUAL_WAIT_MS = 60_000;
/** Longer, and what is between may hang up. */
const LONGEST_WAIT_MS = 600_000;

/** What a `Prefer` header asks for, in milliseconds; preferences that mean nothing here are passed over. */
export function waitOf(prefer: string | readonly string[] | undefined): number {
  const preferences = [prefer ?? []]
    .flat()
    .join(",")
    .split(/[,;]/)
    .map((part) => part.trim().toLowerCase());
  if (preferences.includes("respond-async")) return 0;
  const seconds = preferences
    .map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1])
    .find((found) => found !== undefined);
  return seconds === undefined ? USUAL_WAIT_MS : Math.min(Number(seconds) * 1_000, LONGEST_WAIT_MS);
}
