import { connect, createServer, type Socket } from "node:net";

export interface SwallowingProxy {
  readonly port: number;
  /**
   * The next answer after a message that holds this text is swallowed, and the connection is broken.
   * @param cuts does as `cut` in that moment.
   */
  swallowAfter(text: string, cuts?: boolean): void;
  /** Keeps the next message that holds this text, and what follows it, until `go`; `held` resolves once it is kept. */
  holdBefore(text: string): { readonly held: Promise<void>; go(): void };
  /** Breaks all connections, and accepts none until `open`. */
  cut(): void;
  /** @param port of the server that connections lead to from now on; the same as before where none is given. */
  open(port?: number): void;
  close(): Promise<void>;
}

/** Stands between a client and a server, and loses what it is told to lose. */
export async function openSwallowingProxy(target: number): Promise<SwallowingProxy> {
  let leadsTo = target;
  const sockets = new Set<Socket>();
  let swallowed: string | undefined;
  let cutsThen = false;
  let heldBefore: { readonly text: string; hold(socket: Socket): void } | undefined;
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(leadsTo, "127.0.0.1");
    let swallows = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (swallowed !== undefined && bytes.includes(swallowed)) {
        swallows = true;
        swallowed = undefined;
      }
      if (heldBefore !== undefined && bytes.includes(heldBefore.text)) {
        upstream.cork();
        heldBefore.hold(upstream);
        heldBefore = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!swallows) client.write(bytes);
      else if (cutsThen) cut();
      else client.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    swallowAfter(text, cuts = false) {
      swallowed = text;
      cutsThen = cuts;
    },
    holdBefore(text) {
      let kept: Socket | undefined;
      const held = new Promise<void>((done) => {
        heldBefore = {
          text,
          hold(socket) {
            kept = socket;
            done();
          },
        };
      });
      return { held, go: () => kept?.uncork() };
    },
    cut,
    open(port = leadsTo) {
      leadsTo = port;
      isCut = false;
    },
    async close() {
      cut();
      await new Promise((done) => server.close(done));
    },
  };
}
