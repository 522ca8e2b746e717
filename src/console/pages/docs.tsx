/** The documentation that ships, and the reference of the API with each call to try. */
import { useEffect, useRef } from "preact/hooks";
import type { PageProps } from "../context.ts";
import { go, hashOf, useLoad } from "../hooks.ts";
import { Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";
import { Reference } from "./reference.tsx";

const files = import.meta.glob<string>("../../../docs/*.md", { import: "default" });
const pages = new Map(
  Object.entries(files).map(([path, load]) => [path.slice(path.lastIndexOf("/") + 1, -".md".length), load]),
);
const FIRST = "quickstart";
const REFERENCE = "reference";

export function Docs({ at }: PageProps) {
  const name = at["page"] ?? FIRST;
  return (
    <div class="docs">
      <nav aria-label={texts.docs.pages}>
        <ul>
          {[REFERENCE, ...pages.keys()].map((each) => (
            <li key={each}>
              <a href={hashOf("docs", { page: each })} aria-current={each === name ? "page" : undefined}>
                {each === REFERENCE ? texts.docs.reference : each}
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
  const html = useLoad(async () => (await pages.get(name)?.()) ?? texts.docs.none, [name]);
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    const target = place === undefined ? null : shown.current?.querySelector(`#${CSS.escape(place)}`);
    target?.scrollIntoView();
  }, [place, html.value]);
  const follow = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>("a[data-page]") : null;
    if (link === null) return;
    event.preventDefault();
    const { page = "", at = "" } = link.dataset;
    go(hashOf("docs", { page: page === "" ? name : page, at }));
  };
  return (
    <Outcome of={html}>
      {/* Only pages of the build; nothing that anybody stored comes here. */}
      {(text) => (
        <article ref={shown} class="text-page" onClick={follow} dangerouslySetInnerHTML={{ __html: text }} />
      )}
    </Outcome>
  );
}
