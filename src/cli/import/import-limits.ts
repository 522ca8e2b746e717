/** What a file may ask of the program that reads it. Each is named by the sentence that refuses. */

/** Of a line of JSON or a row of CSV: a memory of 200 000 characters, each escaped, and its metadata take 3 MB. */
export const MAX_LINE_BYTES = 16 * 1_024 * 1_024;
/** Of an element of a JSON array: a conversation. */
export const MAX_ELEMENT_BYTES = 64 * 1_024 * 1_024;
export const MAX_ARCHIVE_ENTRIES = 100_000;
/** Of one file in an archive, inflated. */
export const MAX_INFLATED_BYTES = 8 * 1_024 * 1_024 * 1_024;
/** JSON deflates to a tenth, a text of one letter to a thousandth. */
export const MAX_INFLATION = 200;
/** A file this small may inflate as it likes. */
export const SMALL_INFLATED_BYTES = 1_024 * 1_024;
export const MAX_NOTE_BYTES = 4 * 1_024 * 1_024;
export const MAX_NOTES = 1_000_000;
export const MAX_FRONT_MATTER_CHARS = 128 * 1_024;
