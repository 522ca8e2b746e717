import { EXTRA_TOOLS, type ExtraTool, readExtraTools } from "../../schemas/extra-tools.ts";
import { CliFailure, EXIT } from "../output/cli-failure.ts";

/** The names that `--tools` takes, as a sentence has them. */
export const EXTRA_TOOL_NAMES = Object.keys(EXTRA_TOOLS).join(", ");

/** The tools that `--tools` names. @throws {CliFailure} for one that there is none of. */
export function extraToolsOf(list: string | undefined): readonly ExtraTool[] {
  const { extra, unknown } = readExtraTools(list ?? "");
  if (unknown === undefined) return extra;
  throw new CliFailure(`There is no tool "${unknown}"; --tools takes ${EXTRA_TOOL_NAMES}.`, {
    exitCode: EXIT.usage,
  });
}
