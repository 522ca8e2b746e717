import { ServiceError } from "../core/errors.ts";
import { findSecret } from "./find-secret.ts";

/**
 * @param allowed the agent says that the text is meant to be kept all the same.
 * @throws {ServiceError} UNPROCESSABLE for a text with a secret in it; the secret is not repeated.
 */
export function refuseSecrets(allowed: boolean | null | undefined, texts: readonly string[]): void {
  if (allowed === true) return;
  for (const text of texts) {
    const kind = findSecret(text);
    if (kind === undefined) continue;
    throw new ServiceError(
      "UNPROCESSABLE",
      `Not stored: the text holds what looks like ${kind}. Leave it out and say where it is kept instead. ` +
        "Only if the user wants it stored as it is, send it again with allow_secret: true.",
    );
  }
}
