import { elementsOf, type HtmlElement, textOf } from "./html-tree.ts";

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

export interface MainPart {
  readonly root: HtmlElement;
  /** The page itself marks `root` as its main part. */
  readonly isMarked: boolean;
  /** Whether to leave an element below `root` out. */
  readonly skips: (element: HtmlElement) => boolean;
}

/** The main part of a page that is no article; in doubt, more rather than less. */
export function mainPart(body: HtmlElement): MainPart {
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
export function needsScripts(tree: HtmlElement): boolean {
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
