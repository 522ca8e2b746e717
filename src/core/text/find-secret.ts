import { unprocessable } from "../errors.ts";

/** A kind of secret and how it looks. */
type SecretShape = { readonly kind: string; readonly shape: RegExp };

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
    shape: /(?<![A-Za-z0-9])(?:xox[abeoprs]-(?=[\w-]{0,200}\d)[\w-]{10,}|xapp-\d-[\w-]{10,})/,
  },
  { kind: "a Slack webhook", shape: /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{16,}/ },
  { kind: "a JSON Web Token", shape: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/ },
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
/**
 * The same with a shorter value, where the name says nothing else: `DB_PASSWORD=…`, `api key: …`, `**pwd:** …`, and not
 * `token_expires: …`.
 */
const SHORT_ASSIGNMENT =
  /(?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|private|auth)[ _-]?key)(?:[_-]?(?:key|value|\d{1,2}))?["'`*]{0,3}(?: is)?[ \t]{0,3}(?::=|=>|[:=])["'`*]{0,3}[ \t]{0,3}(?:bearer[ \t])?["'`]{0,3}([^\s"'`,;)\]}&|]{8,64})/gi;
/** `scheme://user:password@host`. */
const URL_PASSWORD = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,128}:([^\s/:@]{8,128})@[^\s/]/gi;

/** Random letters and digits have 4 and more bits a character at 20 characters; words and paths less than 3.5. */
const MIN_BITS_PER_CHARACTER = 3.5;
/** In an address a shorter one is enough, since nothing else stands there. */
const MIN_BITS_IN_URL = 2.75;
/** A short value is a secret by what it is made of: so many characters in pieces of mixed letters and digits. */
const MIN_MIXED_CHARACTERS = 6;
const MIN_SHORT_SECRET = 8;
const BETWEEN_PIECES = /[-_/.:+,]+/;
const LETTER_AND_DIGIT = /[A-Za-z]\d|\d[A-Za-z]/;
const SIGN_WITHIN = /[A-Za-z][!#$%^*][A-Za-z\d]|\d[!#$%^*][A-Za-z]/;
/** `OAuth2`, `base64`, `SHA256`, `RS256`, `ed25519`, `Uint8Array`, `30min`: what explanations of secrets speak of. */
const TECHNICAL_PIECE =
  /^(?:o?auth\d|v\d{1,2}(?:(?:alpha|beta|rc)\d?)?|(?:base|sha|aes|rsa|utf|u?int|float|blake|argon|bcrypt|pbkdf|pkcs|iso|ipv|x|ed|curve|secp|word|http|[rhep]s|gpt|python|node)\d{1,5}(?:[a-z]{1,6}\d{0,3})?|\d+[a-z]{1,5})$/i;
/** References to secrets and other names: a member, a file, a variable named after its value, a time. */
const REFERENCE =
  /^[a-z]:[\\/]|^=|^[a-z_$][\w$]*(?:\??\.[a-z_$][\w$]*)+$|\.(?:pem|key|pub|crt|p12|pfx|jks|kdbx|gpg|age|json|ya?ml|env|txt|md|[jt]s|py|toml|ini|conf|cfg)$|^[a-z_]*(?:password|passwd|pwd|secret|token|key)\d?$|^(?:1password|keepass\w*)|^\d{4}-\d\d-\d\d|@[\w-]+\.\w/i;
/** Less is one character over and over. */
const MIN_BITS_OF_SHORT = 2.25;
/** Placeholders for secrets in examples, configuration and code. */
const PLACEHOLDER =
  /^(?:\$|%|<|\{|\.{3}|\*{3}|process\.|os\.|env\b|import\b|(?:vault|arn|sops|ssm):|[a-z][\w+.-]*:\/\/|[./~]|[\w.]+\()|x{4}|\.{3}|\b(?:example|placeholder|change[-_]?me\w*|redacted|your)\b|your[-_]|<[^>]*>|\$\{/i;

/**
 * The kind of secret in a text, to follow "looks like"; undefined if there is none. Made to miss
 * rather than to refuse an honest note: an identifier, a hash or a path is none.
 */
export function findSecret(text: string): string | undefined {
  const known = SHAPES.find(({ shape }) => shape.test(text));
  if (known !== undefined) return known.kind;
  for (const [, value = ""] of text.matchAll(ASSIGNMENT)) {
    if (isRandom(value, MIN_BITS_PER_CHARACTER)) return "a password or key";
  }
  for (const [, value = ""] of text.matchAll(SHORT_ASSIGNMENT)) {
    if (isMixed(value.replace(/(?<![.!?:*_])[.!?:*_]+$/, ""))) return "a password or key";
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

/** Letters and digits within one another, but for words that are: `hunter2hunter2`, and not `larch-42-otter`. */
function isMixed(value: string): boolean {
  if (value.length < MIN_SHORT_SECRET || PLACEHOLDER.test(value) || REFERENCE.test(value)) return false;
  let characters = 0;
  for (const piece of value.split(BETWEEN_PIECES)) {
    if (TECHNICAL_PIECE.test(piece)) continue;
    if (LETTER_AND_DIGIT.test(piece) || SIGN_WITHIN.test(piece)) characters += piece.length;
  }
  return characters >= MIN_MIXED_CHARACTERS && bitsPerCharacter(value) >= MIN_BITS_OF_SHORT;
}

/** Shannon entropy of the characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/**
 * @param allowed the agent wants the text kept all the same.
 * @throws {ServiceError} UNPROCESSABLE for a text with a secret in it; the secret is not repeated.
 */
export function refuseSecrets(allowed: boolean | null | undefined, texts: readonly string[]): void {
  if (allowed === true) return;
  for (const text of texts) {
    const kind = findSecret(text);
    if (kind === undefined) continue;
    throw unprocessable(
      `Not stored: the text holds what looks like ${kind}. Leave it out and say where it is kept instead. ` +
        "Only if the user wants it stored as it is, send it again with allow_secret: true.",
    );
  }
}
