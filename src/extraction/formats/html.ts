import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { unprocessable } from "../../core/errors.ts";
import type { Block } from "../../core/documents/extraction.ts";
import { type ReadDocument, cleanDate, cleanField, cleanLanguage } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { elementsOf, type HtmlElement, parseHtml, textOf } from "./html-tree.ts";
import { jsonOf } from "../../files/own-files.ts";

type Page = ReadDocument & { readonly method: "readability" | "html-rules" };

/** Readability takes seconds on larger pages, and recurses with their depth. */
const MAX_READABILITY_CHARS = 3_000_000;
const MAX_READABILITY_DEPTH = 200;
/** A page of scripts shows less than this: a title, "Loading…". */
const MAX_EMPTY_PAGE_CHARS = 200;

/** Readability's article must have this share of the words that the rules find; with less it is one part of many. */
const MIN_ARTICLE_SHARE = 0.3;
/** Enough for a page that declares itself an article. */
const MIN_ARTICLE_CHARS = 120;
/** A page with as many `article` elements lists entries, whose titles readability leaves out. */
const MIN_ENTRIES = 3;
/** Addresses of links that are more than this share of an article's words are left out. */
const MAX_ADDRESS_SHARE = 0.05;

/** The article of a page, else all but what is plainly no text of it. @throws {ServiceError} UNPROCESSABLE. */
export function readHtml(html: string, base?: string): Page {
  const { root, depth } = parseHtml(html);
  const { isArticle, ...metadata } = pageMetadata(root, base);
  const body = elementsOf(root, "body")[0] ?? root;
  const leaves = leavesSite(root, base ?? metadata.url);
  const main = mainPart(body);
  const skips = furnitureIn(main, leaves);
  const byRules = blocksOfHtml(main, { skips });

  if (charsOf(byRules) < MAX_EMPTY_PAGE_CHARS && needsScripts(root))
    throw unprocessable(
      "The page's text is written by scripts, which are not run. Save the page from a browser and send that file.",
    );
  const entries = elementsOf(main, "article").length;
  const isListing = !isArticle && entries >= MIN_ENTRIES;
  if (html.length <= MAX_READABILITY_CHARS && depth <= MAX_READABILITY_DEPTH && !isListing) {
    const article = articleOf(html, leaves, isArticle);
    const isBelieved = (found: readonly Block[]) =>
      (isArticle && charsOf(found) >= MIN_ARTICLE_CHARS) ||
      wordsOf(found) >= wordsOf(byRules) * MIN_ARTICLE_SHARE;
    if (article !== undefined && isBelieved(article))
      return { ...metadata, blocks: withTitle(article, byRules, metadata.title), method: "readability" };
  }
  const blocks = blocksOfHtml(byRules.length > 0 ? main : body, {
    keepsLink: leaves,
    ...(byRules.length > 0 && { skips }),
  });
  return { ...metadata, blocks, method: "html-rules" };
}

function articleOf(
  html: string,
  keepsLink: (address: string) => boolean,
  isArticle: boolean,
): Block[] | undefined {
  const { document } = parseHTML(html);
  if (!isArticle && !isProbablyReaderable(document)) return undefined;
  const article = new Readability(document, { keepClasses: true }).parse();
  if (article?.content === undefined || article.content === null) return undefined;
  const { root } = parseHtml(article.content);
  const skips = furnitureIn(root, keepsLink);
  const plain = blocksOfHtml(root, { skips });
  const withAddresses = blocksOfHtml(root, { skips, keepsLink });
  const words = wordsOf(plain);
  return wordsOf(withAddresses) - words > words * MAX_ADDRESS_SHARE ? plain : withAddresses;
}

