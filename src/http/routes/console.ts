/** The console: the page at `/` and its files, as the build made them, and the signing in of a tab. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { forbidden, notFound, unauthorized } from "../../core/errors.ts";
import * as wire from "../../schemas/system.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { route, routes, type Served } from "../route.ts";

/** Nothing inline, nothing from elsewhere, in nobody's frame. Recordings are played from blobs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src blob:",
  "connect-src 'self'",
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

/** All files are read once: another build, made while the daemon runs, has other names for them. */
export async function consoleRoutes(
  app: FastifyInstance,
  { consoleFolder: folder, docsFolder }: Pick<Served, "consoleFolder" | "docsFolder">,
): Promise<void> {
  const files = await filesOf(folder);

  app.get("/", { config: page }, async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw notFound("Programs find what there is in /openapi.json, people the console.");
    const contents = files.get("index.html");
    if (contents === undefined) throw notFound("This build has no console. Make it with `npm run build`.");
    return reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
      })
      .send(contents);
  });

  app.get("/docs", { config: page }, async (_request, reply) => reply.redirect("/#/docs"));

  app.get<{ Params: { file: string } }>("/docs/:file", { config: page }, async (request, reply) => {
    const { file } = request.params;
    const text = /^[\w-]+\.md$/.test(file) && (await readFile(join(docsFolder, file)).catch(() => undefined));
    if (!text) throw notFound("The documentation has no such page.");
    return reply.type("text/markdown; charset=utf-8").send(text);
  });

  app.get<{ Params: { file: string } }>("/assets/:file", { config: page }, async (request, reply) => {
    const { file } = request.params;
    const contents = files.get(`assets/${file}`);
    const type = MEDIA_TYPES[extname(file)];
    if (contents === undefined || type === undefined)
      throw notFound("The console has no such file. Load its page again.");
    return reply.headers({ "content-type": type, "cache-control": FOR_EVER }).send(contents);
  });
}

export const sessionRoutes = routes(({ access, sessions, status }) => ({
  session: route("read GET /session", "Who calls, and what that caller may do", {
    answer: wire.SessionReply,
    handle: async ({ caller }) => ({
      name: caller?.name ?? null,
      scope: caller?.scope ?? "read",
      userId: caller?.userId ?? null,
      keyNeeded: access.isKeyNeeded(),
      version: status().version,
    }),
  }),
  createSignInCode: route(
    "admin POST /session/codes",
    "Make a code that signs one browser tab in; for `memoryd open`",
    {
      description: "Only with the token in the data directory. It holds for a minute and once.",
      answer: wire.SignInCodeReply,
      handle: async ({ caller }) => {
        if (caller?.id !== LOCAL_TOKEN_ID)
          throw forbidden("Only `memoryd open` may do this, on the daemon's own machine.");
        return { code: sessions.newCode() };
      },
    },
  ),
  signIn: route("open POST /session", "Exchange a code of `memoryd open` for a token, used as a key", {
    errors: ["UNAUTHORIZED"],
    body: wire.SignInBody,
    answer: wire.SignInReply,
    handle: async ({ body, log }) => {
      const signedIn = sessions.signIn(body.code);
      if (signedIn === undefined)
        throw unauthorized("This code was used or is too old. Run `memoryd open` again.");
      log.info("browser tab signed in");
      return signedIn;
    },
  }),
  signOut: route("read DELETE /session", "End the token that this request carries", {
    description: "Keys stay; `DELETE /keys/:id` revokes them.",
    answer: wire.SignOutReply,
    handle: async ({ headers }) => {
      sessions.signOut(/^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "");
      return { ok: true as const };
    },
  }),
}));

/** Contents by name: the page, and what the build put beside it; none in a build without the console. */
async function filesOf(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const assets = await readdir(join(folder, "assets")).catch(() => []);
  const names = assets.length === 0 ? [] : ["index.html", ...assets.map((name) => `assets/${name}`)];
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}
