import type { ExtractionLimits } from "../../src/core/documents/extraction.ts";

/** Wide enough for every fixture. */
export const EXTRACTION_LIMITS: ExtractionLimits = {
  maxBytes: 100_000_000,
  maxPages: 5_000,
  maxChars: 20_000_000,
  maxInflatedBytes: 200_000_000,
  maxWorkingMs: 120_000,
  maxResidentBytes: 1_000_000_000,
};