/** Whether an address leads to another site: those within a site are its navigation. */
function leavesSite(root: HtmlElement, url: string | undefined): (address: string) => boolean {
  const base = elementsOf(root, "base")[0]?.attributes["href"];
  const own = new Set([url, base].flatMap((address) => siteOf(address) ?? []));
  return (address) => URL.canParse(address) && !own.has(siteOf(address) ?? "");
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
const FURNITURE_NAMES = new RegExp(
  String.raw`(?:^|[\s_-])(?:${[
    "cookies?|consent|gdpr|newsletter|subscribe|sign-?up|paywall|popup|modal|overlay",
    "breadcrumbs?|sidebar|skip-?link|skip|navbar|navigation|nav|topnav|navbox|toc|catlinks|masthead|pagination|pager",
    "site-?(?:header|footer)|share|sharing|social|advert|advertisement|ads?|promo|sponsored",
    "related|recommend(?:ed|ations?)|most-?(?:read|popular|viewed)|also-?(?:like|bought)",
    "(?:post|vote|action|share)-?(?:buttons?|menu|profile|count|bar|tools?)|user-?info|page-?tools|(?:mw-)?editsection",
  ].join("|")})(?:$|[\s_-])`,
  "i",
);
/** Longer ids are made from headings. */
const SHORT_ID = /^[^\s_-]+(?:[_-][^\s_-]+)?$/;

/** An element with more of the page's text than this is no furniture, whatever it is called. */
const MAX_FURNITURE_SHARE = 0.5;
/** A `main` or single `article` with less is not where the text is. */
const MIN_MAIN_SHARE = 0.2;

/** Links of a menu within the site: their least number, and their share of its text. */
const MIN_MENU_LINKS = 3;
const MIN_MENU_SHARE = 0.8;
const MENU_TAGS = new Set(["ul", "ol", "dl", "div", "section", "footer", "td", "p"]);

const isMain = ({ tag, attributes }: HtmlElement) => tag === "main" || attributes["role"] === "main";

/** The one element that the page marks as its main part or article, unless the text is elsewhere. */
function mainPart(body: HtmlElement): HtmlElement {
  const elements = elementsOf(body);
  const mains = elements.filter(isMain);
  const [candidate, ...others] = mains.length > 0 ? mains : elements.filter(({ tag }) => tag === "article");
  if (candidate === undefined || others.length > 0) return body;
  const lengths = textLengths(body, () => true);
  const lengthOf = (element: HtmlElement) => lengths.get(element)?.text ?? 0;
  return lengthOf(candidate) >= lengthOf(body) * MIN_MAIN_SHARE ? candidate : body;
}

/** Tells of an element below `root` whether it is plainly no text of the page; in doubt it is text. */
function furnitureIn(
  root: HtmlElement,
  leavesSite: (address: string) => boolean,
): (element: HtmlElement) => boolean {
  const lengths = textLengths(root, leavesSite);
  const total = lengths.get(root)?.text ?? 0;
  const inArticle = new Set<HtmlElement>(isMain(root) || root.tag === "article" ? elementsOf(root) : []);
  for (const element of elementsOf(root))
    if (element.tag === "article" || isMain(element))
      for (const inner of elementsOf(element)) inArticle.add(inner);

  const isLarge = (element: HtmlElement) => (lengths.get(element)?.text ?? 0) > total * MAX_FURNITURE_SHARE;
  const isNamed = (element: HtmlElement) => {
    const { tag, attributes } = element;
    if (isLarge(element)) return false;
    if (FURNITURE_TAGS.has(tag) || FURNITURE_ROLES.test(attributes["role"] ?? "")) return true;
    // The header of an article holds its title; that of the page its banner.
    if ((tag === "header" || tag === "footer") && !inArticle.has(element)) return true;
    if (tag === "p" || tag === "a" || tag === "span" || /^h[1-6]$/.test(tag)) return false;
    const { class: names = "", id = "" } = attributes;
    return FURNITURE_NAMES.test(names) || (SHORT_ID.test(id) && FURNITURE_NAMES.test(id));
  };
  const isMenu = (element: HtmlElement) => {
    const { text, menu, links } = lengths.get(element) ?? NO_TEXT;
    const least = element.tag === "footer" ? 1 : MIN_MENU_LINKS;
    return MENU_TAGS.has(element.tag) && links >= least && menu >= text * MIN_MENU_SHARE && !isLarge(element);
  };
  const isEither = (element: HtmlElement) => isNamed(element) || isMenu(element);
  const wordsWithout = (skips: typeof isEither) => wordsOf(blocksOfHtml(root, { skips }));
  // Lists of links are the text of a page that has little else.
  return wordsWithout(isEither) < wordsWithout(isNamed) * (1 - MAX_FURNITURE_SHARE) ? isNamed : isEither;
}

/** Characters of an element; those in links within the site, and how many such links. */
type Lengths = { readonly text: number; readonly menu: number; readonly links: number };

const NO_TEXT: Lengths = { text: 0, menu: 0, links: 0 };

function textLengths(root: HtmlElement, leavesSite: (address: string) => boolean): Map<HtmlElement, Lengths> {
  const lengths = new Map<HtmlElement, Lengths>();
  const measure = (element: HtmlElement): Lengths => {
    let [text, menu, links] = [0, 0, 0];
    for (const child of element.children) {
      if (typeof child === "string") text += child.trim().length;
      else if (child.tag !== "script" && child.tag !== "style" && child.tag !== "noscript") {
        const inner = measure(child);
        text += inner.text;
        menu += inner.menu;
        links += inner.links;
      }
    }
    if (element.tag === "a" && text > 0 && !leavesSite(element.attributes["href"] ?? ""))
      [menu, links] = [text, 1];
    const found = { text, menu, links };
    lengths.set(element, found);
    return found;
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

/** `isArticle`: the page declares itself an article. */
export type PageMetadata = Omit<ReadDocument, "blocks"> & { readonly isArticle: boolean };

/** Types of schema.org. DiscussionForumPosting is left out: its answers are no comments. */
const ARTICLE_TYPE = /Article$|^(?:Blog|SocialMedia)Posting$|Report$/;
/** Larger blocks of linked data are not read. */
const MAX_LINKED_DATA_CHARS = 262_144;

/** The metadata of a page from linked data, Open Graph, the common `meta` names, `title` and `link`. */
export function pageMetadata(root: HtmlElement, base: string | undefined): PageMetadata {
  const meta = new Map<string, string>();
  let title: string | undefined;
  let heading: string | undefined;
  let language: string | undefined;
  let canonical: string | undefined;
  let time: string | undefined;
  const linked: LinkedData[] = [];

  for (const element of elementsOf(root)) {
    const { tag, attributes } = element;
    if (tag === "meta") {
      const { property, name: plain, itemprop, "http-equiv": header } = attributes;
      const name = (property ?? plain ?? itemprop ?? header)?.toLowerCase();
      const content = attributes["content"];
      if (name !== undefined && content !== undefined && !meta.has(name)) meta.set(name, content);
    } else if (tag === "title") title ??= cleanField(textOf(element));
    else if (tag === "h1") heading ??= cleanField(textOf(element));
    else if (tag === "html") language ??= attributes["lang"] ?? attributes["xml:lang"];
    else if (tag === "link" && /(?:^|\s)canonical(?:\s|$)/i.test(attributes["rel"] ?? ""))
      canonical ??= attributes["href"];
    else if (
      tag === "time" &&
      (attributes["pubdate"] !== undefined || attributes["itemprop"] === "datePublished")
    )
      time ??= attributes["datetime"];
    else if (tag === "script" && attributes["type"] === "application/ld+json")
      linked.push(...linkedData(textOf(element)));
  }

  const article =
    linked.find((data) => ARTICLE_TYPE.test(String(data["@type"]))) ??
    linked.find((data) => String(data["@type"]).endsWith("Page")) ??
    {};
  const first = (...names: string[]) =>
    names.map((name) => cleanField(meta.get(name))).find((value) => value !== undefined);
  const isArticle =
    first("og:type")?.toLowerCase() === "article" ||
    meta.has("article:published_time") ||
    ARTICLE_TYPE.test(String(article["@type"]));
  const dates = [
    article["datePublished"],
    first(
      "article:published_time",
      "datepublished",
      "date",
      "dc.date",
      "dc.date.issued",
      "dcterms.created",
      "pubdate",
      "citation_publication_date",
    ),
    time,
  ];
  return {
    title:
      first("og:title", "citation_title", "dc.title") ?? title ?? cleanField(article["headline"]) ?? heading,
    author:
      nameOf(article["author"]) ??
      first("author", "dc.creator", "citation_author", "parsely-author") ??
      notAddress(first("article:author")),
    date: dates.map(cleanDate).find((date) => date !== undefined),
    language: cleanLanguage(language) ?? cleanLanguage(first("content-language", "og:locale", "dc.language")),
    isArticle,
    url: webAddress(canonical, base) ?? webAddress(first("og:url"), base),
  };
}

type LinkedData = Readonly<Record<string, unknown>>;

function linkedData(json: string): LinkedData[] {
  if (json.length > MAX_LINKED_DATA_CHARS) return [];
  const value = jsonOf(json);
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    const graph = (item as LinkedData)["@graph"];
    return [
      item as LinkedData,
      ...(Array.isArray(graph) ? graph.filter((part) => typeof part === "object" && part !== null) : []),
    ];
  });
}

function nameOf(author: unknown): string | undefined {
  if (typeof author === "string") return notAddress(cleanField(author));
  if (Array.isArray(author))
    return cleanField(
      author
        .map(nameOf)
        .filter((name) => name !== undefined)
        .join(", "),
    );
  return typeof author === "object" && author !== null
    ? cleanField((author as LinkedData)["name"])
    : undefined;
}

const notAddress = (value: string | undefined) =>
  value !== undefined && /^https?:/.test(value) ? undefined : value;

function webAddress(address: string | undefined, base: string | undefined): string | undefined {
  const text = cleanField(address);
  if (text === undefined || !URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
