import { urlFetcherContract } from "../../contract/url-fetcher.contract.ts";
import { createFakeFetcher } from "../../support/fake-fetcher.ts";
import { localFetcher } from "../../support/fetching.ts";
import { serveHttp, type WebServer } from "../../support/web-server.ts";

urlFetcherContract("createUrlFetcher", async () => {
  const servers: WebServer[] = [];
  return {
    fetcher: localFetcher(),
    async serve(body) {
      const server = await serveHttp((_request, answer) => {
        answer.setHeader("content-type", "text/plain");
        answer.end(body);
      });
      servers.push(server);
      return server.url;
    },
    deadUrl: "http://nobody.example/",
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
});

urlFetcherContract("createFakeFetcher", async () => {
  const pages = new Map<string, string>();
  return {
    fetcher: createFakeFetcher(pages),
    async serve(body) {
      const url = `http://a.example/${pages.size}`;
      pages.set(url, body);
      return url;
    },
    deadUrl: "http://a.example/nobody",
    close: async () => {},
  };
});
