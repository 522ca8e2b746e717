/** The conditions on a page's notes; they stand in its address. */
import { api } from "./api.ts";
import { useSession } from "./context.ts";
import { startOfDay } from "./format.ts";
import { go, hashOf, type Route, useLoad } from "./hooks.ts";
import { Choice, Field } from "./parts.tsx";
import { texts } from "./texts.ts";

const NAMES = ["user", "project", "sector", "tag", "from", "to", "client", "day"] as const;

/** Suggested in the fields. */
const SUGGESTED = 200;
const SUGGESTED_BY = ["user", "tag", "project", "client"] as const;

export const isFiltered = (at: Route["at"]): boolean => NAMES.some((name) => at[name] !== undefined);

/** The conditions as `GET /memory/all` takes them. */
export function conditionsOf(at: Route["at"]) {
  const { user, project, sector, tag, client, day } = at;
  const [added, addedBefore] = [startOfDay(day), startOfDay(day, 1)];
  const [from, to] = [startOfDay(at["from"]), startOfDay(at["to"], 1)];
  return {
    ...(user !== undefined && { user_id: user }),
    ...(project !== undefined && { project }),
    ...(sector !== undefined && { sector: sector as "semantic" }),
    ...(tag !== undefined && { tag }),
    ...(client !== undefined && { created_by: client }),
    ...(added !== undefined && { created_from: added }),
    ...(addedBefore !== undefined && { created_to: addedBefore }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

export function Filters({ page, at }: { page: string; at: Route["at"] }) {
  const { user_id: ownUser } = useSession();
  const suggestions = useLoad(
    (signal) =>
      Promise.all(
        SUGGESTED_BY.map(async (by) => ({
          id: `${by}s`,
          keys: (await api.memories.counts({ by, l: SUGGESTED }, { signal })).items.map(({ key }) => key),
        })),
      ),
    [],
  );
  const sectors = useLoad((signal) => api.sectors({}, { signal }), []);
  const set = (name: string, value: string) => go(hashOf(page, { ...at, [name]: value }), { replace: true });
  const input = (name: (typeof NAMES)[number], type: "text" | "date", list?: string) => (
    <Field label={texts.filters[name]}>
      <input
        type={type}
        value={at[name] ?? ""}
        list={list}
        onChange={(event) => set(name, event.currentTarget.value.trim())}
      />
    </Field>
  );
  return (
    <details class="filters" open={isFiltered(at)}>
      <summary>{texts.filters.title}</summary>
      <div class="fields">
        {ownUser === null && input("user", "text", "users")}
        {input("project", "text", "projects")}
        <Choice
          label={texts.filters.sector}
          of={{
            "": texts.filters.anySector,
            ...Object.fromEntries(sectors.value?.sectors.map(({ name }) => [name, name]) ?? []),
          }}
          value={at["sector"] ?? ""}
          onChoose={(name) => set("sector", name)}
        />
        {input("tag", "text", "tags")}
        {input("client", "text", "clients")}
        {input("day", "date")}
        {input("from", "date")}
        {input("to", "date")}
        {isFiltered(at) && (
          <button
            type="button"
            onClick={() =>
              go(hashOf(page, { ...at, ...Object.fromEntries(NAMES.map((name) => [name, ""])) }))
            }
          >
            {texts.filters.clear}
          </button>
        )}
      </div>
      {suggestions.value?.map(({ id, keys }) => (
        <datalist key={id} id={id}>
          {keys.map((key) => key !== null && <option key={key} value={key} />)}
        </datalist>
      ))}
    </details>
  );
}
