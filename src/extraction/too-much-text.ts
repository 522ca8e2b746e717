import type { ExtractionLimits } from "../core/documents/extraction.ts";
import { ServiceError } from "../core/errors.ts";

export function tooMuchText({ maxChars }: Pick<ExtractionLimits, "maxChars">): ServiceError {
  return new ServiceError(
    "TOO_LARGE",
    `The document has more than ${maxChars} characters of text. Send it in parts.`,
  );
}
