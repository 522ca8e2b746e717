import { posix, win32 } from "node:path";
import { SHUTDOWN_MS } from "../../config/limits.ts";
import { EXIT } from "../output/output.ts";
import { LEAN_VARIABLES } from "../commands/start-detached.ts";

export interface ServiceRequest {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The folder for configuration, where there is one: `XDG_CONFIG_HOME`. */
  readonly configFolder?: string | undefined;
  /** Paths of Node and of the launcher, then arguments. */
  readonly command: readonly string[];
  /** The number of the user on macOS, `DOMAIN\name` on Windows. */
  readonly user: string;
  readonly temporaryFolder: string;
}

export interface ServiceDefinition {
  /** Name of the service manager, for messages. */
  readonly serviceManager: string;
  readonly file: string;
  readonly text: string;
  /** Succeeds where there is a service manager for this user. */
  readonly probe: ServiceCommand;
  readonly install: readonly ServiceCommand[];
  /** Run while the daemon is stopped and the service is loaded: starts it, in place of one that hangs. */
  readonly restart: readonly ServiceCommand[];
  readonly uninstall: readonly ServiceCommand[];
  /** After the file was removed. */
  readonly forget?: readonly ServiceCommand[];
  /** Succeeds while the service is installed and, where the service manager knows, runs. */
  readonly status: ServiceCommand;
  /** Prints the definition where no file holds it: then only `install` reads the file, in UTF-16, and it can go after it. */
  readonly show?: ServiceCommand;
  /** Prints the result of a start, for people. */
  readonly inspect: ServiceCommand;
}

export interface ServiceCommand {
  readonly words: readonly [program: string, ...words: string[]];
  /** Fails where there is nothing to do. */
  readonly mayFail?: boolean;
}

const NAME = "memoryd";
const UNIT = `${NAME}.service`;
const DESCRIPTION = "memoryd, a local memory for people and their agents";
/** Between a crash and the next start. */
const RESTART_SECONDS = 5;
/** systemd gives up after so many starts in so long: whatever ends each of them wants a person. */
const [STARTS, STARTS_MINUTES] = [5, 10];
/** After so long a stop may be cut short: the time that requests are given, and 10 s. */
const STOP_SECONDS = Math.ceil(SHUTDOWN_MS / 1_000) + 10;

/** Undefined for a system whose services are not known here. */
export function serviceDefinition(request: ServiceRequest): ServiceDefinition | undefined {
  if (request.platform === "linux") return systemdUnit(request);
  if (request.platform === "darwin") return launchAgent(request);
  return request.platform === "win32" ? scheduledTask(request) : undefined;
}

/**
 * Limits of the service under systemd. Not set on purpose: `MemoryDenyWriteExecute` and `RestrictNamespaces`, as V8 and
 * WebAssembly make code and bubblewrap makes namespaces; `ProtectHome`, and a stricter `ProtectSystem`, as data and backups
 * may be anywhere that the user writes. Netlink is for bubblewrap, which brings up a loopback. Percentages are of the
 * machine's memory: above the first the kernel takes back what it can.
 * @see systemd.exec(5), systemd.resource-control(5)
 */
const SYSTEMD_LIMITS = `NoNewPrivileges=yes
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
`;

/** The colon before the command keeps `$` from being read as a variable. @see systemd.service(5), systemd.syntax(7) */
function systemdUnit({ home, configFolder, command }: ServiceRequest): ServiceDefinition {
  const text = `[Unit]
Description=${DESCRIPTION}
StartLimitIntervalSec=${STARTS_MINUTES}min
StartLimitBurst=${STARTS}

[Service]
Environment=MALLOC_ARENA_MAX=${LEAN_VARIABLES.MALLOC_ARENA_MAX}
ExecStart=:${command.map(systemdWord).join(" ")}
Restart=on-failure
RestartSec=${RESTART_SECONDS}
RestartPreventExitStatus=${EXIT.usage}
TimeoutStopSec=${STOP_SECONDS}
${SYSTEMD_LIMITS}
[Install]
WantedBy=default.target
`;
  const systemctl = (...words: string[]): ServiceCommand => ({ words: ["systemctl", "--user", ...words] });
  // Else systemd, once it has given up, refuses this start too.
  const forgetFailures: ServiceCommand = { ...systemctl("reset-failed", UNIT), mayFail: true };
  return {
    serviceManager: "systemd",
    file: posix.join(configFolder ?? posix.join(home, ".config"), "systemd", "user", UNIT),
    text,
    probe: systemctl("show-environment"),
    install: [
      systemctl("daemon-reload"),
      systemctl("enable", UNIT),
      forgetFailures,
      systemctl("restart", UNIT),
    ],
    restart: [systemctl("daemon-reload"), forgetFailures, systemctl("restart", UNIT)],
    uninstall: [{ ...systemctl("disable", "--now", UNIT), mayFail: true }],
    forget: [systemctl("daemon-reload")],
    status: systemctl("is-active", UNIT),
    inspect: { words: ["journalctl", "--user", "--unit", UNIT] },
  };
}

