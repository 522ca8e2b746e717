/** Pieces that every page is made of. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Memory } from "../client/client.ts";
import { reasonOf } from "./api.ts";
import { type Loaded, useFocus, useLoad } from "./hooks.ts";
import { texts } from "./texts.ts";

export function Field({
  label,
  children,
  hint,
}: {
  label: string;
  children: ComponentChildren;
  hint?: string | undefined;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

/** A field for a line of text, or a date. */
export function Input({
  label,
  hint,
  onInput,
  type = "text",
  ...input
}: {
  label: string;
  hint?: string;
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "date" | "url";
  /** The id of its suggestions. */
  list?: string;
  placeholder?: string;
}) {
  return (
    <Field label={label} hint={hint}>
      <input type={type} {...input} onInput={(event) => onInput(event.currentTarget.value)} />
    </Field>
  );
}

/** A field for one of some values, each with its words. */
export function Choice<T extends string>({
  label,
  of,
  value,
  onChoose,
}: {
  label: string;
  of: Readonly<Record<T, string>>;
  value: T;
  onChoose: (value: T) => void;
}) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {Object.entries<string>(of).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** The state of a load: its value, or why there is none, or that it is under way. */
export function Outcome<T>({
  of: { value, error, isLoading, reload },
  children,
}: {
  of: Loaded<T>;
  children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      <Problem of={error} onRetry={reload} />
      {value !== undefined && children(value)}
      {value === undefined && isLoading && (
        <p class="waiting" role="status">
          {texts.loading}
        </p>
      )}
    </>
  );
}

/** A search field over a list. */
export function SearchForm({
  label,
  placeholder = label,
  value,
  onInput,
  onSubmit,
  isFocused = false,
  ...input
}: {
  label: string;
  placeholder?: string;
  value: string;
  onInput: (value: string) => void;
  onSubmit?: () => void;
  /** As it appears. */
  isFocused?: boolean;
  maxLength?: number;
}) {
  const field = useFocus<HTMLInputElement>(isFocused);
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <form role="search" class="ask" onSubmit={submit}>
      <input
        {...input}
        ref={field}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          // The browser empties a field that holds something.
          if (key === "Escape" && value === "") currentTarget.blur();
        }}
      />
    </form>
  );
}

/** Names and values; a pair whose value is null is left out. */
export function Pairs({
  of,
}: {
  of: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[];
}) {
  return (
    <dl class="pairs">
      {of.map(([name, value], index) =>
        value === null ? null : (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** A sentence; its parts between backticks are commands. */
export function Sentence({ of }: { of: string }) {
  return (
    <>{of.split("`").map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>
  );
}

/** Documents whose text is extracted as Markdown. */
const MARKED_UP = /markdown|html|word|opendocument|presentation|epub|pdf/;

/** The text of a note, rendered where it is a part of a document with headings, lists and links. */
export function PartText({ of: { content, source } }: { of: Memory }) {
  const isMarkedUp = MARKED_UP.test(source?.media_type ?? "");
  // What reads Markdown is loaded with the first text.
  const code = useLoad(async () => (isMarkedUp ? await import("./markdown.tsx") : null), [isMarkedUp]);
  if (!isMarkedUp) return <p class="content">{content}</p>;
  return (
    <Outcome of={code}>
      {(loaded) =>
        loaded !== null && (
          <div class="content marked-up">
            <loaded.default text={content} />
          </div>
        )
      }
    </Outcome>
  );
}

/** The problem, and a button to try it again; nothing while that is undefined. */
export function Problem({ of, onRetry }: { of: string | undefined; onRetry?: () => void }) {
  return of === undefined ? null : (
    <p class="problem" role="alert">
      {of}{" "}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {texts.tryAgain}
        </button>
      )}
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface DeedProps {
  readonly run: () => Promise<unknown>;
  readonly children: ComponentChildren;
  readonly kind?: "main" | "danger";
  readonly isDisabled?: boolean;
}

/** A button whose deed takes a while: it cannot be pressed twice, and says why it failed. */
export function Deed({ run, children, kind, isDisabled = false }: DeedProps) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string>();
  const press = async () => {
    setRunning(true);
    setError(undefined);
    setError(await run().then(() => undefined, reasonOf));
    setRunning(false);
  };
  return (
    <>
      <button type="button" class={kind} disabled={isDisabled || isRunning} onClick={() => void press()}>
        {children}
      </button>
      {error !== undefined && (
        <span class="problem" role="alert">
          {error}
        </span>
      )}
    </>
  );
}

/** A form whose main button Ctrl+Enter presses. */
export function WritingForm({
  kind,
  onEscape,
  children,
}: {
  kind: string;
  onEscape?: () => void;
  children: ComponentChildren;
}) {
  return (
    <form
      class={kind}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        const { key, ctrlKey, metaKey, currentTarget } = event;
        if (key === "Enter" && (ctrlKey || metaKey))
          currentTarget.querySelector<HTMLElement>("button.main")?.click();
        else if (key === "Escape" && onEscape !== undefined) onEscape();
        else return;
        event.preventDefault();
      }}
    >
      {children}
    </form>
  );
}

/** The title of a panel or dialog, with the button that closes it. */
export function PanelHead({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <header>
      <h2>{title}</h2>
      <button type="button" aria-label={texts.close} onClick={onClose}>
        ×
      </button>
    </header>
  );
}

/** Modal while it is shown; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={title}>
      <PanelHead title={title} onClose={onClose} />
      {children}
    </dialog>
  );
}

/** A button whose deed is done after a question. */
export function AskedDeed({
  question,
  run,
  children,
  kind = "danger",
  isDisabled = false,
}: DeedProps & { question: string }) {
  const [isAsked, setAsked] = useState(false);
  const done = async () => {
    await run();
    setAsked(false);
  };
  return (
    <>
      <button
        type="button"
        class={kind === "danger" ? kind : undefined}
        disabled={isDisabled}
        onClick={() => setAsked(true)}
      >
        {children}
      </button>
      {isAsked && (
        <Dialog title={question} onClose={() => setAsked(false)}>
          <p class="deeds">
            <Deed kind={kind} run={done}>
              {children}
            </Deed>
            <button type="button" onClick={() => setAsked(false)}>
              {texts.cancel}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** A command to be copied. */
export function CommandLine({ command }: { command: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
  };
  return (
    <span class="command">
      <code>{command}</code>
      {/* Only where the page came over HTTPS or from this machine. */}
      {isSecureContext && (
        <button type="button" onClick={() => void copy()}>
          {isCopied ? texts.copied : texts.copy}
        </button>
      )}
    </span>
  );
}

export function Tags({ of: tags, onPick }: { of: readonly string[]; onPick?: (tag: string) => void }) {
  if (tags.length === 0) return null;
  return (
    <span class="tags">
      {tags.map((tag) =>
        onPick === undefined ? (
          <span class="tag" key={tag}>
            {tag}
          </span>
        ) : (
          <button type="button" class="tag" key={tag} onClick={() => onPick(tag)}>
            {tag}
          </button>
        ),
      )}
    </span>
  );
}
