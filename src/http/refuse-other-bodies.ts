import type { FastifyInstance } from "fastify";
import { ServiceError } from "../core/errors.ts";

/** From here on a body is 415 in this scope, but for types that a parser is added for afterwards. `sent` says what it should be. */
export function refuseOtherBodies(
  scope: Pick<FastifyInstance, "removeAllContentTypeParsers" | "addContentTypeParser">,
  sent: string,
  mediaType: string,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) =>
    done(new ServiceError("UNSUPPORTED_MEDIA_TYPE", `Send ${sent}, with content-type: ${mediaType}.`)),
  );
}
