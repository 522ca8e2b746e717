import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { unprocessable } from "../core/errors.ts";
import type { Block } from "../core/documents/extraction.ts";
import type { ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { pageMetadata } from "./html-metadata.ts";
import { elementsOf, findElement, type HtmlElement, parseHtml, textOf } from "./html-tree.ts";

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

/** The article of a page, else all but what is plainly no text of it. @throws {ServiceError} UNPROCESSABLE. */
export function readHtml(html: string, base?: string): Page {
  const { root, depth } = parseHtml(html);
  const { isArticle, ...metadata } = pageMetadata(root, base);
  const body = findElement(root, (element) => element.tag === "body") ?? root;
  const { root: main, skips } = mainPart(body);
  const keepsLink = leavesSite(root, base ?? metadata.url);
  const byRules = blocksOfHtml(main, { skips });

  if (charsOf(byRules) < MAX_EMPTY_PAGE_CHARS && needsScripts(root)) {
    throw unprocessable(
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

/** Roles and elements that hold no main text wherever they stand. */
const FURNITURE_ROLES =
  /^(?:navigation|banner|contentinfo|complementary|search|dialog|alertdialog|menu|menubar|toolbar)$/;
const FURNITURE_TAGS = new Set(["nav", "aside"]);

/** Words in class or id with the same meaning, alone or joined by hyphens. */
const FURNITURE_NAMES =
  /(?:^|[\s_-])(?:cookies?|consent|gdpr|newsletter|subscribe|breadcrumbs?|sidebar|share|sharing|social|advert|advertisement|ads?|promo|sponsored|popup|modal|overlay|skip-?link|skip|navbar|navigation|nav|site-?(?:header|footer)|masthead|pagination|related-(?:posts|articles|stories)|paywall)(?:$|[\s_-])/i;

/** An element with more of the page's text than this is no furniture, whatever it is called. */
const MAX_FURNITURE_SHARE = 0.5;
/** A `main` or single `article` with less is not where the text is. */
const MIN_MAIN_SHARE = 0.2;

interface MainPart {
  readonly root: HtmlElement;
  /** The page itself marks `root` as its main part. */
  readonly isMarked: boolean;
  /** Whether to leave an element below `root` out. */
  readonly skips: (element: HtmlElement) => boolean;
}

/** The main part of a page that is no article; in doubt, more rather than less. */
function mainPart(body: HtmlElement): MainPart {
  const lengths = textLengths(body);
  const lengthOf = (element: HtmlElement) => lengths.get(element) ?? 0;
  const total = lengthOf(body);
  const bodyElements = Array.from(elementsOf(body));
  const inArticle = new Set<HtmlElement>();
  for (const element of bodyElements) {
    if (element.tag !== "article" && !isMain(element)) continue;
    for (const inner of elementsOf(element)) inArticle.add(inner);
  }

  const mains = bodyElements.filter(isMain);
  const articles = bodyElements.filter((element) => element.tag === "article");
  const candidate =
    mains.length === 1 ? mains[0] : mains.length === 0 && articles.length === 1 ? articles[0] : undefined;
  const root = candidate !== undefined && lengthOf(candidate) >= total * MIN_MAIN_SHARE ? candidate : body;

  return {
    root,
    isMarked: root !== body,
    skips: (element) => {
      if (lengthOf(element) > lengthOf(root) * MAX_FURNITURE_SHARE) return false;
      const { tag, attributes } = element;
      if (FURNITURE_TAGS.has(tag) || FURNITURE_ROLES.test(attributes["role"] ?? "")) return true;
      // The header of an article holds its title; that of the page its banner.
      if ((tag === "header" || tag === "footer") && !inArticle.has(element)) return true;
      if (tag === "p" || tag === "a" || tag === "span" || /^h[1-6]$/.test(tag)) return false;
      return FURNITURE_NAMES.test(attributes["class"] ?? "") || FURNITURE_NAMES.test(attributes["id"] ?? "");
    },
  };
}

const isMain = ({ tag, attributes }: HtmlElement) => tag === "main" || attributes["role"] === "main";

function textLengths(root: HtmlElement): Map<HtmlElement, number> {
  const lengths = new Map<HtmlElement, number>();
  const measure = (element: HtmlElement): number => {
    let length = 0;
    for (const child of element.children) {
      if (typeof child === "string") length += child.trim().length;
      else if (child.tag !== "script" && child.tag !== "style" && child.tag !== "noscript")
        length += measure(child);
    }
    lengths.set(element, length);
    return length;
  };
  measure(root);
  return lengths;
}

/** Ids of the element that scripts fill. */
const APP_ROOTS =
  /^(?:root|app|__next|__nuxt|react-root|main-app|application|svelte|q-app|ember\d*|app-root|gatsby)$/i;

/** True if a page without text shows the marks of one that scripts write. */
function needsScripts(tree: HtmlElement): boolean {
  let hasScript = false;
  let hasMark = false;
  for (const element of elementsOf(tree)) {
    if (element.tag === "script") hasScript = true;
    else if (element.tag === "noscript") hasMark ||= /java\s?script/i.test(textOf(element));
    else if (APP_ROOTS.test(element.attributes["id"] ?? "") || element.tag === "app-root")
      hasMark ||= textOf(element).trim().length < 100;
  }
  return hasScript && hasMark;
}
