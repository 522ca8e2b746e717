import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

const docs = new URL("../../docs/", import.meta.url);
const titleOf = (file: string) => /^# (.+)$/m.exec(readFileSync(new URL(file, docs), "utf8"))?.[1] ?? file;
/** Names and titles of the pages in `docs/`. */
const pages = readdirSync(docs)
  .filter((file) => file.endsWith(".md"))
  .map((file) => [file.slice(0, -".md".length), titleOf(file)] as const)
  .sort(([, a], [, b]) => a.localeCompare(b));

export default defineConfig({
  base: "/",
  define: { DOC_PAGES: JSON.stringify(pages) },
  build: {
    outDir: "../../dist/console",
    emptyOutDir: true,
    // Data addresses and inline scripts are not what the page's policy allows.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
