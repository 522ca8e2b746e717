import { Argument, type Command } from "commander";
import { MODEL_NAMES } from "../../config/settings-schema.ts";
import { chooseModel, chosenModel, type ModelName } from "../../daemon/chosen-model.ts";
import { findDaemon } from "../connect.ts";
import { CliFailure } from "../output/cli-failure.ts";
import { addCommand, type Flags, settingsOf } from "../output/options.ts";
import { print, printJson, printTable } from "../output/output.ts";

const LANGUAGES: Readonly<Record<ModelName, string>> = {
  "multilingual-e5-small": "about 100 languages",
  "all-MiniLM-L6-v2": "English, and light",
};

export function addModelCommands(memoryd: Command): void {
  const models = memoryd.command("models").description("list embedding models, or change that of the store");
  addCommand(models, "list", "list the models that ship, and which one is in use")
    .option("--json", "print JSON")
    .action(list);
  addCommand(models, "use", "embed all memories again with this model, from the next start on")
    .addArgument(new Argument("<name>", "the model").choices(MODEL_NAMES))
    .action(use);
}

async function list(flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  const used = daemon === undefined ? undefined : (await daemon.api.stats()).embedding.model;
  const chosen = chosenModel(dataDir);
  const items = MODEL_NAMES.map((name) => ({ name, languages: LANGUAGES[name], active: name === used }));
  if (flags.json === true) return printJson({ items, chosen: chosen ?? null });
  const stateOf = (name: ModelName) =>
    name === used ? "; in use" : name === chosen ? "; from the next start on" : "";
  printTable(items.map(({ name, languages }) => [name, `${languages}${stateOf(name)}`]));
  if (daemon === undefined)
    print(`memoryd is not running on ${dataDir}; \`memoryd start\` says which one the store has.`);
}

async function use(name: ModelName, flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  if (!(await chooseModel(dataDir, name)))
    throw new CliFailure(
      `There is no store in ${dataDir}; \`memoryd start --model ${name}\` makes one with this model.`,
    );
  const isRunning = (await findDaemon(dataDir)) !== undefined;
  print(
    `${isRunning ? "After `memoryd restart`" : "From the next start on"} all memories are embedded again with ${name}: ` +
      "about a minute for 5 000 notes. Until a memory's turn has come, it is found by its words alone; `memoryd status` says how many are left.",
  );
}
