import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Packages of which a part, or our own files of a program, are written into one file. */
const bundle = (file, external = []) => ({
  input: `src/${file}.ts`,
  output: { file: `dist/${file}.js` },
  platform: "node",
  logLevel: "silent",
  external,
});

/** Packages that are built into the program, with those that they load: each start would read some 250 files of theirs. */
const BUNDLED = new Set(["@fastify/multipart", "commander", "fastify", "pino"]);

/** Writes the licences of the packages that are in the built files beside them. */
const licences = {
  name: "licences",
  generateBundle(_options, built) {
    const ids = Object.values(built).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = ids.flatMap(
      (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? [],
    );
    const texts = [...new Set(folders)].sort().map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      return `${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim()}\n`;
    });
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
  },
};

/** Whether a file of the program loads it as it is: other packages, and what is built into a file of its own. */
const isExternal = (id, from) =>
  /(?:typebox|lancedb)\.js$/.test(id) ||
  (from !== undefined && /^[a-z@]/.test(id) && !from.includes("node_modules") && !BUNDLED.has(id));

export default [
  bundle("schemas/typebox"),
  // The command line and the daemon, a level below `dist` as the rooms are. Reading each of their files took a fifth of a start.
  {
    ...bundle("program", isExternal),
    input: { main: "dist/cli/main.js" },
    output: { dir: "dist/program", chunkFileNames: "[name].js", cleanDir: true },
    plugins: [licences],
  },
  // A hook of an agent, which is waited for: of one file, and CommonJS, Node starts it a sixth sooner.
  { ...bundle("cli/hooks/run-hook"), output: { file: "dist/cli/hooks/hook.cjs", format: "cjs" } },
  // Its native code stays in packages of its own. With Arrow in the same file a thread loads it in two thirds of the time.
  {
    ...bundle("storage/tables/lancedb", [
      /^@lancedb\/lancedb-/,
      /\.node$/,
      "openai",
      "@huggingface/transformers",
    ]),
    plugins: [
      { name: "arrow", transform: (code) => code.replace("createRequire(import.meta.url)(", "require(") },
    ],
  },
];
