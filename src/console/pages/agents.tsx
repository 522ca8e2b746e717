/** The notes of each program, counted by day. */
import { useState } from "preact/hooks";
import { type PageProps, useSession } from "../context.ts";
import { api } from "../api.ts";
import { countOf, dateOf, fieldDateOf, timeZone } from "../format.ts";
import { hashOf, useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Empty, Outcome, Sentence } from "../parts.tsx";
import { texts } from "../texts.ts";
import { TakeBack } from "./take-back.tsx";
import { Activity } from "./activity.tsx";

const CLIENTS = 200;

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
  return (
    <>
      {taken !== undefined && <TakeBack client={taken} onDone={done} />}
      <Outcome of={limits}>
        {(known) => known !== null && <p class="quiet">{texts.agents.limits(known.adds, known.requests)}</p>}
      </Outcome>
      <Outcome of={clients}>
        {({ items }) =>
          items.every(({ key }) => key === null) ? (
            <Empty>
              <Sentence of={texts.agents.none} />
            </Empty>
          ) : (
            <ul class="rows">
              {items.map((client) => (
                <li key={client.key}>
                  <strong>{client.key ?? texts.agents.nobody}</strong> {texts.notes.total(client.count)}{" "}
                  <small>
                    {dateOf(client.first_at)} – {dateOf(client.last_at)}
                  </small>
                  {limits.value?.keys
                    .filter(({ name: named }) => named === client.key)
                    .map((key) => (
                      <small key={key.id}>
                        {texts.agents.key(
                          texts.housekeeping.scopes[key.scope] ?? key.scope,
                          key.user_id,
                          key.state === "active",
                        )}
                      </small>
                    ))}
                  {client.key !== null && (
                    <span class="deeds">
                      <a href={hashOf("notes", { client: client.key })}>{texts.agents.browse}</a>
                      <a
                        href={hashOf("agents", {
                          client: at["client"] === client.key ? undefined : client.key,
                        })}
                      >
                        {texts.agents.days}
                      </a>
                      {mayTake(client.key) && (
                        <button
                          type="button"
                          class="danger"
                          onClick={() => setTaken(client.key ?? undefined)}
                        >
                          {texts.takeBack.open}
                        </button>
                      )}
                    </span>
                  )}
                  {client.key !== null && at["client"] === client.key && <Days client={client.key} />}
                </li>
              ))}
            </ul>
          )
        }
      </Outcome>
    </>
  );
}

/** The limits and keys of clients, for an admin. */
async function readLimits(signal: AbortSignal) {
  const [settings, { keys }] = await Promise.all([api.settings({ signal }), api.keys.list({ signal })]);
  return { adds: settings.agent_adds_per_hour, requests: settings.requests_per_minute, keys };
}

function Days({ client }: { client: string }) {
  const days = useLoad(
    (signal) => api.memories.counts({ by: "day", created_by: client, time_zone: timeZone }, { signal }),
    [client],
  );
  return (
    <div class="wide">
      <Outcome of={days}>
        {({ items }) => (
          <Activity
            label={texts.agents.days}
            days={items}
            hashOfDay={(day) => hashOf("notes", { client, day })}
          />
        )}
      </Outcome>
      <table>
        <tbody>
          {days.value?.items.toReversed().map(({ key, count, last_at }) => (
            <tr key={key}>
              <td>
                <a href={hashOf("notes", { client, day: fieldDateOf(last_at) })}>{dateOf(last_at)}</a>
              </td>
              <td>{countOf(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
