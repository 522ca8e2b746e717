/** The documentation that ships, and the reference of the API with each call to try. */
import { useEffect, useRef } from "preact/hooks";
import { request } from "../api.ts";
import type { PageProps } from "../context.ts";
import { hashOf, useLoad } from "../hooks.ts";
import { Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";
import { Reference } from "./reference.tsx";

/** The pages in `docs/`, which the build lists. */
declare const DOC_PAGES: readonly (readonly [name: string, title: string])[];

const FIRST = "quickstart";
const REFERENCE = "reference";
/** The address that examples name. */
const EXAMPLE = /(?:http:\/\/)?(?:localhost|127\.0\.0\.1):8080/g;

export function Docs({ at }: PageProps) {
  const name = at["page"] ?? FIRST;
  return (
    <div class="docs">
      <nav aria-label={texts.docs.pages}>
        <ul>
          {[[REFERENCE, texts.docs.reference] as const, ...DOC_PAGES].map(([each, title]) => (
            <li key={each}>
              <a href={hashOf("docs", { page: each })} aria-current={each === name ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {name === REFERENCE ? <Reference /> : <Text key={name} name={name} place={at["at"]} />}
    </div>
  );
}

function Text({ name, place }: { name: string; place: string | undefined }) {
  const page = useLoad(
    async (signal) => ({ text: await readPage(name, signal), ...(await import("../markdown.tsx")) }),
    [name],
  );
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    const target = place === undefined ? null : shown.current?.querySelector(`#${CSS.escape(place)}`);
    target?.scrollIntoView();
  }, [place, page.value]);
  const hashOfLink = (href: string) => {
    const [, other, part = ""] = /^([\w-]*)(?:\.md)?(?:#([\w-]+))?$/.exec(href) ?? [];
    return other === undefined ? undefined : hashOf("docs", { page: other === "" ? name : other, at: part });
  };
  return (
    <Outcome of={page}>
      {({ text, default: Markdown }) => (
        <article ref={shown} class="text-page">
          <Markdown text={text} hashOfLink={hashOfLink} />
        </article>
      )}
    </Outcome>
  );
}

/** A page whose examples name the daemon that this page comes from. */
async function readPage(name: string, signal: AbortSignal): Promise<string> {
  const response = await request(`/docs/${name}.md`, { signal });
  return response.ok
    ? (await response.text()).replaceAll(EXAMPLE, (found) =>
        found.startsWith("http") || location.protocol === "https:" ? location.origin : location.host,
      )
    : texts.docs.none;
}
