/** Runs something while no Node can be started, as where the system has no room for a process. */
export async function withoutNode<T>(work: () => Promise<T>): Promise<T> {
  const { execPath } = process;
  process.execPath = "/nowhere/node";
  try {
    return await work();
  } finally {
    process.execPath = execPath;
  }
}
