// Locks a directory and keeps it: at once, or, with a parent to talk to, whenever that says so.
const [, , moduleUrl, directory] = process.argv;
const { lockDataDirectory } = await import(moduleUrl);

async function contend() {
  try {
    await lockDataDirectory(directory);
    return "locked";
  } catch (error) {
    return error.message;
  }
}

if (process.send === undefined) {
  await contend();
  setInterval(() => undefined, 1_000);
} else {
  process.on("message", () => void contend().then((won) => process.send(won)));
  process.send("ready");
}
