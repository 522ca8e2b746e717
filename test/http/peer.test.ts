import { describe, expect, it, vi } from "vitest";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { listen, type ListenOptions } from "../../src/http/listen.ts";
import {
  peerIn,
  peerOf,
  type PeerState,
  clientAddressOf,
  networkOf,
  trustedProxies,
} from "../../src/http/peer.ts";
import { createTestServer } from "../support/test-server.ts";

const HEADER =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (local: string, remote: string, uid: number, inode: number, state = "01") =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${uid}        0 ${inode} 1 0000 20 4 30 10 -1`;
const socket = {
  localAddress: "127.0.0.1",
  localPort: 8080,
  remoteAddress: "127.0.0.1",
  remotePort: 40_000,
};
const [OWN, OTHER] = ["0100007F:1F90", "0100007F:9C40"];
const MAPPED = "0000000000000000FFFF0000";

describe("the other end of a connection", () => {
  it("is found in the system's tables, with its user", () => {
    const table = [HEADER, row(OWN, OTHER, 1_000, 71), row(OTHER, OWN, 1_001, 72)].join("\n");
    expect(peerIn(table, socket)).toBe(1_001);
    expect(peerIn(table, { ...socket, localAddress: "::ffff:127.0.0.1" })).toBe(1_001);
    const mapped = [row(OWN, OTHER, 0, 71), row(MAPPED + OTHER, MAPPED + OWN, 5, 72)].join("\n");
    expect(peerIn(mapped, socket)).toBe(5);
    const six = "00000000000000000000000001000000";
    const loop = { ...socket, localAddress: "::1", remoteAddress: "::1" };
    expect(peerIn(row(`${six}:9C40`, `${six}:1F90`, 7, 9), loop)).toBe(7);
  });

  it("is gone, and not the superuser, once its owner has closed it", () => {
    const closed = [row(OWN, OTHER, 1_000, 71), row(OTHER, OWN, 0, 0, "05")].join("\n");
    expect(peerIn(closed, socket)).toBe("gone");
    expect(peerIn(row(OWN, OTHER, 1_000, 71), socket)).toBe("gone");
  });

  it("is gone once it was reset, when only the listening end is left", async () => {
    expect(peerIn(row(OWN, "00000000:0000", 1_000, 71, "0A"), socket)).toBe("gone");
    const reset = { ...socket, remoteAddress: undefined, remotePort: undefined };
    expect(await peerOf(reset)).toBe(process.platform === "linux" ? "gone" : "unknown");
  });

  it("is unknown where the tables are of another network, or none", () => {
    expect(peerIn("", socket)).toBe("unknown");
    expect(peerIn([HEADER, row("0200007F:1F90", OTHER, 0, 1)].join("\n"), socket)).toBe("unknown");
  });
});

describe("without a key", () => {
  const served = async (peer: PeerState, url: string, headers = {}) => {
    const { app } = createTestServer(
      {},
      { access: { localToken: "the-local-token", peerOf: async () => peer } },
    );
    return app.inject({ method: "GET", url, headers });
  };
  const stranger: PeerState = 4_242;

  it("another user of the machine is told how to make a key", async () => {
    for (const peer of [stranger, "gone"] as const) {
      const reply = await served(peer, "/memory/all");
      expect(reply.statusCode).toBe(403);
      expect(reply.json().detail).toContain("memoryd keys create");
    }
    expect((await served(stranger, "/livez")).statusCode).toBe(200);
    expect(Object.keys((await served(stranger, "/health")).json())).toEqual(["status", "version"]);
  });

  it("the user who runs it is served, and whoever has the token in the data directory", async () => {
    const own: PeerState = process.getuid?.() ?? 0;
    expect((await served(own, "/memory/all")).statusCode).toBe(200);
    expect((await served("unknown", "/memory/all")).statusCode).toBe(200);
    const authorization = "Bearer the-local-token";
    expect((await served(stranger, "/memory/all", { authorization })).statusCode).toBe(200);
  });

  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  it.runIf(isRoot)("another user is known over a real connection, and the same one is served", async () => {
    const listening = await started({ host: "127.0.0.1", port: 0 });
    const ask = (uid: number) =>
      new Promise<string>((resolve) => {
        const code = `fetch(${JSON.stringify(`${listening.urls[0]}/memory/all`)}).then(r=>console.log(r.status))`;
        const child = spawn(process.execPath, ["-e", code], {
          uid,
          cwd: "/",
          stdio: ["ignore", "pipe", "ignore"],
        });
        let text = "";
        child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
        child.once("close", () => resolve(text.trim()));
      });
    expect([await ask(0), await ask(65_534)]).toEqual(["200", "403"]);
    await listening.close(0);
  });
});

const started = async (options: ListenOptions, maxConnections = 100) =>
  listen(createTestServer({}, { limits: { maxConnections } }).app, options);

describe("connections", () => {
  it("that are idle make room for others, the longest idle first", async () => {
    const listening = await started({ host: "127.0.0.1", port: 0 }, 5);
    const open = () =>
      new Promise<{ closed: Promise<void>; destroy: () => void }>((resolve) => {
        const socket = connect(listening.port, "127.0.0.1", () =>
          resolve({
            closed: new Promise((done) => socket.once("close", () => done())),
            destroy: () => socket.destroy(),
          }),
        );
        socket.on("error", () => {});
      });
    const sockets = [];
    for (let i = 0; i < 5; i += 1) sockets.push(await open());
    const reply = await fetch(`http://127.0.0.1:${listening.port}/livez`);
    expect(reply.status).toBe(200);
    await sockets[0]?.closed;
    for (let i = 0; i < 20; i += 1) sockets.push(await open());
    expect((await fetch(`http://127.0.0.1:${listening.port}/livez`)).status).toBe(200);
    await sockets[4]?.closed;
    for (const each of sockets) each.destroy();
    await listening.close(0);
  });

  it("whose bodies do not come are idle, and go before those whose bodies come", async () => {
    const listening = await started({ host: "127.0.0.1", port: 0 }, 5);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    /** When it is answered, all that was sent before has been read. */
    const livez = () =>
      new Promise<void>((resolve, reject) => {
        const options = { host: "127.0.0.1", port: listening.port, path: "/livez", agent };
        httpRequest(options, (response) => response.resume().once("end", resolve))
          .once("error", reject)
          .end();
      });
    const closed: string[] = [];
    const open = async (name: string) => {
      const socket = connect(listening.port, "127.0.0.1");
      socket
        .on("error", () => {})
        .on("close", () => closed.push(name))
        .once("data", () => closed.push("answered"));
      await once(socket, "connect");
      socket.write(
        `POST /memory/add HTTP/1.1\r\nHost: 127.0.0.1:${listening.port}\r\nContent-Type: application/json\r\n` +
          "Content-Length: 1000\r\n\r\n{",
      );
      await livez();
      return socket;
    };
    await livez();
    const coming = await open("coming");
    const sockets = [coming];
    for (const name of ["a", "b", "c"]) sockets.push(await open(name));
    for (const [index, name] of ["d", "e", "f"].entries()) {
      coming.write(" ");
      await livez();
      sockets.push(await open(name));
      await vi.waitFor(() => expect(closed).toEqual(["a", "b", "c"].slice(0, index + 1)), {
        timeout: 30_000,
      });
    }
    for (const each of sockets) each.destroy();
    agent.destroy();
    await listening.close(0);
  });
});

