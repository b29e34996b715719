import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

/** What `instar service` needs to know of the machine. */
export interface AutostartTarget {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly uid: number;
  /** Absolute paths of Node and of Instar's main module. */
  readonly node: string;
  readonly main: string;
  /** The home of the daemon. */
  readonly homeDir: string;
  /** `bwrap` with the setuid bit: a process without new privileges could not start it, and the sandbox would be gone. */
  readonly needsSetuid: boolean;
}

type ProgramCall = readonly [program: string, ...args: string[]];

/** Everything that installing, removing and asking does; nothing of it is done here. */
export interface AutostartPlan {
  readonly kind: 'systemd' | 'launchd';
  /** The unit or agent, and its text. */
  readonly file: string;
  readonly text: string;
  /** Where the user may write keys; read when the daemon starts. */
  readonly envFile: string;
  /** Fails where the system's supervisor cannot be reached. */
  readonly probe: ProgramCall;
  /** After the file is written. `isChanged`: it replaced another text of ours; `start`: the daemon is to run now. */
  install(how: { readonly isChanged: boolean; readonly start: boolean }): readonly ProgramCall[];
  /** Before the file is removed; failures do not matter: it may not be loaded. */
  readonly stop: readonly ProgramCall[];
  /** After the file was removed. */
  readonly forget: readonly ProgramCall[];
  /** Prints `active` or a process while it runs. */
  readonly isRunning: ProgramCall;
  /** How a person starts it by hand. */
  readonly startHint: string;
  readonly logHint: string;
}

/** Marks a file as ours. */
const MARK = 'Written by "instar service install"';
const LABEL = 'instar';
const UNIT = `${LABEL}.service`;

export const isOwnUnit = (text: string): boolean => text.includes(MARK);

/** The home that a unit of ours serves. */
export function homeOfUnit(text: string): string | undefined {
  const [, plain] = /^# home: (.*)$/m.exec(text) ?? [];
  const [, inPlist] = /<string>--home<\/string>\s*<string>(.*)<\/string>/.exec(text) ?? [];
  return plain ?? inPlist?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Undefined for a system whose supervisor is not known. */
export function planAutostart(target: AutostartTarget): AutostartPlan | undefined {
  if (target.platform === 'linux') return planSystemd(target);
  if (target.platform === 'darwin') return planLaunchd(target);
  return undefined;
}

const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

const commandLine = ({ node, main, homeDir }: AutostartTarget): readonly string[] => [
  node,
  main,
  '--home',
  homeDir,
  'up',
];

/** Folders of programs: Node's own, and those of the shell that installs, where `claude`, `codex` and `git` are found. */
function searchPath({ node, env }: AutostartTarget): string {
  const given = (env.PATH ?? '').split(delimiter);
  const folders = [dirname(node), ...given, '/usr/local/bin', '/usr/bin', '/bin'];
  return [...new Set(folders.filter((folder) => isAbsolute(folder) && !/[\n\r:]/.test(folder)))].join(':');
}

/** How a line of a unit writes a value: `%` and `$` have a meaning there. */
const forUnit = (text: string): string => text.replaceAll('%', '%%').replaceAll('$', '$$$$');
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

function planSystemd(target: AutostartTarget): AutostartPlan {
  const { env, homeDir } = target;
  const folder = join(env.XDG_CONFIG_HOME || join(userHome(env), '.config'), 'systemd', 'user');
  const envFile = join(homeDir, 'env');
  const systemctl = (...args: string[]): ProgramCall => ['systemctl', '--user', ...args];
  const hardening = target.needsSetuid
    ? '# No NoNewPrivileges=: the sandbox of this machine (bwrap) is setuid.'
    : 'NoNewPrivileges=yes';
  const text = `# ${MARK}; "instar service remove" removes it.
# home: ${homeDir}
[Unit]
Description=Instar, the learning gateway for LLM agents
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${commandLine(target)
    .map((part) => quoted(forUnit(part)))
    .join(' ')}
Environment=${quoted(`PATH=${searchPath(target).replaceAll('%', '%%')}`)}
# Keys of providers are not in this file. Name a keyFile in ${join(homeDir, 'config.json')},
# or write lines such as OPENAI_API_KEY=… into the file below (chmod 600).
EnvironmentFile=-${envFile.replaceAll('%', '%%')}
Restart=on-failure
RestartSec=5
# 2: wrong use, 3: another daemon has this home. Starting again would not help.
RestartPreventExitStatus=2 3
# The daemon finishes requests in progress and ends its own children.
KillMode=mixed
TimeoutStopSec=60
# A sandboxed command that runs out of memory must not end the gateway.
OOMPolicy=continue
UMask=0077
LimitCORE=0
${hardening}

[Install]
WantedBy=default.target
`;
  return {
    kind: 'systemd',
    file: join(folder, UNIT),
    text,
    envFile,
    probe: systemctl('show-environment'),
    install: ({ isChanged, start }) => [
      systemctl('daemon-reload'),
      start && !isChanged ? systemctl('enable', '--now', UNIT) : systemctl('enable', UNIT),
      ...(start && isChanged ? [systemctl('restart', UNIT)] : []),
    ],
    stop: [systemctl('disable', '--now', UNIT)],
    forget: [systemctl('daemon-reload')],
    isRunning: systemctl('is-active', UNIT),
    startHint: `systemctl --user start ${LABEL}`,
    logHint: `instar status --log -f, or journalctl --user -u ${LABEL}`,
  };
}

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Reads the file of keys, if there is one, and becomes the daemon. The arguments are not part of the shell's text. */
const WITH_ENV_FILE = 'set -a; [ ! -r "$0" ] || . "$0"; set +a; exec "$@"';

function planLaunchd(target: AutostartTarget): AutostartPlan {
  const { env, homeDir, uid } = target;
  const folder = join(userHome(env), 'Library', 'LaunchAgents');
  const file = join(folder, `${LABEL}.plist`);
  const envFile = join(homeDir, 'env');
  const domain = `gui/${uid}`;
  const args = ['/bin/sh', '-c', WITH_ENV_FILE, envFile, ...commandLine(target), '--log', 'none'];
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <!-- ${MARK}; "instar service remove" removes it. -->
  <key>Label</key>
  <string>${LABEL}</string>
  <!-- Keys of providers are not in this file. Name a keyFile in the config, or write lines such as OPENAI_API_KEY=...
       into the file "env" of the home (chmod 600), which the line below reads. -->
  <key>ProgramArguments</key>
  <array>
${args.map((arg) => `    <string>${xml(arg)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${xml(searchPath(target))}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>${xml(join(homeDir, 'logs', 'launchd.log'))}</string>
</dict>
</plist>
`;
  const unload: ProgramCall = ['launchctl', 'bootout', `${domain}/${LABEL}`];
  return {
    kind: 'launchd',
    file,
    text,
    envFile,
    probe: ['launchctl', 'print', domain],
    install: ({ isChanged, start }) =>
      start ? [...(isChanged ? [unload] : []), ['launchctl', 'bootstrap', domain, file]] : [],
    stop: [unload],
    forget: [],
    isRunning: ['launchctl', 'print', `${domain}/${LABEL}`],
    startHint: `launchctl bootstrap ${domain} ${file}`,
    logHint: `instar status --log -f, or ${join(homeDir, 'logs', 'launchd.log')} for what happened before it logs`,
  };
}
