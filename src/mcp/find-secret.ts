/** A kind of secret and how it looks. */
interface SecretShape {
  readonly kind: string;
  readonly shape: RegExp;
}

/** Prefixes that their issuers chose so that they can be recognised. */
const SHAPES: readonly SecretShape[] = [
  { kind: "a private key", shape: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/ },
  { kind: "a private key", shape: /\bPuTTY-User-Key-File-\d\b|\bAGE-SECRET-KEY-1[A-Z0-9]{50,}/ },
  { kind: "an AWS access key", shape: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/ },
  {
    kind: "a GitHub token",
    shape: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})/,
  },
  { kind: "a GitLab token", shape: /(?<![A-Za-z0-9])glpat-[\w-]{20,}/ },
  {
    kind: "a Slack token",
    shape: /(?<![A-Za-z0-9])(?:xox[abeoprs]-(?=[\w-]*\d)[\w-]{10,}|xapp-\d-[\w-]{10,})/,
  },
  { kind: "a Slack webhook", shape: /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{16,}/ },
  {
    kind: "a JSON Web Token",
    shape: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
  },
  {
    // A run of letters and digits, with a digit and a capital or very long: `sk-learn-like-names` are none.
    kind: "an API key",
    shape:
      /(?<![\w-])sk-(?:[a-z]{2,10}\d{0,2}-){0,2}(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?:[A-Za-z0-9_]{20,}|(?=[\w-]*[A-Z])[\w-]{32,})/,
  },
  { kind: "a payment key", shape: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/ },
  { kind: "a Google API key", shape: /(?<![\w-])AIza[\w-]{35}(?![\w-])/ },
  { kind: "a package registry token", shape: /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{40,})/ },
  { kind: "a model hub token", shape: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/ },
];

/** `api_key = "…"`, `AWS_SECRET_ACCESS_KEY: …`, `"password": "…"`. */
const ASSIGNMENT =
  /(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)\w{0,20}["'`]?\s{0,3}(?::=|=>|[:=])\s{0,3}(?:bearer\s)?["'`]?([^\s"'`,;)\]}]{16,512})/gi;
/** `scheme://user:password@host`. */
const URL_PASSWORD = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,128}:([^\s/:@]{8,128})@[^\s/]/gi;

/** Random letters and digits have 4 and more bits a character at 20 characters; words and paths less than 3.5. */
const MIN_BITS_PER_CHARACTER = 3.5;
/** In an address a shorter one is enough, since nothing else stands there. */
const MIN_BITS_IN_URL = 2.75;
/** What stands for a secret in examples, configuration and code. */
const PLACEHOLDER =
  /^(?:\$|%|<|\{|\.{3}|\*{3}|process\.|os\.|env\b|import\b|https?:|file:|[./~]|[\w.]+\()|x{4}|\.{3}|\b(?:example|placeholder|changeme|redacted|your)\b|your[-_]|<[^>]*>|\$\{/i;

/**
 * What kind of secret a text holds, in words that follow "looks like"; undefined where none is seen. Made to miss
 * rather than to refuse an honest note: an identifier, a hash or a path is none.
 */
export function findSecret(text: string): string | undefined {
  const known = SHAPES.find(({ shape }) => shape.test(text));
  if (known !== undefined) return known.kind;
  for (const [, value = ""] of text.matchAll(ASSIGNMENT)) {
    if (isRandom(value, MIN_BITS_PER_CHARACTER)) return "a password or key";
  }
  for (const [, value = ""] of text.matchAll(URL_PASSWORD)) {
    if (isRandom(value, MIN_BITS_IN_URL)) return "a password in an address";
  }
  return undefined;
}

function isRandom(value: string, minBits: number): boolean {
  if (PLACEHOLDER.test(value)) return false;
  // Names in code have no digits, versions and dates no letters.
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return bitsPerCharacter(value) >= minBits;
}

/** Shannon entropy of the characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
