import type { SoundTrack, SubtitleTrack } from "./audio-decoder.ts";

const ENGLISH_NAMES = new Intl.DisplayNames(["en"], { type: "language" });

/** The default track, else the first, of those in the wanted language, or of all; undefined without tracks. */
export function chooseSoundTrack(
  tracks: readonly SoundTrack[],
  language: string | undefined,
): SoundTrack | undefined {
  const inLanguage = tracks.filter((track) => isIn(track, language));
  const candidates = inLanguage.length > 0 ? inLanguage : tracks;
  return candidates.find(({ isDefault }) => isDefault) ?? candidates[0];
}

/** The subtitles in the wanted language, else of unknown language; the first if no language is wanted. */
export function chooseSubtitles(
  tracks: readonly SubtitleTrack[],
  language: string | undefined,
): SubtitleTrack | undefined {
  if (language === undefined) return tracks[0];
  return (
    tracks.find((track) => isIn(track, language)) ?? tracks.find((track) => track.language === undefined)
  );
}

/** Compares the primary parts of two tags, or the English name of the language. */
function isIn(track: { readonly language?: string }, language: string | undefined): boolean {
  if (track.language === undefined || language === undefined) return false;
  const spoken = primaryTag(track.language);
  return (
    spoken === primaryTag(language) || englishName(spoken)?.toLowerCase() === language.trim().toLowerCase()
  );
}

/** Containers write "ger" or "deu" for "de". */
function primaryTag(language: string): string {
  const tag = language.trim();
  try {
    return Intl.getCanonicalLocales(tag)[0]?.split("-")[0] ?? "";
  } catch {
    return tag.toLowerCase().split(/[-_]/)[0] ?? "";
  }
}

/** The language's English name; undefined for an invalid BCP 47 tag. */
export function englishName(tag: string): string | undefined {
  try {
    return ENGLISH_NAMES.of(tag);
  } catch {
    return undefined;
  }
}
