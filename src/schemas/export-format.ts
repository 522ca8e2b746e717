/** The format of an export; apart from the schemas of its lines, which take long to load. */
export const EXPORT_FORMAT = "memoryd-export";
export const EXPORT_VERSION = 1;
/** Of an export, and of all that is sent as lines of JSON. */
export const LINES_MEDIA_TYPE = "application/x-ndjson";