/** @see launchd.plist(5) */
function launchAgent({ home, command, user }: ServiceRequest): ServiceDefinition {
  const file = posix.join(home, "Library", "LaunchAgents", `${NAME}.plist`);
  const words = command.map((word) => `    <string>${xml(word)}</string>`).join("\n");
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${NAME}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${RESTART_SECONDS}</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`;
  const domain = `gui/${user}`;
  const bootOut: ServiceCommand = { words: ["launchctl", "bootout", `${domain}/${NAME}`], mayFail: true };
  return {
    serviceManager: "launchd",
    file,
    text,
    probe: { words: ["launchctl", "print", domain] },
    install: [bootOut, { words: ["launchctl", "bootstrap", domain, file] }],
    restart: [{ words: ["launchctl", "kickstart", "-k", `${domain}/${NAME}`] }],
    uninstall: [bootOut],
    status: { words: ["launchctl", "print", `${domain}/${NAME}`] },
    inspect: { words: ["launchctl", "print", `${domain}/${NAME}`] },
  };
}

/**
 * A task has a console window for as long as its program runs, so it only starts the daemon, which goes on by itself.
 * @see https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema
 */
function scheduledTask({ command, user, temporaryFolder }: ServiceRequest): ServiceDefinition {
  const [program = "", ...words] = command;
  const file = win32.join(temporaryFolder, `${NAME}-task.xml`);
  const text = `\ufeff<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${DESCRIPTION}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${xml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${xml(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xml(program)}</Command>
      <Arguments>${xml([...words, "--detach"].map(windowsWord).join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
  const schtasks = (...words: string[]): ServiceCommand => ({ words: ["schtasks", ...words] });
  return {
    serviceManager: "the Task Scheduler",
    file,
    text,
    probe: schtasks("/Query", "/FO", "LIST"),
    install: [schtasks("/Create", "/TN", NAME, "/XML", file, "/F"), schtasks("/Run", "/TN", NAME)],
    restart: [schtasks("/Run", "/TN", NAME)],
    uninstall: [{ ...schtasks("/Delete", "/TN", NAME, "/F"), mayFail: true }],
    status: schtasks("/Query", "/TN", NAME),
    show: schtasks("/Query", "/TN", NAME, "/XML"),
    inspect: schtasks("/Query", "/TN", NAME, "/V", "/FO", "LIST"),
  };
}

/** The words of a command as the definitions of services have them, written and read back. */

/** One word of a command of systemd; see systemd.syntax(7). */
const systemdWord = (word: string): string =>
  `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;

/** One argument as `CommandLineToArgvW` reads it: backslashes count only before a quotation mark. */
function windowsWord(word: string): string {
  if (/^[^\s"]+$/.test(word)) return word;
  return `"${word.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The command that a definition runs, word by word; undefined where it names none that is understood. */
export function commandIn(platform: NodeJS.Platform, definition: string): string[] | undefined {
  if (platform === "linux") return systemdWords(definition);
  if (platform === "darwin") {
    const list = definition.split(/<key>ProgramArguments<\/key>\s*<array>/)[1]?.split("</array>")[0];
    if (list === undefined) return undefined;
    return Array.from(list.matchAll(/<string>([^<]*)<\/string>/g), ([, word = ""]) => unxml(word));
  }
  const program = /<Command>([^<]*)<\/Command>/.exec(definition)?.[1];
  const words = /<Arguments>([^<]*)<\/Arguments>/.exec(definition)?.[1] ?? "";
  return program === undefined ? undefined : [unxml(program), ...windowsWords(unxml(words))];
}

function systemdWords(unit: string): string[] | undefined {
  const command = /^ExecStart=[:@+!-]*(.+)$/m.exec(unit)?.[1];
  if (command === undefined) return undefined;
  return Array.from(command.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g), ([, quoted, bare]) =>
    (quoted ?? bare ?? "")
      .replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter))
      .replaceAll("%%", "%"),
  );
}

/** @see https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments */
function windowsWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const [part, slashes = "", mark] of text.matchAll(/(\\*)(")|\\+|\s|[^\s"\\]+/g)) {
    if (mark !== undefined) {
      const isLiteral = slashes.length % 2 === 1;
      word = (word ?? "") + "\\".repeat(slashes.length >> 1) + (isLiteral ? '"' : "");
      if (!isLiteral) isQuoted = !isQuoted;
    } else if (/\s/.test(part) && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + part;
  }
  return word === undefined ? words : [...words, word];
}

const unxml = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
