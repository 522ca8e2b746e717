import type { SoundTrack, SubtitleTrack } from "./audio-decoder.ts";

const ENGLISH_NAMES = new Intl.DisplayNames(["en"], { type: "language" });

/**
 * The track to transcribe: of those in the language that was asked for, or of all where none is, the one that players begin
 * with, else the first. Undefined where there is none.
 */
export function chooseSoundTrack(
  tracks: readonly SoundTrack[],
  language: string | undefined,
): SoundTrack | undefined {
  const inLanguage = tracks.filter((track) => isIn(track, language));
  const candidates = inLanguage.length > 0 ? inLanguage : tracks;
  return candidates.find(({ isDefault }) => isDefault) ?? candidates[0];
}

/**
 * The subtitles to read: those in the language that was asked for, else those of unknown language, since what is written
 * in another is not what was asked for; without a wish the first.
 */
export function chooseSubtitles(
  tracks: readonly SubtitleTrack[],
  language: string | undefined,
): SubtitleTrack | undefined {
  if (language === undefined) return tracks[0];
  return (
    tracks.find((track) => isIn(track, language)) ?? tracks.find((track) => track.language === undefined)
  );
}

/** By the primary part of two tags, or the English name of the language. */
function isIn(track: { readonly language?: string }, language: string | undefined): boolean {
  if (track.language === undefined || language === undefined) return false;
  const spoken = primaryTag(track.language);
  return (
    spoken === primaryTag(language) || englishName(spoken)?.toLowerCase() === language.trim().toLowerCase()
  );
}

/** Containers say "ger" and "deu" of what people call "de". */
function primaryTag(language: string): string {
  const tag = language.trim();
  try {
    return Intl.getCanonicalLocales(tag)[0]?.split("-")[0] ?? "";
  } catch {
    return tag.toLowerCase().split(/[-_]/)[0] ?? "";
  }
}

/** Of a language; undefined for what is no BCP 47 tag. */
export function englishName(tag: string): string | undefined {
  try {
    return ENGLISH_NAMES.of(tag);
  } catch {
    return undefined;
  }
}
