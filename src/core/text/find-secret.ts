import { unprocessable } from "../errors.ts";
import { matchesOf } from "./fold.ts";

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
  { kind: "a key of memoryd", shape: /(?<![A-Za-z0-9])mk_[0-9a-f]{8}_[\w-]{32,}/ },
  { kind: "a Telegram token", shape: /(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])/ },
  {
    kind: "a Discord token",
    shape:
      /(?<![\w-])[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])|discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,}/,
  },
  { kind: "a mail service's key", shape: /(?<![\w-])SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])/ },
  {
    // GitLab, Shopify, Databricks, Figma, Linear, Groq, Grafana, Docker, Vault, Notion, Sentry and DigitalOcean.
    kind: "an access token",
    shape:
      /(?<![\w-])(?:gl(?:dt|rt|cbt|ptt)-[\w-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}|figd_[\w-]{36,}|lin_api_[A-Za-z0-9]{32,}|gsk_[A-Za-z0-9]{40,}|gl(?:sa|c)_[\w+/=]{32,}|dckr_(?:pat|oat)_[\w-]{24,}|hv[sb]\.[\w-]{24,}|ntn_[A-Za-z0-9]{40,}|sntry[su]_[\w+/=-]{40,}|do[por]_v1_[a-f0-9]{64})/,
  },
];

/** Names of secrets, in the languages of which sentences are kept and some more. */
const NAME = [
  "pass(?:word|wort|wd|phrase|code)|_pass(?![a-z])|kennwort|pwd|mot de passe|mdp|contrase[ñn]a|clave(?: de acceso)?|senha|palavra[- ]passe",
  "wachtwoord|parola d'ordine|secret|geheimnis|token|(?:api|access|private|auth|account|shared|storage|wlan|wi-?fi)[ _-]?(?:key|schl[üu]ssel|sleutel)",
  "zugangsschl[üu]ssel|cl[ée] (?:d['’])?api|clave (?:de )?api|chiave (?:api|segreta)|chave (?:de |da |secreta )?api|credentials?|パスワード|密码|密碼|пароль",
].join("|");
/** `:`, `=`, `:=` and `=>`, the border of a table's cell, and the end of the line after a sign or a heading. */
const ASSIGNED = String.raw`["'\x60*]{0,3}[ \t]{0,3}(?:(?::=|=>|[:=])["'\x60*]{0,3}[ \t]{0,3}(?:\r?\n\s{0,8}(?:[-*>][ \t])?)?|\|[ \t]{0,8}|\r?\n\s{0,8}(?=\S+[ \t]{0,8}(?:\r?\n|$)))(?:(?:bearer|basic)[ \t])?["'\x60]{0,3}`;

/** `api_key = "…"`, `AWS_SECRET_ACCESS_KEY: …`, `"password": "…"`. */
const ASSIGNMENT = new RegExp(String.raw`(?:${NAME})\w{0,20}${ASSIGNED}([^\s"'\x60,;)\]}|]{16,512})`, "giu");
/**
 * The same with a shorter value, where the name says nothing else: `DB_PASSWORD=…`, `api key: …`, `**pwd:** …`, `mot de passe
 * du wifi : …`, and not `token_expires: …`.
 */
const SHORT_ASSIGNMENT = new RegExp(
  String.raw`(?:${NAME})(?:[_-]?(?:key|value|\d{1,2}))?(?: (?:for|of|in|on|at|f[üu]r|im|am|vom|von|zum|zur|du|de|pour|del?|da|do|di|en|nel|na|no|van|voor|op|от|для|к)(?: [\p{L}\d.-]{1,20}?){1,3})?(?: \([^()\n]{1,30}\))?(?: (?:is|ist|lautet|est|es|è|é))?${ASSIGNED}([^\s"'\x60,;)\]}&|、。]{8,64})`,
  "giu",
);
/** `Authorization: Bearer …`, `Bearer …`; `curl -u user:…`. */
const HEADER =
  /(?<![\p{L}\d])(?:authorization["'`]?\s{0,3}[:=]\s{0,3}["'`]?(?:bearer|basic|token|digest|apikey)\s{1,3}["'`]?([\w.~+/=-]{12,4096})|bearer\s{1,3}["'`]?([\w.~+/=-]{20,4096}))/giu;
const CURL_USER = /\s(?:-u|--user)[ =]["']?[^\s:"']{1,64}:([^\s"']{8,128})/g;
/** `sig=…` of an address that is signed. */
const SIGNATURE = /[?&](?:sig|x-amz-signature|x-goog-signature)=([\w%+/=-]{24,512})/gi;
/** Signs that a browser or a form writes for plain ones, and signs that cannot be seen. */
const FULL_WIDTH = /[！-～]/g;
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g;
const FULL_WIDTH_OFFSET = 0xfee0;

