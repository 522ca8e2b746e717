import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  readonly messages: readonly { readonly content: unknown }[];
}

/** A server that plays Claude: it calls the memory tool with each command in turn, then says that it is done. */
export async function startFakeClaude(commands: readonly object[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const input = commands[asked.length];
      asked.push(JSON.parse(body) as Asked);
      const content =
        input === undefined
          ? { type: "text", text: "Done." }
          : { type: "tool_use", id: `t${asked.length}`, name: "memory", input };
      const stop_reason = input === undefined ? "end_turn" : "tool_use";
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: "m", type: "message", role: "assistant", model: "claude", usage };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...message, content: [content], stop_reason }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The requests, in order. */
    asked,
    close: () => server.close(),
  };
}
