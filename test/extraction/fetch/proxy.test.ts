import { afterEach, describe, expect, it } from "vitest";
import { fetchText, localFetcher } from "../../support/fetching.ts";
import { selfSignedCertificate } from "../../support/self-signed-certificate.ts";
import {
  serveBytes,
  serveHttp,
  serveHttps,
  serveProxy,
  type ProxyServer,
  type WebServer,
} from "../../support/web-server.ts";

const servers: WebServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function proxyTo(upstream: { readonly port: number }, status?: number): Promise<ProxyServer> {
  const proxy = await serveProxy(upstream, status);
  servers.push(proxy);
  return proxy;
}

const nowhere = { port: 9 };

describe("createUrlFetcher with a proxy", () => {
  it("asks the proxy for whole URLs, though it cannot resolve the name itself", async () => {
    const proxy = await proxyTo(nowhere);
    const page = await fetchText("http://tea.example/leaves?kind=green#top", { proxy: proxy.url });
    expect(page).toMatchObject({ url: "http://tea.example/leaves?kind=green", text: "through the proxy" });
    expect(proxy.asked).toEqual([{ what: "http://tea.example/leaves?kind=green", authorization: undefined }]);
  });

  it("opens a tunnel for https, through which the certificate is checked", async () => {
    const certificate = selfSignedCertificate({ names: ["tea.example"] });
    const server = await serveHttps(certificate, (request, answer) => {
      answer.end(`${request.headers.host} ${request.url} ${request.headers["proxy-authorization"]}`);
    });
    servers.push(server);
    const proxy = await proxyTo(server);
    const options = {
      proxy: proxy.url.replace("//", "//me:p%40ss@"),
      certificateAuthorities: certificate.cert,
    };

    expect((await fetchText("https://tea.example/leaves", options)).text).toBe(
      "tea.example /leaves undefined",
    );
    expect(proxy.asked).toEqual([
      {
        what: "CONNECT tea.example:443",
        authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      },
    ]);
    await expect(fetchText("https://coffee.example/", options)).rejects.toThrow(/made for another name/);
    await expect(fetchText("https://tea.example/", { proxy: proxy.url })).rejects.toThrow(
      /no authority known here/,
    );
  });

  it.each(["http://tea.example/", "https://tea.example/"])(
    "says that it wants a password, for %s",
    async (url) => {
      const proxy = await proxyTo(nowhere, 407);
      await expect(fetchText(url, { proxy: proxy.url })).rejects.toMatchObject({
        code: "FETCH_FAILED",
        message: expect.stringContaining("MEMORYD_HTTP_PROXY"),
      });
    },
  );

  it("says that the proxy refused, is not there, or is none, without its password", async () => {
    const refusing = await proxyTo(nowhere, 403);
    const none = await serveBytes((socket) => socket.end("SSH-2.0\r\n"));
    const gone = await serveHttp(() => {});
    servers.push(none, gone);
    await gone.close();
    for (const { url } of [refusing, none, gone]) {
      const failure = fetchText("https://tea.example/", { proxy: url.replace("//", "//me:secret@") });
      await expect(failure).rejects.toMatchObject({
        code: "FETCH_FAILED",
        message: expect.stringMatching(/^The proxy /),
      });
      await expect(failure).rejects.not.toThrow(/secret/);
    }
  });

  it.each([
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://10.0.0.1/",
    "http://0x7f.1/",
    "http://169.254.169.254/",
  ])("refuses %s, though private targets are allowed without a proxy", (url) => {
    const fetcher = localFetcher({ proxy: "http://127.0.0.1:3128", privateTargets: () => "allow" });
    expect(() => fetcher.check(url)).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  });

  it.each(["localhost", "nas", "nas.local", "db.internal", "printer.home.arpa"])(
    "refuses the local name %s, which only the proxy could resolve",
    async (host) => {
      const proxy = await proxyTo(nowhere);
      await expect(fetchText(`http://${host}/`, { proxy: proxy.url })).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      expect(proxy.asked).toEqual([]);
    },
  );

  it("refuses a name that it resolves to a private address itself, and a redirect to one", async () => {
    const proxy = await proxyTo(nowhere);
    const lookup = async () => [{ address: "192.168.1.1", family: 4 }];
    await expect(fetchText("http://tea.example/", { proxy: proxy.url, lookup })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    const redirecting = await serveHttp((_request, answer) =>
      answer.writeHead(302, { location: "http://10.1.2.3/" }).end(),
    );
    servers.push(redirecting);
    await expect(fetchText("http://tea.example/", { proxy: redirecting.url })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });

  it.each(["127.0.0.1:3128", "socks5://127.0.0.1:1080", ""])("takes no %s for a proxy", (proxy) => {
    expect(() => localFetcher({ proxy })).toThrow(TypeError);
  });
});
