/** The frame around the pages: who is signed in, where one is, what just happened. */
import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { api, closeSession, isSignIn, openSession, SIGNED_OUT } from "./api.ts";
import { type Message, MessageContext, SessionContext, useSession } from "./context.ts";
import { hashOf, type Route, useEvery, useKeys, useLoad, useRoute } from "./hooks.ts";
import { followChanges } from "./live.ts";
import { Agents } from "./pages/agents.tsx";
import { Docs } from "./pages/docs.tsx";
import { Documents } from "./pages/documents.tsx";
import { Facts } from "./pages/facts.tsx";
import { Home } from "./pages/home.tsx";
import { Housekeeping } from "./pages/housekeeping.tsx";
import { Notes } from "./pages/notes.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { Dialog, Outcome, Pairs, Problem } from "./parts.tsx";
import { texts } from "./texts.ts";

const PAGES = {
  home: Home,
  notes: Notes,
  facts: Facts,
  documents: Documents,
  agents: Agents,
  housekeeping: Housekeeping,
  docs: Docs,
};
type PageName = keyof typeof PAGES;

const MESSAGE_MS = 10_000;
const REACHABLE_EVERY_MS = 5_000;

export function App() {
  const session = useLoad(openSession, []);
  const [isSignedOut, setSignedOut] = useState(false);
  useEffect(() => {
    const left = () => setSignedOut(true);
    // An address of `memoryd open` that was pasted into this tab.
    const arrived = () => {
      if (!isSignIn(location.hash)) return;
      setSignedOut(false);
      session.reload();
    };
    addEventListener(SIGNED_OUT, left);
    addEventListener("hashchange", arrived);
    return () => {
      removeEventListener(SIGNED_OUT, left);
      removeEventListener("hashchange", arrived);
    };
  }, []);

  const route = useRoute();
  /** The page that waits for the sign-in. */
  const waiting = useRef(route);
  if (!isSignedOut) waiting.current = route;
  const { page, at } = waiting.current;
  const signedIn = () => {
    setSignedOut(false);
    session.reload();
  };
  return (
    <>
      {/* The documentation ships with the program and holds nobody's data. */}
      {isSignedOut &&
        (route.page === "docs" ? (
          <main>
            <a href={page === "docs" ? "#/home" : hashOf(page, at)}>{texts.docs.toConsole}</a>
            <Docs at={route.at} />
          </main>
        ) : (
          <SignIn onSignedIn={signedIn} isAgain={session.value !== undefined} />
        ))}
      {/* It waits below: a token ends with the daemon, and what somebody was typing then must not be lost. */}
      <div hidden={isSignedOut}>
        <Outcome of={session}>
          {(who) => (
            <SessionContext.Provider key={`${who.scope} ${who.user_id}`} value={who}>
              <Frame route={waiting.current} />
            </SessionContext.Provider>
          )}
        </Outcome>
      </div>
    </>
  );
}

function Frame({ route: { page, at } }: { route: Route }) {
  const session = useSession();
  const name: PageName = page in PAGES ? (page as PageName) : "home";
  const Page = PAGES[name];
  const [message, setMessage] = useState<Message>();
  const [isHelpShown, setHelpShown] = useState(false);
  const main = useRef<HTMLElement>(null);
  const undo = () =>
    message?.undo?.().then(
      () => setMessage(undefined),
      (error: unknown) => setMessage({ text: String(error) }),
    );
  useKeys({
    "?": () => setHelpShown(true),
    "/": () => {
      const field = main.current?.querySelector<HTMLInputElement>("input[type=search]");
      if (field === null || field === undefined) location.hash = "#/home";
      else field.focus();
    },
  });
  useEffect(() => {
    const control = new AbortController();
    followChanges(control.signal);
    return () => control.abort();
  }, []);
  useEffect(() => {
    document.title = `${texts.pages[name]} · ${texts.name}`;
  }, [name]);
  useEffect(() => {
    if (message === undefined) return;
    const timer = setTimeout(() => setMessage(undefined), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);

  return (
    <MessageContext.Provider value={setMessage}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {texts.skip}
      </a>
      <header class="frame">
        <strong>{texts.name}</strong>
        <nav aria-label={texts.navigation}>
          {Object.entries(texts.pages).map(([each, title]) => (
            <a key={each} href={`#/${each}`} aria-current={each === name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class="who">
          {session.user_id ?? session.name}
          {session.key_needed && (
            <button type="button" onClick={() => void closeSession().finally(() => location.reload())}>
              {texts.signOut}
            </button>
          )}
          <button type="button" aria-label={texts.keys.title} onClick={() => setHelpShown(true)}>
            ?
          </button>
        </span>
      </header>
      <Reachable />
      <main id="main" ref={main} tabIndex={-1}>
        <h1 class="hidden">{texts.pages[name]}</h1>
        <Guarded key={name}>
          <Page at={at} />
        </Guarded>
      </main>
      <div class="message" role="status" aria-live="polite">
        {message !== undefined && (
          <p>
            {message.text}
            {message.undo !== undefined && (
              <button type="button" onClick={() => void undo()}>
                {message.label ?? texts.undo}
              </button>
            )}
          </p>
        )}
      </div>
      {isHelpShown && (
        <Dialog title={texts.keys.title} onClose={() => setHelpShown(false)}>
          <Pairs of={texts.keys.list.map(([key, deed]) => [<kbd>{key}</kbd>, deed])} />
        </Dialog>
      )}
    </MessageContext.Provider>
  );
}

/** Shows the error of a broken page in its place; another page works all the same. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error, forget] = useErrorBoundary();
  return error === undefined ? <>{children}</> : <Problem of={String(error)} onRetry={forget} />;
}

/** Says when the daemon is gone, and when it is back. */
function Reachable() {
  const [isLost, setLost] = useState(false);
  useEvery(REACHABLE_EVERY_MS, document.visibilityState === "visible" || isLost, () => {
    api.call({ method: "GET", path: "/livez", options: { timeoutMs: REACHABLE_EVERY_MS } }).then(
      () => setLost(false),
      () => setLost(true),
    );
  });
  return <Problem of={isLost ? texts.lost : undefined} />;
}
