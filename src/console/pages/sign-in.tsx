import { useState } from "preact/hooks";
import { openSession, reasonOf, useKey } from "../api.ts";
import { useFocus } from "../hooks.ts";
import { Field, Problem, Sentence } from "../parts.tsx";
import { texts } from "../texts.ts";

interface SignInProps {
  readonly onSignedIn: () => void;
  /** Whether this tab was signed in before. */
  readonly isAgain: boolean;
}

export function SignIn({ onSignedIn, isAgain }: SignInProps) {
  const [key, setKey] = useState("");
  const field = useFocus<HTMLInputElement>();
  const [problem, setProblem] = useState<string>();
  const submit = async (event: Event) => {
    event.preventDefault();
    useKey(key.trim());
    try {
      await openSession();
      onSignedIn();
    } catch (error) {
      useKey(undefined);
      setProblem(reasonOf(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>{texts.signIn.title}</h1>
      <Problem of={isAgain ? texts.signIn.again : undefined} />
      <p>{texts.signIn.why}</p>
      <form onSubmit={(event) => void submit(event)}>
        <Field label={texts.signIn.key}>
          <input
            type="password"
            ref={field}
            autocomplete="off"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="main">
          {texts.signIn.deed}
        </button>
        <Problem of={problem} />
      </form>
      <p>
        <small>
          <Sentence of={texts.signIn.orOpen} /> <a href="#/docs">{texts.docs.pages}</a>
        </small>
      </p>
    </main>
  );
}
