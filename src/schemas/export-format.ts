/** The format of an export; apart from the schemas of its lines, which take long to load. */
export const EXPORT_FORMAT = "memoryd-export";
export const EXPORT_VERSION = 1;
/** Media type of exports and of other lines of JSON. */
export const LINES_MEDIA_TYPE = "application/x-ndjson";
