/** Packages of which a part, or our own files of a program, are written into one file. */
const bundle = (file, external = []) => ({
  input: `src/${file}.ts`,
  output: { file: `dist/${file}.js` },
  platform: "node",
  logLevel: "silent",
  external,
});

/** Packages of which each start of the daemon would read some 250 files; with what these load. Their licences, MIT, are in the packages. */
const BUNDLED = new Set(["@fastify/multipart", "commander", "fastify", "pino"]);

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
  },
  // A hook of an agent, which is waited for: of one file, and CommonJS, Node starts it a sixth sooner.
  { ...bundle("cli/hooks/run-hook"), output: { file: "dist/cli/hooks/hook.cjs", format: "cjs" } },
  // Its native code stays in packages of its own. With Arrow in the same file a thread loads it in half of the time.
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
