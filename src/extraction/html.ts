import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { ServiceError } from "../core/errors.ts";
import type { Block } from "../core/documents/extraction.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { mainPart, needsScripts } from "./html-main.ts";
import { pageMetadata, type PageMetadata } from "./html-metadata.ts";
import { findElement, type HtmlElement, parseHtml } from "./html-tree.ts";

interface Page extends Omit<PageMetadata, "isArticle"> {
  readonly blocks: Block[];
  readonly method: "readability" | "html-rules";
}

/** Readability takes seconds on larger pages, and recurses with their depth. */
const MAX_READABILITY_CHARS = 3_000_000;
const MAX_READABILITY_DEPTH = 200;
/** A page of scripts shows less than this: a title, "Loading…". */
const MAX_EMPTY_PAGE_CHARS = 200;

/** Of a page that calls itself an article, what readability finds is believed from here on. */
const MIN_ARTICLE_CHARS = 300;
/** Of the prose on any other page, what its article leaves out at most: more, and it is no article (a forum, a manual, a list). */
const MAX_LOST_PROSE_SHARE = 0.25;
const MAX_LOST_SHARE = 0.1;
/** A block with as many words is prose and no label. */
const PROSE_WORDS = 15;

/**
 * The main text of a page: its article where there is one, else all but what is plainly not text of it.
 *
 * @throws {ServiceError} UNPROCESSABLE if scripts write the text, or the nesting is hostile.
 */
export function readHtml(html: string, base?: string): Page {
  const { root, depth } = parseHtml(html);
  const { isArticle, ...metadata } = pageMetadata(root, base);
  const body = findElement(root, (element) => element.tag === "body") ?? root;
  const { root: main, isMarked, skips } = mainPart(body);
  const keepsLink = leavesSite(root, base ?? metadata.url);
  const byRules = blocksOfHtml(main, { skips, keepsLink });

  if (charsOf(byRules) < MAX_EMPTY_PAGE_CHARS && needsScripts(root)) {
    throw new ServiceError(
      "UNPROCESSABLE",
      "The page's text is written by scripts, which are not run. Save the page from a browser and send that file.",
    );
  }
  if (html.length <= MAX_READABILITY_CHARS && depth <= MAX_READABILITY_DEPTH) {
    const article = articleOf(html, keepsLink);
    if (
      article !== undefined &&
      (isArticle ? charsOf(article) >= MIN_ARTICLE_CHARS : isWhole(article, byRules, isMarked))
    ) {
      return { ...metadata, blocks: withTitle(article, byRules, metadata.title), method: "readability" };
    }
  }
  const blocks = byRules.length > 0 ? byRules : blocksOfHtml(body, { keepsLink });
  return { ...metadata, blocks, method: "html-rules" };
}

function articleOf(html: string, keepsLink: (address: string) => boolean): Block[] | undefined {
  const { document } = parseHTML(html);
  if (!isProbablyReaderable(document)) return undefined;
  const article = new Readability(document).parse();
  if (article?.content === undefined || article.content === null) return undefined;
  return blocksOfHtml(parseHtml(article.content).root, { keepsLink });
}

/** Links within a site are its ways about; those that lead away are what the text points to. */
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

/**
 * True unless much that the rules found is missing in the article: of a page that marks its main part anything, of
 * others prose, since the rest may be links and labels around the article.
 */
function isWhole(article: readonly Block[], byRules: readonly Block[], isMarked: boolean): boolean {
  const inArticle = new Set(article.map((block) => keyOf(block.text)));
  const inArticleText = keyOf(article.map((block) => block.text).join(" "));
  let lost = 0;
  for (const block of byRules) {
    const count = wordCount(block.text);
    const key = keyOf(block.text);
    if (
      (isMarked || count >= PROSE_WORDS) &&
      !inArticle.has(key) &&
      !inArticleText.includes(key.slice(0, 80))
    )
      lost += count;
  }
  return (
    lost <=
    (isMarked ? MAX_LOST_SHARE : MAX_LOST_PROSE_SHARE) *
      wordCount(article.map((block) => block.text).join(" "))
  );
}

/** Readability takes the headline off; it belongs to the text where the page shows it. */
function withTitle(article: Block[], byRules: readonly Block[], title: string | undefined): Block[] {
  const headline = byRules.find((block) => block.type === "heading" && block.level === 1) ?? undefined;
  if (headline === undefined || title === undefined || !keyOf(title).includes(keyOf(headline.text)))
    return article;
  return article.some((block) => block.text === headline.text) ? article : [headline, ...article];
}

const keyOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
const charsOf = (blocks: readonly Block[]) => blocks.reduce((total, block) => total + block.text.length, 0);

/** Words; of scripts without spaces, half the characters. */
function wordCount(text: string): number {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.reduce(
    (total, word) => total + Math.max(1, /[\u3040-\u9fff]/.test(word) ? word.length / 2 : 1),
    0,
  );
}
