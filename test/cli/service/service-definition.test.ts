import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  serviceDefinition,
  type ServiceRequest,
  commandIn,
} from "../../../src/cli/service/service-definition.ts";
import fc from "fast-check";

const REQUEST: ServiceRequest = {
  platform: "linux",
  home: "/home/ada",
  command: ["/opt/my node", '/opt/100% "me"/bin/memoryd.js', "start", "--data-dir", "/data/$HOME\\x"],
  user: "501",
  temporaryFolder: "C:\\Temp",
};
const wordsOf = (commands: readonly { readonly words: readonly string[] }[] = []) =>
  commands.map(({ words }) => words.join(" "));

describe("serviceDefinition", () => {
  it("is a unit of systemd on Linux, with its words quoted", () => {
    const unit = serviceDefinition(REQUEST);
    expect(unit?.file).toBe("/home/ada/.config/systemd/user/memoryd.service");
    expect(unit?.text).toBe(`[Unit]
Description=memoryd, a local memory for people and their agents
StartLimitIntervalSec=10min
StartLimitBurst=5

[Service]
Environment=MALLOC_ARENA_MAX=2
ExecStart=:"/opt/my node" "/opt/100%% \\"me\\"/bin/memoryd.js" "start" "--data-dir" "/data/$HOME\\\\x"
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
TimeoutStopSec=20
NoNewPrivileges=yes
ProtectSystem=full
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
UMask=0077
MemoryHigh=60%
MemoryMax=75%

[Install]
WantedBy=default.target
`);
    expect(wordsOf(unit?.install)).toEqual([
      "systemctl --user daemon-reload",
      "systemctl --user enable memoryd.service",
      "systemctl --user reset-failed memoryd.service",
      "systemctl --user restart memoryd.service",
    ]);
    expect(serviceDefinition({ ...REQUEST, configFolder: "/x" })?.file).toBe(
      "/x/systemd/user/memoryd.service",
    );
  });

  const isSystemd = process.platform === "linux" && spawnSync("systemd-analyze", ["--version"]).status === 0;
  it.skipIf(!isSystemd)("is a unit that systemd understands, every line of it", () => {
    const folder = mkdtempSync(join(tmpdir(), "memoryd-unit-"));
    const file = join(folder, "memoryd.service");
    const command = [process.execPath, resolve("bin/memoryd.js"), "start", '--data-dir=/a "b" 100%'];
    writeFileSync(file, serviceDefinition({ ...REQUEST, command })?.text ?? "");
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    // It looks at units of the system too.
    const about = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("memoryd"));
    expect({ status, about }).toEqual({ status: 0, about: [] });
  });

  it("is an agent of launchd on macOS", () => {
    const agent = serviceDefinition({
      ...REQUEST,
      platform: "darwin",
      home: "/Users/ada",
      command: ["/n", "<&>"],
    });
    expect(agent?.file).toBe("/Users/ada/Library/LaunchAgents/memoryd.plist");
    expect(agent?.text).toContain("    <string>/n</string>\n    <string>&lt;&amp;&gt;</string>\n  </array>");
    expect(agent?.text).toContain("<key>SuccessfulExit</key>\n    <false/>");
    expect(wordsOf(agent?.install)).toEqual([
      "launchctl bootout gui/501/memoryd",
      "launchctl bootstrap gui/501 /Users/ada/Library/LaunchAgents/memoryd.plist",
    ]);
  });

  it("is a task on Windows, which starts the daemon and ends", () => {
    const task = serviceDefinition({
      ...REQUEST,
      platform: "win32",
      user: "PC\\ada & co",
      command: ["C:\\Program Files\\node.exe", "C:\\m d\\memoryd.js", "start", "--data-dir", 'D:\\my "x"\\'],
    });
    expect(task).toMatchObject({ show: {}, file: "C:\\Temp\\memoryd-task.xml" });
    expect(task?.text.charCodeAt(0)).toBe(0xfeff);
    expect(task?.text).toContain("<Command>C:\\Program Files\\node.exe</Command>");
    expect(task?.text).toContain(
      "<Arguments>&quot;C:\\m d\\memoryd.js&quot; start --data-dir &quot;D:\\my \\&quot;x\\&quot;\\\\&quot; --detach</Arguments>",
    );
    expect(task?.text.match(/<UserId>PC\\ada &amp; co<\/UserId>/g)).toHaveLength(2);
    expect(wordsOf(task?.install)[0]).toBe("schtasks /Create /TN memoryd /XML C:\\Temp\\memoryd-task.xml /F");
  });

  it("is nothing elsewhere", () => {
    expect(serviceDefinition({ ...REQUEST, platform: "freebsd" })).toBeUndefined();
  });
});

describe("service words", () => {
  const REQUEST: ServiceRequest = {
    platform: "linux",
    home: "/home/ada",
    command: [],
    user: "501",
    temporaryFolder: "/tmp",
  };
  const word = fc.string({
    unit: fc.constantFrom("a", "B", " ", "\\", '"', "%", "$", "&", "<", ">", "n", "'", "é", "-", "="),
    minLength: 1,
    maxLength: 8,
  });

  it.each(["linux", "darwin", "win32"] as const)("reads back the command of a service on %s", (platform) => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 5 }), (command) => {
        const text = serviceDefinition({ ...REQUEST, platform, command })?.text ?? "";
        const detached = platform === "win32" ? ["--detach"] : [];
        expect(commandIn(platform, text)).toEqual([...command, ...detached]);
      }),
    );
  });

  it("reads a command that a person wrote", () => {
    expect(commandIn("linux", "[Service]\nExecStart=/usr/bin/node /m/memoryd.js start\n")).toEqual([
      "/usr/bin/node",
      "/m/memoryd.js",
      "start",
    ]);
  });

  it.each(["linux", "darwin", "win32"] as const)("finds none in another text on %s", (platform) => {
    expect(commandIn(platform, "[Service]\n")).toBeUndefined();
  });
});