/** `scheme://user:password@host`, also without a user. */
const URL_PASSWORD = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,128}:([^\s/:@]{8,128})@[^\s/]/gi;

/** Random letters and digits have 4 and more bits a character at 20 characters; words and paths less than 3.5. */
const MIN_BITS_PER_CHARACTER = 3.5;
/** In an address a shorter one is enough, since nothing else stands there. */
const MIN_BITS_IN_URL = 2.75;
const MIN_BITS_IN_HEADER = 3;
/** A short value is a secret by what it is made of: so many characters in pieces of mixed letters and digits. */
const MIN_MIXED_CHARACTERS = 6;
const MIN_SHORT_SECRET = 8;
const BETWEEN_PIECES = /[-_/.:+,]+/;
const LETTER_AND_DIGIT = /\p{L}\d|\d\p{L}/u;
const SIGN_WITHIN = /\p{L}[!#$%^*][\p{L}\d]|\d[!#$%^*]\p{L}/u;
/** `OAuth2`, `base64`, `SHA256`, `RS256`, `ed25519`, `Uint8Array`, `30min`: what explanations of secrets speak of. */
const TECHNICAL_PIECE =
  /^(?:o?auth\d|v\d{1,2}(?:(?:alpha|beta|rc)\d?)?|(?:base|sha|aes|rsa|utf|u?int|float|blake|argon|bcrypt|pbkdf|pkcs|iso|ipv|x|ed|curve|secp|word|http|[rhep]s|gpt|python|node)\d{1,5}(?:[a-z]{1,6}\d{0,3})?|\d+[a-z]{1,5})$/i;
/** References to secrets and other names: a member, a file, a variable named after its value, a time. */
const REFERENCE =
  /^[a-z]:[\\/]|^=|^[a-z_$][\w$]*(?:\??\.[a-z_$][\w$]*)+$|^[a-z_]*(?:password|passwd|pwd|secret|token|key)\d?$|^(?:1password|keepass\w*)|^\d{4}-\d\d-\d\d|@[\w-]+\.\w/i;
const FILE =
  /\.(?:pem|key|pub|crt|p12|pfx|jks|kdbx|gpg|age|json|ya?ml|env|txt|md|[jt]s|py|toml|ini|conf|cfg|csv|pdf|zip|t?gz|db|sqlite|png|jpe?g|gif|svg|webp|avif)\.?$/i;
/** Less is one character over and over. */
const MIN_BITS_OF_SHORT = 2.25;
/** Placeholders for secrets in examples, configuration and code. */
const PLACEHOLDER =
  /^(?:\$|%|<|\{|\.{3}|\*{3}|process\.|os\.|env\b|import\b|(?:vault|arn|sops|ssm):|[a-z][\w+.-]*:\/\/|[./~]|[\w.]+\()|x{4}|\.{3}|\b(?:example|placeholder|change[-_]?me\w*|redacted|your)\b|your[-_]|<[^>]*>|\$\{/i;

/**
 * The kind of secret in a text, to follow "looks like"; undefined if there is none. Made to miss
 * rather than to refuse an honest note: an identifier, a hash or a path is none.
 */
export function findSecret(given: string): string | undefined {
  const text = asTyped(given);
  const known = SHAPES.find(({ shape }) => shape.test(text));
  if (known !== undefined) return known.kind;
  const valuesOf = (pattern: RegExp) =>
    matchesOf(pattern, text).map(([, value, other]) => value ?? other ?? "");
  const isRandomAbove = (minBits: number) => (value: string) => isRandom(value, minBits);
  const suspects: readonly (readonly [
    kind: string,
    values: () => readonly string[],
    isSecret: (value: string) => boolean,
  ])[] = [
    ["a password or key", () => valuesOf(ASSIGNMENT), isRandomAbove(MIN_BITS_PER_CHARACTER)],
    ["a password or key", () => valuesOf(SHORT_ASSIGNMENT), isShortSecret],
    ["a password or key", () => valuesOf(CURL_USER), isShortSecret],
    ["a password or key", () => cellsUnderNames(text), isShortSecret],
    ["a key in a header", () => valuesOf(HEADER), isRandomAbove(MIN_BITS_IN_HEADER)],
    ["a signed address", () => valuesOf(SIGNATURE), isRandomAbove(MIN_BITS_PER_CHARACTER)],
    ["a password in an address", () => valuesOf(URL_PASSWORD), isRandomAbove(MIN_BITS_IN_URL)],
  ];
  return suspects.find(([, values, isSecret]) => values().some(isSecret))?.[0];
}

/** A name that a sentence speaks of, whole: no "tokenizer". */
const SPOKEN_NAME = String.raw`(?:${NAME}|(?<!\p{L})(?:pin(?:[- ]?(?:code|nummer))?|pw))(?:s|en)?(?!\p{L})`;
const SPOKEN = new RegExp(SPOKEN_NAME, "iu");
/**
 * "the password for staging is …" with a value of four characters and more: with a digit or a sign, in quotes, or one word before the
 * sentence goes on. Not "the password policy is …".
 */
const SPOKEN_VALUE = new RegExp(
  String.raw`${SPOKEN_NAME}(?:,? (?:for|of|in|on|at|to|from|that|which|i|we|you|f[üu]r|im|am|vom|von|zum|zur|du|de|pour|del?|da|do|di|en|nel|na|no|van|voor|op|от|для|к)(?: [^\s.;!?]+){1,8}?)?(?:['’]s|,? (?:is|are|was|will be|to be|c['’]est|ist|sind|war|lautet|est|sont|es|son|è|sono|é|são|zijn)| ?[:=])[:=]? (?:(?:now|still|jetzt|nun|ora|ahora|agora|nu) )?(?:["'\x60“„«]\S|(?=\S{0,64}?(?:\d|[!#$%&*+=@^~]\S))\S{4,}|[^\s,.;:!?]{4,}(?=[,.;!?]|\s*$))`,
  "iu",
);

/** "hunter2 as the password", "swordfish is the password". */
const SPOKEN_BEFORE = new RegExp(
  String.raw`(?<!\S)[^\s,.;:!?]{4,64} (?:is|as|ist|als|est|comme|es|como|è|come|é) (?:the|my|our|das|mein|unser|le|mon|ma|la|mi|il|a|o) ${SPOKEN_NAME}`,
  "iu",
);

/**
 * Whether a text holds what `findSecret` sees, or tells a secret in plain words. It is for text that is kept without a look: it takes 34 of
 * 300 ordinary notes for a secret, and misses none of the 28 sentences that it was made with. It does not see values of several words, nor
 * codes of doors.
 */
export function tellsSecret(text: string): boolean {
  const plain = asTyped(text);
  const isTold = () => SPOKEN.test(plain) && plain.split(/\s+/).some(isShortSecret);
  return findSecret(text) !== undefined || SPOKEN_VALUE.test(plain) || SPOKEN_BEFORE.test(plain) || isTold();
}

/** With plain signs for those of full width, and without signs that cannot be seen. */
const asTyped = (text: string): string =>
  text
    .replaceAll(INVISIBLE, "")
    .replaceAll("\u3000", " ")
    .replaceAll(/[\u00a0\u202f]/g, " ")
    .replaceAll(FULL_WIDTH, (sign) => String.fromCharCode(sign.charCodeAt(0) - FULL_WIDTH_OFFSET));

/** A column's title that names a secret, alone. */
const TITLE = new RegExp(`^[*_ ]*(?:${NAME})[*_ ]*$`, "iu");

/** The cells of a table below a title that names a secret. */
function cellsUnderNames(text: string): string[] {
  const found: string[] = [];
  let columns: number[] | undefined;
  for (const line of text.split("\n")) {
    if (!line.includes("|")) {
      columns = undefined;
      continue;
    }
    const cells = line.split("|").map((cell) => cell.trim());
    columns ??= cells.flatMap((cell, i) => (TITLE.test(cell) ? [i] : []));
    for (const column of columns) found.push((cells[column] ?? "").replaceAll(/^[`*]+|[`*]+$/g, ""));
  }
  return found;
}

function isRandom(value: string, minBits: number): boolean {
  if (PLACEHOLDER.test(value) || FILE.test(value)) return false;
  // Names in code have no digits, versions and dates no letters.
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return bitsPerCharacter(value) >= minBits;
}

/** Letters and digits within one another, but for words that are: `hunter2hunter2`, and not `larch-42-otter`. */
function isMixed(value: string): boolean {
  if (value.length < MIN_SHORT_SECRET || PLACEHOLDER.test(value) || REFERENCE.test(value) || FILE.test(value))
    return false;
  let characters = 0;
  for (const piece of value.split(BETWEEN_PIECES)) {
    if (TECHNICAL_PIECE.test(piece)) continue;
    if (LETTER_AND_DIGIT.test(piece) || SIGN_WITHIN.test(piece)) characters += piece.length;
  }
  return characters >= MIN_MIXED_CHARACTERS && bitsPerCharacter(value) >= MIN_BITS_OF_SHORT;
}

/** As `isMixed`, of a value at the end of a sentence too. */
const isShortSecret = (value: string): boolean => isMixed(value.replace(/(?<![.!?:*_])[.!?:*_]+$/, ""));

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
