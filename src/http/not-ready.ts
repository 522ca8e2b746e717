import { ServiceError } from "../core/errors.ts";

/** Why the daemon cannot answer everything, each reason in `errors` too. */
export function notReadyError(reasons: readonly string[]): ServiceError {
  return new ServiceError("NOT_READY", reasons.join(" "), {
    fields: reasons.map((message) => ({ path: "", message })),
  });
}
