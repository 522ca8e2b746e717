import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { AgentQuery } from "../../schemas/agent-tools.ts";
import { readExtraTools } from "../../schemas/text-rules.ts";
import { isOwner } from "../access.ts";
import { clientNameIn } from "../request-headers.ts";
import { callerOf, route, routes, type Served } from "../route.ts";
import { invalid } from "../problem.ts";
import { Type } from "../../schemas/typebox.ts";

const Message = Type.Unsafe<object>({
  type: ["object", "array"],
  description: "A JSON-RPC message of the Model Context Protocol.",
  examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }],
});

export const mcpRoutes = routes((served, app) => {
  // Clients ask for a stream, and end a session, to find out that there is none: they expect a 405.
  app.route({
    method: ["GET", "HEAD", "DELETE"],
    url: "/mcp",
    config: { scope: "read", isUndescribed: true, optionalBody: true },
    schema: { querystring: AgentQuery },
    handler: async (_request, reply) => {
      const error = { code: -32_000, message: "Method not allowed: POST one message." };
      return reply.code(405).header("allow", "POST").send({ jsonrpc: "2.0", error, id: null });
    },
  });
  return {
    mcp: route("read POST /mcp", "The Model Context Protocol (Streamable HTTP), for agents", {
      description: "Without sessions. Tools that change something need a key of scope write.",
      querystring: AgentQuery,
      body: Message,
      answer: Type.Unsafe<Response>({ type: "object", description: "A JSON-RPC message." }),
      handle: async (request, reply) => answer(request, reply, served),
    }),
  };
});

async function answer(
  request: FastifyRequest<{ Querystring: Static<typeof AgentQuery> }>,
  reply: FastifyReply,
  { mcp, operationsOf, documentsOf }: Served,
): Promise<FastifyReply> {
  const { query } = request;
  const caller = callerOf(request);
  const extra = readExtraTools(query.tools ?? "");
  if (extra.unknown !== undefined)
    throw invalid("/tools", `names ${JSON.stringify(extra.unknown)}, which is no tool`);
  const response = await mcp({
    request: webRequest(request, reply),
    body: request.body,
    operations: operationsOf(request),
    documents: documentsOf(request),
    adder: isOwner(caller) ? undefined : caller.id,
    mayWrite: caller.scope !== "read",
    clientHeader: clientNameIn(request),
    keyName: caller.name ?? undefined,
    project: query.project === undefined || query.project === "" ? null : query.project,
    userId: query.user_id,
    tools: { extra: extra.extra, readOnly: query.read_only ?? false },
  });
  return reply.send(response);
}

/** The request without its body, which has been read; aborted when the client goes away. */
function webRequest({ method, headers, url }: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const named = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(url, "http://memoryd.invalid"), { method, headers: named, signal: gone.signal });
}
