/** Packages of which a part, or our own files of a program, are written into one file. */
const bundle = (file, external = []) => ({
  input: `src/${file}.ts`,
  output: { file: `dist/${file}.js` },
  platform: "node",
  logLevel: "silent",
  external,
});

export default [
  bundle("schemas/typebox"),
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
