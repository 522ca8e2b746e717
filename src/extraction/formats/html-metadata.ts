import { cleanDate, cleanField, cleanLanguage, type ReadDocument } from "./clean-text.ts";
import { elementsOf, type HtmlElement, textOf } from "./html-tree.ts";
import { jsonOf } from "../../files/own-files.ts";

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
