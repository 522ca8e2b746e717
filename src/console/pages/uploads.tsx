/** Files and folders that are dropped or chosen, and addresses; with the jobs under way. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { IngestFields, IngestResult, Job } from "../../client/client.ts";
import { api, reasonOf } from "../api.ts";
import { useTell } from "../context.ts";
import { countOf, minuteOf } from "../format.ts";
import { useEvery, useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Deed, Input, Problem } from "../parts.tsx";
import { texts } from "../texts.ts";

const say = texts.documents;
const JOBS = 200;
const SHOWN_JOBS = 10;
const JOBS_EVERY_MS = 1_000;

/** By the ids of the jobs that this tab began; the daemon does not name them. */
const names = new Map<string, string>();

/** Failed jobs that this browser does not show any more; the daemon keeps them for a day. */
const DISMISSED = "memoryd.dismissed-jobs";

/** A file, and the folder it stood in where a folder was given. */
interface Found {
  readonly file: File;
  readonly folder?: string;
}

/** Sends files; what is under way and what failed is in `report`. @param onTaken after a document was made. */
export function useUploads(onTaken: () => void) {
  const tell = useTell();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [sending, setSending] = useState<{ readonly done: number; readonly total: number }>();
  const stop = useRef(false);
  const jobs = useLoad(async (signal) => (await api.jobs.page({ l: JOBS }, { signal })).items, []);
  const running = jobs.value?.filter(({ status }) => status === "queued" || status === "running") ?? [];
  useChanges(["job"], jobs.reload);
  const wasRunning = useRef(0);
  useEvery(JOBS_EVERY_MS, running.length > 0, jobs.reload);
  useEffect(() => {
    if (running.length < wasRunning.current) onTaken();
    wasRunning.current = running.length;
  }, [running.length]);

  const begin = async (name: string, submit: () => Promise<Job | IngestResult>): Promise<void> => {
    const begun = await submit();
    if ("status" in begun) names.set(begun.id, name);
    else tell({ text: say.taken(name) });
  };
  const take = async (found: readonly Found[]) => {
    setProblems([]);
    stop.current = false;
    for (const [done, { file, folder }] of found.entries()) {
      if (stop.current) break;
      setSending({ done, total: found.length });
      const modified_at = new Date(file.lastModified).toISOString();
      const fields: IngestFields = { metadata: { modified_at, ...(folder !== undefined && { folder }) } };
      try {
        await begin(file.name, () => api.documents.submit({ file, filename: file.name }, fields));
      } catch (error) {
        setProblems((all) => [...all, say.failed(file.name, reasonOf(error))]);
      }
      jobs.reload();
    }
    setSending(undefined);
    onTaken();
  };
  const fetchAddress = async (url: string) => {
    setProblems([]);
    await begin(url, () => api.documents.submit({ url }));
    jobs.reload();
    onTaken();
  };
  const report = (
    <>
      {sending !== undefined && (
        <p class="deeds" role="status">
          {say.sending(sending.done + 1, sending.total)}
          <progress value={sending.done} max={sending.total} aria-label={say.sendingLabel} />
          {sending.total > 1 && (
            <button type="button" onClick={() => (stop.current = true)}>
              {say.stopSending}
            </button>
          )}
        </p>
      )}
      {problems.map((problem, index) => (
        <Problem key={index} of={problem} />
      ))}
      <Jobs of={jobs.value ?? []} running={running} onChanged={jobs.reload} />
    </>
  );
  return { take, fetchAddress, report };
}

/** Documents from files, folders and addresses. */
export function Uploads({ onTaken }: { onTaken: () => void }) {
  const [address, setAddress] = useState("");
  const { take, fetchAddress, report } = useUploads(onTaken);
  const choose = (event: { readonly currentTarget: HTMLInputElement }) => {
    const input = event.currentTarget;
    const found = Array.from(input.files ?? [], (file): Found => {
      const [folder] = /^.*(?=\/)/.exec(file.webkitRelativePath) ?? [];
      return { file, ...(folder !== undefined && { folder }) };
    });
    void take(found.filter(({ file, folder = "" }) => !isHidden(`${folder}/${file.name}`)));
    // So that the same file can be chosen again.
    input.value = "";
  };
  return (
    <section>
      <DropArea take={take} kind="drop">
        <span>{say.drop}</span>
        <span class="deeds">
          <label class="button">
            {say.choose}
            <input class="hidden" type="file" multiple onChange={choose} />
          </label>
          <label class="button">
            {say.chooseFolder}
            <input class="hidden" type="file" {...{ webkitdirectory: true }} onChange={choose} />
          </label>
        </span>
      </DropArea>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <Input type="url" label={say.address} value={address} placeholder="https://" onInput={setAddress} />
        <Deed
          run={async () => (await fetchAddress(address.trim()), setAddress(""))}
          isDisabled={address.trim() === ""}
        >
          {say.fetch}
        </Deed>
      </form>
      {report}
    </section>
  );
}

