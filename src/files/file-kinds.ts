/** Kinds of files by their names: the bytes decide when a file is read. */

/** The line before each mail of a mailbox, and the first line of the mail's header. */
export const MAILBOX_START = /^From [^\n]{1,200} \d{4}\r?\n[\w-]{1,60}: /;

/** Extensions of files whose bytes are text of a kind without a reader of its own. */
export const TEXT_EXTENSIONS: ReadonlySet<string> = new Set(
  (
    "log csv tsv json jsonl ndjson json5 geojson yaml yml toml xml svg ini cfg conf properties env rst adoc org tex bib " +
    "diff patch sql graphql proto c h cc cpp hpp cs go rs java kt swift scala py rb php pl lua r jl m js mjs cjs jsx ts mts " +
    "cts tsx vue svelte css scss less sh bash zsh fish ps1 bat cmd dockerfile makefile cmake gradle tf ics vcf"
  ).split(" "),
);

/** Extensions with a reader of their own, recordings included. */
const READ_EXTENSIONS = new Set(
  (
    "pdf docx xlsx xlsm pptx pptm ppsx epub odt ods odp rtf eml emlx mhtml mht ipynb html htm xhtml md markdown mdown mkd txt text srt vtt png jpg jpeg webp " +
    "wav mp3 m4a aac flac ogg oga opus webm mp4 m4v mov mkv"
  ).split(" "),
);

/** Files of text that have no extension. */
const TEXT_NAMES =
  /^(?:readme|licen[cs]e|copying|changelog|changes|news|authors|contributing|todo|notes|makefile|dockerfile|justfile|gemfile|rakefile|procfile)$/i;

/** Written by tools for tools: locked versions, and code or maps of code that nobody reads. */
const GENERATED =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|.*[.-]min\.(?:js|mjs|cjs|css)|.*\.(?:js|mjs|cjs|css)\.map)$/i;

/** Names of files that usually hold keys. */
const SECRETS =
  /^(?:\.env.*|.*\.env|\.netrc|\.npmrc|\.pgpass|\.pypirc|\.htpasswd|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519).*|(?:credentials?|secrets?|(?:client[_-]?secret|service[_-]?account).*)\.(?:json|ya?ml|toml|ini|csv|xml|properties|conf|cfg|txt)|kubeconfig.*|.*\.(?:pem|key|p12|pfx|jks|kdbx|keystore|asc|gpg|tfvars|tfstate))$/i;

/** The extension of a name in lower case, without its dot; empty where it has none. */
export const extensionOf = (name: string): string =>
  /[^/\\]\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? "";

/** Why a file of that name is left out of a folder; undefined for one that is ingested. */
export function nameRefusal(name: string): string | undefined {
  if (isSecretName(name)) return "kept out by default";
  if (GENERATED.test(name)) return "written by a tool";
  const extension = extensionOf(name);
  if (extension === "mbox") return "a mailbox, which `memoryd import` reads";
  const isRead = READ_EXTENSIONS.has(extension) || TEXT_EXTENSIONS.has(extension) || TEXT_NAMES.test(name);
  return isRead ? undefined : "not a kind that is read";
}

/** Whether a file of that name usually holds keys. */
export const isSecretName = (name: string): boolean => SECRETS.test(name);

/** Whether a file of that name is a picture, of which most hold no text. */
export const isPictureName = (name: string): boolean => /\.(?:png|jpe?g|webp)$/i.test(name);

/** The sign between the cells of a table in text, by its first line: a comma, a semicolon, a tab or a bar. */
export function separatorIn(header: string): string {
  const counts = [",", ";", "\t", "|"].map((sign) => [sign, header.split(sign).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
