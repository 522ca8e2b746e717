/** The daemon's settings, each with its source, and the end of its log. */
import { useState } from "preact/hooks";
import type { Logs, LogsPlace, Settings } from "../../client/client.ts";
import { api } from "../api.ts";
import { secondOf } from "../format.ts";
import { useEvery, useLoad } from "../hooks.ts";
import { Choice, Empty, Outcome, Sentence } from "../parts.tsx";
import { texts } from "../texts.ts";

const say = texts.settings;

export function SettingsCard() {
  const settings = useLoad((signal) => api.settings({ signal }), []);
  const [isWhole, setWhole] = useState(false);
  return (
    <section class="card whole">
      <h2>{say.title}</h2>
      <Outcome of={settings}>
        {({ items, secrets, config_file }: Settings) => {
          const shown = items.filter(({ source }) => isWhole || source !== "default");
          return (
            <>
              <p>
                <Sentence of={config_file === null ? say.noFile : say.file(config_file)} />
              </p>
              {shown.length === 0 && <p>{say.allDefault(items.length)}</p>}
              <dl class="settings">
                {shown.map((setting) => (
                  <Setting key={setting.name} of={setting} />
                ))}
                {secrets.map(({ name, from }) => (
                  <div key={name}>
                    <dt>
                      <code>{name}</code>
                    </dt>
                    <dd>
                      {from === null ? say.notSet : say.secret}
                      {from !== null && <small>{say.from[from === name ? "variable" : "file"](from)}</small>}
                    </dd>
                  </div>
                ))}
              </dl>
              <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
                {isWhole ? say.changed : say.all(items.length)}
              </button>
            </>
          );
        }}
      </Outcome>
    </section>
  );
}

type Value = Settings["items"][number]["value"];
const textOf = (value: Value): string =>
  typeof value === "object" ? value.join(", ") || say.empty : value === "" ? say.empty : String(value);

function Setting({ of: setting }: { of: Settings["items"][number] }) {
  const { flag, description, value, source, from } = setting;
  return (
    <div>
      <dt>
        <code>{flag}</code> <small>{description}</small>
      </dt>
      <dd>
        <strong>{textOf(value)}</strong>
        <small>
          {source === "default" || from === null
            ? say.isDefault
            : `${say.from[source](from)} · ${say.usually(textOf(setting.default))}`}
        </small>
      </dd>
    </div>
  );
}

const LINES = 200;
const FOLLOW_EVERY_MS = 2_000;

export function LogCard() {
  const [level, setLevel] = useState<NonNullable<LogsPlace["level"]>>("debug");
  const [isFollowed, setFollowed] = useState(false);
  const log = useLoad((signal) => api.logs({ level, l: LINES }, { signal }), [level]);
  useEvery(FOLLOW_EVERY_MS, isFollowed, log.reload);
  return (
    <section class="card whole">
      <h2>{texts.log.title}</h2>
      <Outcome of={log}>
        {({ items, file, has_more }: Logs) =>
          file === null ? (
            <p>
              <Sentence of={texts.log.noFile} />
            </p>
          ) : (
            <>
              <div class="fields">
                <Choice label={texts.log.level} of={texts.log.levels} value={level} onChoose={setLevel} />
                <label class="check">
                  <input
                    type="checkbox"
                    checked={isFollowed}
                    onChange={(event) => setFollowed(event.currentTarget.checked)}
                  />
                  {texts.log.follow}
                </label>
                <button type="button" onClick={log.reload}>
                  {texts.log.again}
                </button>
              </div>
              {items.length === 0 ? (
                <Empty>{texts.log.none}</Empty>
              ) : (
                <ol class="log" tabIndex={0} aria-label={texts.log.title}>
                  {items.toReversed().map((line, index) => (
                    <li key={items.length - index} class={line.level ?? ""}>
                      <time dateTime={line.at ?? ""}>{line.at === null ? "" : secondOf(line.at)}</time>
                      <span>{line.level}</span>
                      <span>
                        {line.message} <small>{detailsOf(line.details)}</small>
                      </span>
                    </li>
                  ))}
                </ol>
              )}
              <small>{texts.log.where(file, has_more)}</small>
            </>
          )
        }
      </Outcome>
    </section>
  );
}

/** `port=8080 err.message=…`; the places of an error in the code are left out. */
function detailsOf(details: Logs["items"][number]["details"]): string {
  return Object.entries(details)
    .map(([name, value]) => {
      if (typeof value !== "object" || value === null) return `${name}=${String(value)}`;
      return `${name}=${"message" in value ? String(value.message) : JSON.stringify(value)}`;
    })
    .join(" ");
}
