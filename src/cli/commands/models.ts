import type { Command } from "commander";
import { chooseModel, chosenModel, modelsAtHand } from "../../daemon/chosen-model.ts";
import { findDaemon } from "../connect.ts";
import {
  CliFailure,
  inBytes,
  plural,
  print,
  printJson,
  printTable,
  showProgress,
  usageFailure,
} from "../output/output.ts";
import { addCommand, type Flags, settingsOf, withDataDir } from "../output/options.ts";
import { confirmed } from "./memories.ts";

export function addModelCommands(memoryd: Command): void {
  const models = memoryd
    .command("models")
    .description("list embedding models, add one, or change that of the store");
  withDataDir(models.command("list", { isDefault: true }))
    .description("list the models that ship or were added, which one is in use, and how far a change is")
    .option("--json", "print JSON")
    .action(list);
  addCommand(models, "use", "embed all memories again with this model, while they are used")
    .argument("<name>", "the model, as `memoryd models` lists it")
    .action(use);
  addCommand(models, "add", "copy a sentence encoder from a folder into the data directory")
    .argument("<folder>", "a folder with an ONNX file and its tokenizer.json")
    .option("--as <name>", "keep it under this name (default: that of the folder)")
    .option("-y, --yes", "do not ask")
    .option("--json", "print JSON")
    .action(add);
}

async function list(flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  const chosen = chosenModel(dataDir)?.name;
  const { items, migration } = (await daemon?.api.models.list()) ?? {
    items: modelsAtHand(dataDir).map((model) => ({ ...model, active: false })),
    migration: null,
  };
  if (flags.json === true) return printJson({ items, migration, chosen: chosen ?? null });
  const stateOf = (name: string, active: boolean) =>
    active ? "; in use" : daemon === undefined && name === chosen ? "; from the next start on" : "";
  printTable(items.map(({ name, languages, active }) => [name, `${languages}${stateOf(name, active)}`]));
  if (migration !== null) {
    const { done, total, from, status } = migration;
    const left = status === "waiting" ? "; it failed, and is tried again shortly (`memoryd logs`)" : "";
    print(`${done} of ${plural(total, "memory")} embedded again; the others still by ${from}${left}.`);
  }
  const [usual] = items;
  const own = items.find(({ active }) => active);
  if (migration === null && usual !== undefined && own !== undefined && own !== usual)
    print(
      `New stores are made with ${usual.name} (${usual.languages}); \`memoryd models use ${usual.name}\` gives it to this one.`,
    );
  if (daemon === undefined)
    print(`memoryd is not running on ${dataDir}; \`memoryd start\` says which one the store has.`);
}

async function use(name: string, flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const names = modelsAtHand(dataDir).map((model) => model.name);
  if (!names.includes(name))
    throw usageFailure(
      `There is no model ${JSON.stringify(name)}; there are ${names.join(", ")}. \`memoryd models add FOLDER\` adds others.`,
    );
  const daemon = await findDaemon(dataDir);
  if (daemon !== undefined) await daemon.api.models.use(name);
  else if (!(await chooseModel(dataDir, name)))
    throw new CliFailure(
      `There is no store in ${dataDir}; \`memoryd start --model ${name}\` makes one with this model.`,
    );
  print(
    `${daemon === undefined ? "From the next start on" : "From now on"} all memories are embedded again with ${name}, in the ` +
      "background: one to three minutes for 5 000 notes. Until a memory's turn has come, it is found by its words alone; `memoryd models` says how many are left.",
  );
}

async function add(folder: string, flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  // Loads what reads models, which no other command needs.
  const { addModel } = await import("../../daemon/add-model.ts");
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort(new CliFailure("Stopped; nothing was kept.")));
  let name = "";
  const added = await addModel(folder, {
    dataDir,
    ...(flags.as !== undefined && { as: flags.as }),
    signal: stopping.signal,
    onProgress: showProgress,
    async confirm(offer) {
      ({ name } = offer);
      const what = `${offer.name}: ${inBytes(offer.bytes)}, ${offer.licence}, from ${offer.from}`;
      if (flags.json !== true) print(what);
      return (
        flags.yes === true || (await confirmed("Copy it into the data directory?", "Nothing was copied"))
      );
    },
  });
  showProgress("");
  if (added === undefined) return;
  if (flags.json === true) return printJson({ name, ...added });
  const { related, unrelated } = added.figures;
  print(
    `added ${name}: vectors of ${added.hiddenSize} numbers; texts that say the same have a cosine of ${related}, others of ${unrelated}. ` +
      `\`memoryd models use ${name}\` makes it the store's; for a new store, \`memoryd start --model ${name}\`.`,
  );
}