interface DropAreaProps {
  readonly take: (found: readonly Found[]) => Promise<void>;
  readonly kind?: string;
  readonly children: ComponentChildren;
}

/** Takes files and folders that are dropped on it. */
export function DropArea({ take, kind = "", children }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
  return (
    <div
      class={isOver ? `${kind} over` : kind}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!hasFiles(event) || event.dataTransfer === null) return;
        event.preventDefault();
        void filesOf(event.dataTransfer).then(take);
      }}
    >
      {children}
    </div>
  );
}

const isHidden = (path: string): boolean => /(^|\/)(\.[^/]|node_modules\/)/.test(path);

/** The files that were dropped, those in folders too; hidden ones and node_modules are left out. */
async function filesOf({ items }: DataTransfer): Promise<Found[]> {
  // All at once: the list is empty after the event.
  const given = Array.from(items, (item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found: Found[] = [];
  const walk = async (entry: FileSystemEntry, folder: string | undefined): Promise<void> => {
    if (isHidden(`${entry.name}${entry.isDirectory ? "/" : ""}`)) return;
    if (entry.isFile) {
      const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
      found.push({ file, ...(folder !== undefined && { folder }) });
      return;
    }
    const inside = folder === undefined ? entry.name : `${folder}/${entry.name}`;
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    // Comes in parts; an empty one is the last.
    for (;;) {
      const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (part.length === 0) return;
      for (const each of part) await walk(each, inside);
    }
  };
  for (const each of given)
    if (each instanceof File) found.push({ file: each });
    else if (each !== null) await walk(each, undefined);
  return found;
}

interface JobsProps {
  readonly of: readonly Job[];
  readonly running: readonly Job[];
  readonly onChanged: () => void;
}

/** The jobs that run, and those that failed lately. */
function Jobs({ of: jobs, running, onChanged }: JobsProps) {
  const [dismissed, setDismissed] = useState(
    () => new Set(JSON.parse(localStorage.getItem(DISMISSED) ?? "[]") as string[]),
  );
  const failed = jobs.filter(({ id, status }) => status === "failed" && !dismissed.has(id));
  const dismiss = (gone: readonly Job[]) => {
    const known = jobs.filter((job) => dismissed.has(job.id) || gone.includes(job)).map(({ id }) => id);
    localStorage.setItem(DISMISSED, JSON.stringify(known));
    setDismissed(new Set(known));
  };
  const dismissal = (gone: readonly Job[]) => (
    <button type="button" onClick={() => dismiss(gone)}>
      {say.dismiss}
    </button>
  );
  // A folder holds much that is no document.
  const [strange, broken] = [true, false].map((isStrange) =>
    failed.filter(({ problem }) => (problem?.code === "UNSUPPORTED_MEDIA_TYPE") === isStrange),
  ) as [Job[], Job[]];
  if (running.length + failed.length === 0) return null;
  const cancelAll = async () => {
    for (const { id } of running) await api.jobs.cancel(id);
    onChanged();
  };
  return (
    <>
      {running.length > 0 && <h2>{say.jobs}</h2>}
      {/* The one that has waited longest is the next. */}
      <ul class="jobs">
        {running
          .toReversed()
          .slice(0, SHOWN_JOBS)
          .map((job) => (
            <li key={job.id}>
              <strong>{nameOf(job)}</strong>
              <progress
                aria-label={stageOf(job)}
                {...(job.progress.total > 0 && { value: job.progress.done, max: job.progress.total })}
              />
              <span>
                {stageOf(job)}
                {job.progress.total > 0 && ` ${Math.floor((100 * job.progress.done) / job.progress.total)} %`}
              </span>
              <Deed run={async () => (await api.jobs.cancel(job.id), onChanged())}>{texts.cancel}</Deed>
            </li>
          ))}
      </ul>
      {running.length > 1 && (
        <p class="deeds">
          {running.length > SHOWN_JOBS && say.others(running.length - SHOWN_JOBS)}
          <Deed run={cancelAll}>{say.cancelAll(running.length)}</Deed>
        </p>
      )}
      {failed.length > 0 && (
        <details class="failed" open={failed.length <= SHOWN_JOBS}>
          <summary>{say.failedLately(countOf(failed.length))}</summary>
          <ul class="jobs">
            {strange.length > 0 && (
              <li>
                {say.unread(strange.map(nameOf))} {dismissal(strange)}
              </li>
            )}
            {broken.map((job) => (
              <li key={job.id}>
                <strong>{nameOf(job)}</strong>
                <span class="problem">{job.problem?.detail}</span>
                {dismissal([job])}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const nameOf = ({ id, created_at }: Job): string => names.get(id) ?? say.begun(minuteOf(created_at));
const stageOf = ({ progress: { stage } }: Job): string => say.stages[stage] ?? stage;
