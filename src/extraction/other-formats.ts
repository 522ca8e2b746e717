/** Names of formats: those that are plain text under another name, and those that no text is read from. */

/** Types outside `text/` whose bytes are text, and the extensions of such files. */
const TEXT_TYPES = new Set(
  (
    "json ndjson jsonl x-ndjson x-jsonlines ld+json json5 xml yaml x-yaml toml javascript x-javascript ecmascript typescript " +
    "x-sh x-shellscript x-httpd-php x-python x-perl x-ruby sql graphql rtx x-tex x-latex x-csv csv x-log"
  ).split(" "),
);
const TEXT_EXTENSIONS = new Set(
  (
    "log csv tsv json jsonl ndjson json5 geojson yaml yml toml xml svg ini cfg conf properties env rst adoc org tex bib " +
    "diff patch sql graphql proto c h cc cpp hpp cs go rs java kt swift scala py rb php pl lua r jl m js mjs cjs jsx ts mts " +
    "cts tsx vue svelte css scss less sh bash zsh fish ps1 bat cmd dockerfile makefile cmake gradle tf ics vcf eml"
  ).split(" "),
);

/** What a name ends in that is never text: a file called so and holding text is not what it is called. */
const FOREIGN_EXTENSIONS = new Set(
  (
    "doc dot xls xlsx xlsm xlsb ppt pptx odt ods odp epub mobi pages numbers key rtf ps eps djvu xps msg " +
    "zip gz tgz bz2 xz zst 7z rar tar jar war iso dmg exe dll so dylib msi bin apk deb rpm wasm class o a pyc " +
    "png jpg jpeg gif bmp tif tiff webp avif heic ico psd mp3 wav m4a aac flac ogg oga opus wma aiff mp4 m4v mov mkv webm avi " +
    "wmv mpg mpeg woff woff2 ttf otf eot sqlite db parquet pickle npy"
  ).split(" "),
);

/** True for a media type or an extension of what is read as plain text. */
export function isTextName(name: string): boolean {
  const subtype = /^application\/(.+)$/.exec(name)?.[1];
  if (subtype !== undefined) return TEXT_TYPES.has(subtype) || /\+(?:json|xml|yaml)$/.test(subtype);
  return name.startsWith("text/") || TEXT_EXTENSIONS.has(name);
}

/** True for an extension of what is something else. Others say nothing: "notes.final" is what its bytes are. */
export function isForeignExtension(extension: string): boolean {
  return FOREIGN_EXTENSIONS.has(extension);
}
