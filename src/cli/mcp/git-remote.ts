/** A remote's address in its parts: `ssh://…`, `https://…`, or `user@host:path` as ssh takes it. */
const WITH_SCHEME = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/@]*@)?(\[[0-9a-f:.]+\]|[^/:]+)(?::(\d+))?\/(.*)$/i;
const LIKE_SSH = /^(?:[^/@\s]+@)?(\[[0-9a-f:.]+\]|[^/:\s]{2,}):(?!\/\/)(.+)$/i;

/** Ports that say nothing, since each scheme has its own. Any port of ssh is another door to the same repository. */
const USUAL_PORTS: Readonly<Record<string, string>> = { https: "443", http: "80", git: "9418" };
/** Doors that a forge has beside its name, for networks that let nothing else out. */
const SAME_HOST: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};

/**
 * The name of a repository by its remote, `host/path`, the same however it was cloned: without scheme, user, password,
 * `.git` and the ends of paths. Undefined for a remote on this machine.
 */
export function nameOfRemote(remote: string): string | undefined {
  const text = remote.trim();
  const url = WITH_SCHEME.exec(text);
  const ssh = url === null ? LIKE_SSH.exec(text) : null;
  const scheme = (url?.[1] ?? "ssh").toLowerCase();
  const host = (url?.[2] ?? ssh?.[1])?.toLowerCase();
  const path = pathIn(url?.[4] ?? ssh?.[2] ?? "");
  if (scheme === "file" || host === undefined || path === "") return undefined;
  const port = url?.[3];
  const keepsPort = port !== undefined && !/ssh/.test(scheme) && USUAL_PORTS[scheme] !== port;
  return `${SAME_HOST[host] ?? host}${keepsPort ? `:${port}` : ""}/${path}`;
}

function pathIn(text: string): string {
  return text
    .replace(/[?#][^]*$/, "")
    .replace(/^[~/]+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/i, "")
    .replace(/\/{2,}/g, "/");
}

/**
 * The address of a repository's `origin`, else of the remote that stands first, in the text of its configuration. Other
 * files that it includes are not looked at.
 */
export function remoteIn(config: string): string | undefined {
  const urls = new Map<string, string>();
  let remote: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (section !== null) remote = section[1]?.toLowerCase() === "remote" ? section[2] : undefined;
    const setting = /^(?:\s*\[[^\]]*\])?\s*url\s*=\s*(.*?)\s*$/i.exec(line);
    const value = setting?.[1] === undefined ? "" : valueOf(setting[1]);
    if (remote !== undefined && value !== "" && !urls.has(remote)) urls.set(remote, value);
  }
  return urls.get("origin") ?? urls.values().next().value;
}

function valueOf(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  return quoted?.[1] === undefined
    ? text.replace(/(?<!\s)\s+[#;][^]*$/, "")
    : quoted[1].replace(/\\(.)/g, "$1");
}
