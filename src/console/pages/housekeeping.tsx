import { useState } from "preact/hooks";
import type { Backup, Key, MadeKey, NewKey, Stats } from "../../client/client.ts";
import { api } from "../api.ts";
import { useSession } from "../context.ts";
import { bytesOf, countOf, dateOf, minuteOf } from "../format.ts";
import { useEvery, useLoad } from "../hooks.ts";
import { AskedDeed, Choice, CommandLine, Deed, Empty, Input, Outcome, Pairs, Sentence } from "../parts.tsx";
import { texts } from "../texts.ts";
import { LogCard, SettingsCard } from "./settings-and-log.tsx";
import { Trash } from "./trash.tsx";

const WATCHED_EVERY_MS = 1_000;

export function Housekeeping() {
  const { scope, user_id } = useSession();
  if (scope !== "admin" || user_id !== null)
    return (
      <>
        <Trash />
        <Empty>{texts.housekeeping.notAllowed}</Empty>
      </>
    );
  return (
    <div class="cards">
      <Health />
      <Trash />
      <Models />
      <Backups />
      <Purge />
      <Keys />
      <SettingsCard />
      <LogCard />
    </div>
  );
}

function Health() {
  const stats = useLoad((signal) => api.stats({ signal }), []);
  useEvery(10 * WATCHED_EVERY_MS, true, stats.reload);
  return (
    <section class="card tall">
      <h2>{texts.housekeeping.health}</h2>
      <Outcome of={stats}>{(now: Stats) => <HealthOf stats={now} />}</Outcome>
    </section>
  );
}

function HealthOf({ stats }: { stats: Stats }) {
  const { not_ready, repairs = [], store, sandbox } = stats;
  const rows: readonly (readonly [string, string])[] = [
    [texts.housekeeping.memories, countOf(stats.memory_count)],
    [texts.housekeeping.documents, countOf(stats.documents.count)],
    [texts.housekeeping.disk, bytesOf(store.disk_bytes)],
    [texts.housekeeping.folder, store.data_dir],
    [texts.housekeeping.started, minuteOf(stats.started_at)],
    [texts.housekeeping.version, stats.version],
    [
      texts.housekeeping.walls,
      sandbox.walls.length === 0 ? texts.housekeeping.noWalls : sandbox.walls.join(", "),
    ],
  ];
  const problems = [...not_ready, ...(store.adds_refused === undefined ? [] : [store.adds_refused])];
  return (
    <>
      {problems.length === 0 ? (
        <p class="well">{texts.housekeeping.ready}</p>
      ) : (
        <Faults title={texts.housekeeping.notReady} of={problems} />
      )}
      {repairs.length > 0 && <Faults title={texts.housekeeping.repairs} of={repairs} />}
      <Pairs of={rows} />
    </>
  );
}

