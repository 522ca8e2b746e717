/** How to connect an agent, and the notes of each program, counted by day. */
import { useState } from "preact/hooks";
import { type PageProps, useSession } from "../context.ts";
import type { MemoryCounts } from "../../client/client.ts";
import { api } from "../api.ts";
import { countOf, dateOf, fieldDateOf, minuteOf, short, textOf, timeZone } from "../format.ts";
import { hashOf, useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Choice, CommandLine, Empty, Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";
import { TakeBack } from "./take-back.tsx";
import { Activity } from "./activity.tsx";

const CLIENTS = 200;
/** Shown of what a program added last. */
const LAST = 3;
const LAST_CHARS = 120;
/** Names under which people write, not agents; empty: programs that gave none. */
const BY_HAND: Readonly<Record<string, string>> = texts.agents.byHand;
/** Those that `memoryd mcp install` knows, by their names there. */
const AGENTS = {
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  cursor: "Cursor",
  vscode: "VS Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  windsurf: "Windsurf",
  opencode: "OpenCode",
  zed: "Zed",
  cline: "Cline",
  goose: "Goose",
  copilot: "Copilot CLI",
};

export function Agents({ at }: PageProps) {
  const clients = useLoad((signal) => api.memories.counts({ by: "client", l: CLIENTS }, { signal }), []);
  useChanges(["memory", "user"], clients.reload);
  const { scope, name } = useSession();
  const limits = useLoad(async (signal) => (scope === "admin" ? await readLimits(signal) : null), []);
  const [taken, setTaken] = useState<string>();
  const done = () => {
    setTaken(undefined);
    clients.reload();
  };
  /** Only an admin may take back what other clients did. */
  const mayTake = (client: string) => scope === "admin" || (scope === "write" && client === name);
  const row = (client: MemoryCounts["items"][number]) => {
    const { key: name } = client;
    const keys = limits.value?.keys.filter(({ name: named }) => named === name) ?? [];
    const seen = [client.last_at, ...keys.flatMap(({ last_used_at }) => last_used_at ?? [])].sort().at(-1);
    const isOpen = name !== null && at["client"] === name;
    return (
      <li key={name}>
        <strong>{BY_HAND[name ?? ""] ?? name}</strong> {texts.notes.total(client.count)}{" "}
        <small>
          {texts.agents.seen(minuteOf(seen ?? client.last_at))} ·{" "}
          {texts.agents.since(dateOf(client.first_at))}
        </small>
        {keys.map((key) => (
          <small key={key.id}>
            {texts.agents.key(
              texts.housekeeping.scopes[key.scope] ?? key.scope,
              key.user_id,
              key.state === "active",
            )}
          </small>
        ))}
        {name !== null && (
          <span class="deeds">
            <a href={hashOf("notes", { client: name })}>{texts.agents.browse}</a>
            <a href={hashOf("agents", { client: isOpen ? undefined : name })}>{texts.agents.days}</a>
            {mayTake(name) && (
              <button type="button" class="danger" onClick={() => setTaken(name)}>
                {texts.takeBack.open}
              </button>
            )}
          </span>
        )}
        {isOpen && <Days client={name} />}
      </li>
    );
  };
  return (
    <>
      {taken !== undefined && <TakeBack client={taken} onDone={done} />}
      <Outcome of={limits}>
        {(known) => known !== null && <p class="quiet">{texts.agents.limits(known.adds, known.requests)}</p>}
      </Outcome>
      <Connect />
      <Outcome of={clients}>
        {({ items }) => {
          const [programs, byHand] = [true, false].map((isProgram) =>
            items.filter(({ key }) => (key !== null && BY_HAND[key] === undefined) === isProgram),
          );
          return (
            <>
              <h2>{texts.agents.programs}</h2>
              {programs?.length === 0 ? (
                <Empty>{texts.agents.none}</Empty>
              ) : (
                <ul class="rows">{programs?.map(row)}</ul>
              )}
              {byHand?.length !== 0 && <h2>{texts.agents.others}</h2>}
              <ul class="rows">{byHand?.map(row)}</ul>
            </>
          );
        }}
      </Outcome>
    </>
  );
}

/** How to connect an agent: commands to be copied. */
function Connect() {
  const { key_needed } = useSession();
  const [agent, setAgent] = useState<keyof typeof AGENTS>("claude-code");
  const { host, origin } = location;
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(host);
  const header = key_needed ? ' --header "Authorization: Bearer YOUR_KEY"' : "";
  return (
    <section class="card">
      <h2>{texts.agents.connect}</h2>
      {isHere && (
        <div class="fields">
          <Choice label={texts.agents.which} of={AGENTS} value={agent} onChoose={setAgent} />
          <CommandLine command={`memoryd mcp install ${agent}`} />
        </div>
      )}
      <p>{texts.agents.anyOther}</p>
      <p class="deeds">
        <CommandLine command={`${origin}/mcp`} />
        <CommandLine
          command={`claude mcp add --scope user --transport http memoryd ${origin}/mcp${header}`}
        />
      </p>
      <p>
        {key_needed && texts.agents.needsKey} <a href="#/docs?page=agents">{texts.agents.more}</a>
      </p>
    </section>
  );
}

/** The limits and keys of clients, for an admin. */
async function readLimits(signal: AbortSignal) {
  const [settings, { keys }] = await Promise.all([api.settings({ signal }), api.keys.list({ signal })]);
  return { adds: settings.agent_adds_per_hour, requests: settings.requests_per_minute, keys };
}

/** What a program added: its last notes, and how many each day. */
function Days({ client }: { client: string }) {
  const added = useLoad(
    (signal) =>
      Promise.all([
        api.memories.counts({ by: "day", created_by: client, time_zone: timeZone }, { signal }),
        api.memories.page({ created_by: client, l: LAST }, { signal }),
      ]),
    [client],
  );
  return (
    <div class="wide">
      <Outcome of={added}>
        {([{ items: days }, { items: last }]) => (
          <>
            <ul class="links">
              {last.map((memory) => (
                <li key={memory.id}>
                  <a href={hashOf("notes", { client, id: memory.id })}>{short(textOf(memory), LAST_CHARS)}</a>
                </li>
              ))}
            </ul>
            <Activity
              label={texts.agents.days}
              days={days}
              hashOfDay={(day) => hashOf("notes", { client, day })}
            />
            <table>
              <tbody>
                {days.toReversed().map(({ key, count, last_at }) => (
                  <tr key={key}>
                    <td>
                      <a href={hashOf("notes", { client, day: fieldDateOf(last_at) })}>{dateOf(last_at)}</a>
                    </td>
                    <td>{countOf(count)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </Outcome>
    </div>
  );
}
