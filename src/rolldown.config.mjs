/** Packages of which a part is written into one file of ours. */
const bundle = (file, external = []) => ({
  input: `src/${file}.ts`,
  output: { file: `dist/${file}.js` },
  platform: "node",
  logLevel: "silent",
  external,
});

export default [
  bundle("schemas/typebox"),
  // Its native code stays in packages of its own, and our tables are of the same Arrow.
  bundle("storage/tables/lancedb", [
    /^@lancedb\/lancedb-/,
    /^apache-arrow/,
    /\.node$/,
    "openai",
    "@huggingface/transformers",
  ]),
];
