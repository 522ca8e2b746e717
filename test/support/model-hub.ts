/** A hub of models on this machine. */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { serveHttp, type WebServer } from "./web-server.ts";

export const REVISION = "0123456789abcdef0123456789abcdef01234567";

export interface ModelHub extends WebServer {
  /** Paths that were asked for. */
  readonly asked: string[];
}

/** As at a hub, the weights have a SHA-256, other files only the id that Git gives them. */
export function listingOf(files: ReadonlyMap<string, Buffer>): object {
  return {
    id: "somebody/tiny",
    sha: REVISION,
    cardData: { license: "mit", language: ["en", "de"] },
    siblings: Array.from(files, ([rfilename, bytes]) => ({
      rfilename,
      size: bytes.length,
      blobId: createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex"),
      ...(rfilename.endsWith(".onnx") && {
        lfs: {
          sha256: createHash("sha256").update(bytes).digest("hex"),
          size: bytes.length,
          pointerSize: 134,
        },
      }),
    })),
  };
}

/**
 * Serves a model as `somebody/tiny`.
 *
 * @param instead answers a path in another way; true if it did.
 */
export async function serveModel(
  files: ReadonlyMap<string, Buffer>,
  instead: (path: string, response: ServerResponse) => boolean = () => false,
): Promise<ModelHub> {
  const asked: string[] = [];
  const server = await serveHttp((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (instead(path, response)) return;
    if (path === "/api/models/somebody/tiny?blobs=true") {
      response.end(JSON.stringify(listingOf(files)));
      return;
    }
    const file = files.get(path.replace(`/somebody/tiny/resolve/${REVISION}/`, "").replace(/\?.*/, ""));
    if (file === undefined) response.statusCode = 404;
    response.end(file);
  });
  return { ...server, url: server.url.replace(/\/$/, ""), asked };
}
