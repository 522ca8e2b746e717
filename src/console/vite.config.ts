import { readFileSync } from "node:fs";
import { Marked } from "marked";
import { defineConfig, type Plugin } from "vite";

/** Pages of `docs/` as HTML that the console shows: links lead to its own pages, headings have names. */
function documentation(): Plugin {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const [, page, place = ""] = /^([\w-]*)(?:\.md)?(?:#([\w-]+))?$/.exec(href) ?? [];
        if (page !== undefined) return `<a data-page="${page}" data-at="${place}" href="#/docs">${text}</a>`;
        return href.startsWith("https://") ? `<a href="${href}" rel="noreferrer">${text}</a>` : text;
      },
      image: () => "",
    },
  });
  return {
    name: "documentation",
    enforce: "pre",
    load(id) {
      if (!id.endsWith(".md")) return null;
      return `export default ${JSON.stringify(marked.parse(readFileSync(id, "utf8"), { async: false }))}`;
    },
  };
}

/** As the sites that show Markdown name headings. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

export default defineConfig({
  base: "/",
  plugins: [documentation()],
  build: {
    outDir: "../../dist/console",
    emptyOutDir: true,
    // Data addresses and inline scripts are not what the page's policy allows.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
