import { Argument, type Command } from "commander";
import { MODEL_NAMES } from "../../config/settings-schema.ts";
import { chooseModel, chosenModel, type ModelName } from "../../daemon/chosen-model.ts";
import { findDaemon } from "../connect.ts";
import { CliFailure } from "../output/cli-failure.ts";
import { addCommand, type Flags, settingsOf, withDataDir } from "../output/options.ts";
import { plural, print, printJson, printTable } from "../output/output.ts";

const LANGUAGES: Readonly<Record<ModelName, string>> = {
  "multilingual-e5-small": "about 100 languages",
  "all-MiniLM-L6-v2": "English, and light",
};

export function addModelCommands(memoryd: Command): void {
  const models = memoryd.command("models").description("list embedding models, or change that of the store");
  withDataDir(models.command("list", { isDefault: true }))
    .description("list the models that ship, which one is in use, and how far a change is")
    .option("--json", "print JSON")
    .action(list);
  addCommand(models, "use", "embed all memories again with this model, while they are used")
    .addArgument(new Argument("<name>", "the model").choices(MODEL_NAMES))
    .action(use);
}

async function list(flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  const chosen = chosenModel(dataDir);
  const { items, migration } = (await daemon?.api.models.list()) ?? {
    items: MODEL_NAMES.map((name) => ({ name, languages: LANGUAGES[name], active: false })),
    migration: null,
  };
  if (flags.json === true) return printJson({ items, migration, chosen: chosen ?? null });
  const stateOf = (name: string, active: boolean) =>
    active ? "; in use" : daemon === undefined && name === chosen ? "; from the next start on" : "";
  printTable(items.map(({ name, languages, active }) => [name, `${languages}${stateOf(name, active)}`]));
  if (migration !== null) {
    const { done, total, from, status } = migration;
    const left = status === "waiting" ? "; it failed, and is tried again shortly (`memoryd logs`)" : "";
    print(
      `${done} of ${plural(total, "memory", "memories")} embedded again; the others still by ${from}${left}.`,
    );
  }
  if (daemon === undefined)
    print(`memoryd is not running on ${dataDir}; \`memoryd start\` says which one the store has.`);
}

async function use(name: ModelName, flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  if (daemon !== undefined) await daemon.api.models.use(name);
  else if (!(await chooseModel(dataDir, name)))
    throw new CliFailure(
      `There is no store in ${dataDir}; \`memoryd start --model ${name}\` makes one with this model.`,
    );
  print(
    `${daemon === undefined ? "From the next start on" : "From now on"} all memories are embedded again with ${name}, in the ` +
      "background: one to three minutes for 5 000 notes. Until a memory's turn has come, it is found by the model before; `memoryd models` says how many are left.",
  );
}
