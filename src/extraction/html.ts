import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { ServiceError } from "../core/errors.ts";
import type { Block } from "../core/documents/extraction.ts";
import type { ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { mainPart, needsScripts } from "./html-main.ts";
import { pageMetadata } from "./html-metadata.ts";
import { findElement, type HtmlElement, parseHtml } from "./html-tree.ts";

type Page = ReadDocument & { readonly method: "readability" | "html-rules" };

/** Readability takes seconds on larger pages, and recurses with their depth. */
const MAX_READABILITY_CHARS = 3_000_000;
const MAX_READABILITY_DEPTH = 200;
/** A page of scripts shows less than this: a title, "Loading…". */
const MAX_EMPTY_PAGE_CHARS = 200;

/** Readability's article must have this share of the words that the rules find; with less it is one part of many. */
const MIN_ARTICLE_SHARE = 0.3;
/** Enough for a page that declares itself an article. */
const MIN_ARTICLE_CHARS = 300;
/** Addresses of links that are more than this share of an article's words are left out. */
const MAX_ADDRESS_SHARE = 0.05;

/**
 * The main text of a page: its article where there is one, else all but what is plainly not text of it.
 *
 * @throws {ServiceError} UNPROCESSABLE if scripts write the text, or the nesting is hostile.
 */
export function readHtml(html: string, base?: string): Page {
  const { root, depth } = parseHtml(html);
  const { isArticle, ...metadata } = pageMetadata(root, base);
  const body = findElement(root, (element) => element.tag === "body") ?? root;
  const { root: main, skips } = mainPart(body);
  const keepsLink = leavesSite(root, base ?? metadata.url);
  const byRules = blocksOfHtml(main, { skips });

  if (charsOf(byRules) < MAX_EMPTY_PAGE_CHARS && needsScripts(root)) {
    throw new ServiceError(
      "UNPROCESSABLE",
      "The page's text is written by scripts, which are not run. Save the page from a browser and send that file.",
    );
  }
  if (html.length <= MAX_READABILITY_CHARS && depth <= MAX_READABILITY_DEPTH) {
    const article = articleOf(html, keepsLink);
    const isBelieved = (found: readonly Block[]) =>
      (isArticle && charsOf(found) >= MIN_ARTICLE_CHARS) ||
      wordsOf(found) >= wordsOf(byRules) * MIN_ARTICLE_SHARE;
    if (article !== undefined && isBelieved(article)) {
      return { ...metadata, blocks: withTitle(article, byRules, metadata.title), method: "readability" };
    }
  }
  const blocks =
    byRules.length > 0 ? blocksOfHtml(main, { skips, keepsLink }) : blocksOfHtml(body, { keepsLink });
  return { ...metadata, blocks, method: "html-rules" };
}

function articleOf(html: string, keepsLink: (address: string) => boolean): Block[] | undefined {
  const { document } = parseHTML(html);
  if (!isProbablyReaderable(document)) return undefined;
  const article = new Readability(document).parse();
  if (article?.content === undefined || article.content === null) return undefined;
  const { root } = parseHtml(article.content);
  const plain = blocksOfHtml(root);
  const withAddresses = blocksOfHtml(root, { keepsLink });
  const words = wordsOf(plain);
  return wordsOf(withAddresses) - words > words * MAX_ADDRESS_SHARE ? plain : withAddresses;
}

/** Whether an address leads to another site: those within a site are its navigation. */
function leavesSite(root: HtmlElement, url: string | undefined): (address: string) => boolean {
  const base = findElement(root, (element) => element.tag === "base")?.attributes["href"];
  const own = new Set([url, base].flatMap((address) => siteOf(address) ?? []));
  return (address) => !own.has(siteOf(address) ?? "");
}

function siteOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { hostname } = new URL(address);
  return hostname === "" ? undefined : hostname.replace(/^www\./, "");
}

/** Readability removes the headline, which belongs to the text where the page shows it. */
function withTitle(article: Block[], byRules: readonly Block[], title: string | undefined): Block[] {
  const headline = byRules.find((block) => block.type === "heading" && block.level === 1) ?? undefined;
  if (headline === undefined || title === undefined || !keyOf(title).includes(keyOf(headline.text)))
    return article;
  return article.some((block) => block.text === headline.text) ? article : [headline, ...article];
}

const keyOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
const charsOf = (blocks: readonly Block[]) => blocks.reduce((total, block) => total + block.text.length, 0);

/** Words; of scripts without spaces, half the characters. */
function wordsOf(blocks: readonly Block[]): number {
  let count = 0;
  for (const { text } of blocks) {
    for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu))
      count += /[\u3040-\u9fff]/.test(word) ? Math.max(1, word.length / 2) : 1;
  }
  return count;
}
