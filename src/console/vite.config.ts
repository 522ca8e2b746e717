import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

const docs = readdirSync(new URL("../../docs", import.meta.url)).filter((name) => name.endsWith(".md"));

export default defineConfig({
  base: "/",
  define: { DOC_PAGES: JSON.stringify(docs.map((name) => name.slice(0, -".md".length)).sort()) },
  build: {
    outDir: "../../dist/console",
    emptyOutDir: true,
    // Data addresses and inline scripts are not what the page's policy allows.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
