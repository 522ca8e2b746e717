/** A form that is open for a new note; files dropped on it become documents. */
import { api } from "../api.ts";
import { type PageProps, useSession } from "../context.ts";
import { useDraft } from "../drafts.ts";
import { startOfDay } from "../format.ts";
import { Deed, Input, WritingForm } from "../parts.tsx";
import { texts } from "../texts.ts";
import { tagsOf } from "./note.tsx";
import { DropArea, useUploads } from "./uploads.tsx";

/** @param at the filters of the page: a new note is of their person and project. */
export function AddNote({ at, onAdded }: { at: PageProps["at"]; onAdded: () => void }) {
  const { user_id: own } = useSession();
  const { user = "", project = "" } = at;
  const { draft, change, forget } = useDraft("new", { content: "", tags: "", user, project, date: "" });
  const uploads = useUploads(onAdded);
  const add = async () => {
    const occurred_at = startOfDay(draft.date);
    await api.memories.add({
      content: draft.content,
      tags: tagsOf(draft.tags),
      ...(draft.user !== "" && { user_id: draft.user }),
      ...(draft.project !== "" && { project: draft.project }),
      ...(occurred_at !== undefined && { occurred_at }),
    });
    forget();
    onAdded();
  };
  const field = (name: "tags" | "user" | "project" | "date") => ({
    value: draft[name],
    onInput: (value: string) => change({ [name]: value }),
  });
  return (
    <DropArea take={uploads.take}>
      <WritingForm kind="add">
        <textarea
          rows={2}
          aria-label={texts.notes.add}
          placeholder={texts.notes.addExample}
          value={draft.content}
          onInput={(event) => change({ content: event.currentTarget.value })}
        />
        <div class="fields">
          <Input label={texts.note.tags} {...field("tags")} />
          {own === null && <Input label={texts.filters.user} list="users" {...field("user")} />}
          <Input label={texts.filters.project} list="projects" {...field("project")} />
          <Input label={texts.notes.date} type="date" {...field("date")} />
          <Deed kind="main" run={add} isDisabled={draft.content.trim() === ""}>
            {texts.save}
          </Deed>
        </div>
      </WritingForm>
      {uploads.report}
    </DropArea>
  );
}
