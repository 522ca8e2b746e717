import type { RequestListener } from "node:http";
import { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { fetchText } from "../../support/fetching.ts";
import { selfSignedCertificate, type SelfSignedCertificate } from "../../support/self-signed-certificate.ts";
import { serveBytes, serveHttp, serveHttps, type WebServer } from "../../support/web-server.ts";

const servers: WebServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const certificate = selfSignedCertificate({ names: ["tea.example"] });
const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
const greet: RequestListener = (request, answer) => answer.end(`hello ${request.headers.host}`);

async function secure(made: SelfSignedCertificate, listener: RequestListener = greet): Promise<WebServer> {
  const server = await serveHttps(made, listener);
  servers.push(server);
  return server;
}

describe("createUrlFetcher over TLS", () => {
  it("connects to the judged address and asks for the certificate of the name", async () => {
    const { port } = await secure(certificate);
    const options = { lookup, certificateAuthorities: certificate.cert };
    expect((await fetchText(`https://tea.example:${port}/`, options)).text).toBe(`hello tea.example:${port}`);
    expect((await fetchText(`https://tea.example.:${port}/`, options)).text).toBe(
      `hello tea.example.:${port}`,
    );
    expect((await fetchText(`https://127.0.0.1:${port}/`, options)).text).toBe(`hello 127.0.0.1:${port}`);
  });

  it("names the server before encryption, where it has a name", async () => {
    const { port } = await secure(certificate, ({ socket }, answer) =>
      answer.end(
        `${socket instanceof TLSSocket && (socket as TLSSocket & { servername?: unknown }).servername}`,
      ),
    );
    const options = { lookup, certificateAuthorities: certificate.cert };
    expect((await fetchText(`https://tea.example:${port}/`, options)).text).toBe("tea.example");
    expect((await fetchText(`https://127.0.0.1:${port}/`, options)).text).toBe("false");
  });

  it.each([
    ["nobody knows", certificate, undefined, "no authority known here has signed"],
    ["is another's", selfSignedCertificate({ names: ["coffee.example"] }), "own", "made for another name"],
    [
      "has expired",
      selfSignedCertificate({ names: ["tea.example"], at: Date.UTC(2001) }),
      "own",
      "has expired",
    ],
    [
      "is not valid yet",
      selfSignedCertificate({ names: ["tea.example"], at: Date.UTC(2099) }),
      "own",
      "not valid yet",
    ],
  ])("refuses a certificate that %s", async (_what, made, trusted, message) => {
    const { port } = await secure(made);
    const options = { lookup, ...(trusted !== undefined && { certificateAuthorities: made.cert }) };
    await expect(fetchText(`https://tea.example:${port}/`, options)).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: expect.stringMatching(`^tea.example shows a certificate that .*${message}`),
    });
  });

  it("says so where there is no TLS, or nothing", async () => {
    const plain = await serveHttp(greet);
    const silent = await serveBytes((socket) => socket.destroy());
    const mute = await serveBytes(() => {});
    servers.push(plain, silent, mute);
    const timeouts = { reachMs: 50 };
    for (const { port } of [plain, silent, mute]) {
      await expect(fetchText(`https://127.0.0.1:${port}/`, { timeouts })).rejects.toMatchObject({
        code: "FETCH_FAILED",
      });
    }
  });

  it("does not follow a redirect out of encryption", async () => {
    const { port } = await secure(certificate, (_request, answer) =>
      answer.writeHead(302, { location: "http://127.0.0.1:8090/" }).end(),
    );
    const options = { lookup, certificateAuthorities: certificate.cert };
    await expect(fetchText(`https://tea.example:${port}/`, options)).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: expect.stringContaining("without encryption"),
    });
  });
});