describe("client address", () => {
  function from(peer: string, forwarded?: string | string[]) {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
  }

  describe("clientAddressOf", () => {
    const isTrusted = trustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

    it.each([
      ["nobody is trusted with it", trustedProxies([]), "127.0.0.1", "8.8.8.8", "127.0.0.1"],
      ["the peer is no proxy of ours", isTrusted, "8.8.4.4", "8.8.8.8", "8.8.4.4"],
      ["there is no header", isTrusted, "127.0.0.1", undefined, "127.0.0.1"],
      ["a proxy names the client", isTrusted, "127.0.0.1", "8.8.8.8", "8.8.8.8"],
      ["the client invents others before itself", isTrusted, "127.0.0.1", "1.1.1.1, 8.8.8.8", "8.8.8.8"],
      ["two proxies of ours pass it on", isTrusted, "127.0.0.1", "1.1.1.1, 8.8.8.8, 10.1.2.3", "8.8.8.8"],
      ["all are proxies of ours", isTrusted, "127.0.0.1", "10.9.9.9", "10.9.9.9"],
      ["it names nothing that is an address", isTrusted, "127.0.0.1", "unknown", "127.0.0.1"],
      ["it names a port", isTrusted, "127.0.0.1", "8.8.8.8:4711", "8.8.8.8"],
      ["it names IPv6", isTrusted, "::ffff:127.0.0.1", "[2001:db8::1]:4711, fd00::2", "2001:db8::1"],
    ])("when %s", (_, trusted, peer, forwarded, address) => {
      expect(clientAddressOf(from(peer, forwarded), trusted)).toBe(address);
    });
  });

  describe("trustedProxies", () => {
    it.each(["proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "::/129", "", "10.0.0.0/"])(
      "refuses %j",
      (text) => {
        expect(() => trustedProxies([text])).toThrow(/is not the address of a proxy/);
      },
    );
  });

  describe("networkOf", () => {
    it.each([
      ["8.8.8.8", "8.8.8.8"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:0db8:1:2::9", "2001:db8:1:2"],
      ["2001:db8::9", "2001:db8:0:0"],
      ["::1", "0:0:0:0"],
      ["fe80::1%eth0", "fe80:0:0:0"],
      ["", ""],
    ])("of %s is %s", (address, network) => {
      expect(networkOf(address)).toBe(network);
    });
  });
});