function Faults({ title, of }: { title: string; of: readonly string[] }) {
  return (
    <div class="problem" role="alert">
      <p>{title}</p>
      <ul>
        {of.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </div>
  );
}

function Models() {
  const models = useLoad((signal) => api.models.list({ signal }), []);
  const migration = models.value?.migration ?? null;
  useEvery(WATCHED_EVERY_MS, migration !== null, models.reload);
  return (
    <section class="card">
      <h2>{texts.housekeeping.model}</h2>
      <Outcome of={models}>
        {({ items }) => (
          <ul class="rows">
            {items.map(({ name, active, languages, dimensions, bytes }) => (
              <li key={name}>
                <strong>{name}</strong>{" "}
                <small>
                  {languages} · {dimensions} · {bytesOf(bytes)}
                </small>{" "}
                {active ? (
                  <span class="well">{texts.housekeeping.active}</span>
                ) : (
                  <AskedDeed
                    kind="main"
                    question={texts.housekeeping.useSure(name)}
                    run={async () => (await api.models.use(name), models.reload())}
                    isDisabled={migration !== null}
                  >
                    {texts.housekeeping.use}
                  </AskedDeed>
                )}
              </li>
            ))}
          </ul>
        )}
      </Outcome>
      {migration !== null && (
        <p role="status">
          {texts.housekeeping.changing(migration.from, migration.to)}{" "}
          <progress
            max={migration.total}
            value={migration.done}
            aria-label={texts.housekeeping.changing(migration.from, migration.to)}
          />{" "}
          {countOf(migration.done)} / {countOf(migration.total)}
        </p>
      )}
    </section>
  );
}

function Backups() {
  const backups = useLoad((signal) => api.backups.list({ signal }), []);
  const running = backups.value?.running ?? null;
  useEvery(WATCHED_EVERY_MS, running !== null, backups.reload);
  return (
    <section class="card">
      <h2>{texts.housekeeping.backups}</h2>
      <Outcome of={backups}>
        {({ items, damaged, last, folder }) => (
          <>
            {items.length === 0 && running === null && <Empty>{texts.housekeeping.noBackups}</Empty>}
            <ul class="rows">
              {items.map((backup: Backup) => (
                <li key={backup.name}>
                  <strong>{backup.name}</strong>{" "}
                  <small>
                    {minuteOf(backup.created_at)} · {countOf(backup.memories)} {texts.housekeeping.memories} ·{" "}
                    {bytesOf(backup.bytes)} · {texts.housekeeping.verified(minuteOf(backup.verified_at))}
                  </small>
                  <span class="deeds">
                    <Deed run={async () => (await api.backups.verify(backup.name), backups.reload())}>
                      {texts.housekeeping.verify}
                    </Deed>
                    <AskedDeed
                      question={texts.housekeeping.backupSure(backup.name)}
                      run={async () => (await api.backups.remove(backup.name), backups.reload())}
                    >
                      {texts.remove}
                    </AskedDeed>
                  </span>
                </li>
              ))}
            </ul>
            {[
              ...damaged,
              ...(last?.problem === null || last?.problem === undefined ? [] : [last.problem]),
            ].map((problem) => (
              <p key={problem} class="problem">
                {problem}
              </p>
            ))}
            {items[0]?.shares_disk === true && (
              <p class="problem">
                <Sentence of={texts.housekeeping.sameDisk} />
              </p>
            )}
            {items[0] !== undefined && (
              <p>
                {texts.housekeeping.restore}{" "}
                <CommandLine command={`memoryd restore "${folder}/${items[0].name}" --to NEW_FOLDER`} />
              </p>
            )}
          </>
        )}
      </Outcome>
      {running !== null && (
        <p role="status">
          {running.name}{" "}
          <progress max={Math.max(1, running.total)} value={running.done} aria-label={running.name} />
        </p>
      )}
      <Deed
        kind="main"
        isDisabled={running !== null}
        run={async () => (await api.backups.create(), backups.reload())}
      >
        {texts.housekeeping.makeBackup}
      </Deed>
    </section>
  );
}

function Purge() {
  const purge = useLoad((signal) => api.compaction.status({ signal }), []);
  useEvery(WATCHED_EVERY_MS, purge.value?.running !== undefined, purge.reload);
  return (
    <section class="card">
      <h2>{texts.housekeeping.purge}</h2>
      <Outcome of={purge}>
        {({ waiting, running, last }) => (
          <>
            {running !== undefined ? (
              <p role="status">{texts.housekeeping.purgeRunning(running.done, running.total)}</p>
            ) : (
              <p>
                {waiting === undefined
                  ? texts.housekeeping.purgeNothing
                  : texts.housekeeping.purgeWaiting(waiting.items, dateOf(waiting.since))}
              </p>
            )}
            {last?.problem !== undefined && <p class="problem">{last.problem}</p>}
            {waiting !== undefined && running === undefined && (
              <Deed run={async () => (await api.compaction.start(), purge.reload())}>
                {texts.housekeeping.purgeNow}
              </Deed>
            )}
          </>
        )}
      </Outcome>
    </section>
  );
}

function Keys() {
  const keys = useLoad((signal) => api.keys.list({ signal }), []);
  const [made, setMade] = useState<MadeKey>();
  return (
    <section class="card">
      <h2>{texts.housekeeping.keys}</h2>
      {made !== undefined && (
        <div class="made" role="status">
          <p>{texts.housekeeping.keyOnce}</p>
          <CommandLine command={made.key} />
          {made.first && <p>{texts.housekeeping.firstKey}</p>}
        </div>
      )}
      <Outcome of={keys}>
        {({ keys: all, key_needed }) => (
          <>
            {!key_needed && <p>{texts.housekeeping.noKeys}</p>}
            <ul class="rows">
              {all.map((key) => (
                <li key={key.id}>
                  <strong>{key.name}</strong> <code>{key.prefix}…</code>{" "}
                  <small>
                    {texts.housekeeping.scopes[key.scope]}
                    {key.user_id !== null && ` · ${key.user_id}`} ·{" "}
                    {key.state === "active" ? usedOf(key) : key.state}
                  </small>
                  {key.state === "active" && (
                    <span class="deeds">
                      <AskedDeed
                        question={texts.housekeeping.revokeSure(key.name)}
                        run={async () => (await api.keys.revoke(key.id), keys.reload())}
                      >
                        {texts.housekeeping.revoke}
                      </AskedDeed>
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Outcome>
      <MakeKey onMade={setMade} />
    </section>
  );
}

function usedOf({ last_used_at }: Key): string {
  return last_used_at === null
    ? texts.housekeeping.neverUsed
    : texts.housekeeping.lastUsed(minuteOf(last_used_at));
}

function MakeKey({ onMade }: { onMade: (made: MadeKey) => void }) {
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [scope, setScope] = useState<NonNullable<NewKey["scope"]>>("write");
  const make = async () => {
    onMade(
      await api.keys.create({
        name: name.trim(),
        scope,
        ...(user.trim() !== "" && { user_id: user.trim() }),
      }),
    );
    setName("");
  };
  return (
    <details class="add">
      <summary>{texts.housekeeping.makeKey}</summary>
      <div class="fields">
        <Input label={texts.housekeeping.keyName} value={name} onInput={setName} />
        <Choice
          label={texts.housekeeping.keyScope}
          of={texts.housekeeping.scopes}
          value={scope}
          onChoose={setScope}
        />
        <Input label={texts.housekeeping.keyUser} value={user} onInput={setUser} />
        <Deed kind="main" run={make} isDisabled={name.trim() === ""}>
          {texts.housekeeping.makeKey}
        </Deed>
      </div>
    </details>
  );
}
