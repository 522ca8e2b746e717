/** The console: the page at `/` and its files, as the build made them, and the signing in of a tab. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ServiceError } from "../../core/errors.ts";
import {
  SessionReply,
  SignInBody,
  SignInCodeReply,
  SignInReply,
  SignOutReply,
} from "../../schemas/system.ts";
import { type Access, LOCAL_TOKEN_ID } from "../access.ts";
import type { ConsoleSessions } from "../console-sessions.ts";
import { route, routes } from "../route.ts";

export interface SessionRoutesOptions {
  readonly access: Pick<Access, "isKeyNeeded">;
  readonly sessions: ConsoleSessions;
  readonly version: () => string;
}

/** Nothing inline, nothing from elsewhere, in nobody's frame. Recordings are played from blobs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Names of the build's files carry a hash of their contents, so a name never means two contents. */
const FOR_EVER = "public, max-age=31536000, immutable";

const page = { scope: "open", isUndescribed: true, isPage: true } as const;

/** @param folder where the build wrote `index.html` and `assets/`. */
export async function consoleRoutes(
  app: FastifyInstance,
  { folder }: { readonly folder: string },
): Promise<void> {
  let assets: ReadonlySet<string> | undefined;

  app.get("/", { config: page }, async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw new ServiceError(
        "NOT_FOUND",
        "Programs find what there is in /openapi.json, people the console.",
      );
    return send(reply, await contentsOf(folder, "index.html"), {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
    });
  });

  app.get("/docs", { config: page }, async (_request, reply) => reply.redirect("/#/docs"));

  app.get<{ Params: { file: string } }>("/assets/:file", { config: page }, async (request, reply) => {
    const { file } = request.params;
    assets ??= await assetsOf(folder);
    const type = MEDIA_TYPES[extname(file)];
    if (!assets.has(`assets/${file}`) || type === undefined)
      throw new ServiceError("NOT_FOUND", "The console has no such file. Load its page again.");
    return send(reply, await contentsOf(folder, join("assets", file)), {
      "content-type": type,
      "cache-control": FOR_EVER,
    });
  });
}

export const sessionRoutes = routes<SessionRoutesOptions>(({ access, sessions, version }) => ({
  session: route("read GET /session", "Who calls, and what that caller may do", {
    answer: SessionReply,
    handle: async ({ caller }) => ({
      name: caller?.name ?? null,
      scope: caller?.scope ?? "read",
      user_id: caller?.userId ?? null,
      key_needed: access.isKeyNeeded(),
      version: version(),
    }),
  }),
  createSignInCode: route(
    "admin POST /session/codes",
    "Make a code that signs one browser tab in; for `memoryd open`",
    {
      description: "Only with the token in the data directory. It holds for a minute and once.",
      answer: SignInCodeReply,
      handle: async ({ caller }) => {
        if (caller?.id !== LOCAL_TOKEN_ID)
          throw new ServiceError(
            "FORBIDDEN",
            "Only `memoryd open` may do this, on the daemon's own machine.",
          );
        return { code: sessions.newCode() };
      },
    },
  ),
  signIn: route("open POST /session", "Exchange a code of `memoryd open` for a token, used as a key", {
    body: SignInBody,
    answer: SignInReply,
    handle: async ({ body, log }) => {
      const signedIn = sessions.signIn(body.code);
      if (signedIn === undefined)
        throw new ServiceError("UNAUTHORIZED", "This code was used or is too old. Run `memoryd open` again.");
      log.info("browser tab signed in");
      return { token: signedIn.token, expires_at: new Date(signedIn.expiresAt).toISOString() };
    },
  }),
  signOut: route("read DELETE /session", "End the token that this request carries", {
    description: "Keys stay; `DELETE /keys/:id` revokes them.",
    answer: SignOutReply,
    handle: async ({ headers }) => {
      sessions.signOut(/^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "");
      return { ok: true as const };
    },
  }),
}));

/** The files that the build's manifest names. */
async function assetsOf(folder: string): Promise<ReadonlySet<string>> {
  const text = await contentsOf(folder, join(".vite", "manifest.json"));
  type Chunk = { readonly file: string; readonly css?: string[]; readonly assets?: string[] };
  const chunks = Object.values(JSON.parse(text.toString()) as Record<string, Chunk>);
  return new Set(chunks.flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets]));
}

async function contentsOf(folder: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ServiceError("NOT_FOUND", "This build has no console. Make it with `npm run build`.");
  }
}

function send(reply: FastifyReply, contents: Buffer, headers: Record<string, string>): FastifyReply {
  return reply.headers(headers).send(contents);
}
