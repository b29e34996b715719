import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceFileSync } from '../base/atomic-file.ts';
import { workerModule } from '../base/worker-thread.ts';
import { findDaemon } from '../config/daemon-file.ts';
import { type Home, homeAt, openHome } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { quotePath } from '../doctor/inspect-path.ts';
import { type AutostartPlan, homeOfUnit, isOwnUnit, planAutostart } from './autostart-plan.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, failure } from './context.ts';

export const declareAutostart: DeclareCommand = (command, act) => {
  command
    .command('install')
    .description('Start Instar at login and after a crash: a systemd user unit, or a launchd agent on macOS.')
    .option('--print', 'print the unit and change nothing')
    .action(act(install));
  command.command('remove').description('Stop it and remove the unit again.').action(act(remove));
  command.command('status').description('Show whether it is installed and running.').action(act(showStatus));
};

/** Installs the unit, and starts it unless a daemon serves this home already. */
async function install(options: { readonly print?: true }, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const plan = planHere(context);
  if (options.print) {
    printer.document({ file: plan.file, text: plan.text });
    printer.text(plan.text);
    return EXIT.ok;
  }
  await requireSupervisor(plan, context);
  const before = readUnit(plan.file);
  const other = before !== undefined && isOwnUnit(before) ? homeOfUnit(before) : undefined;
  const home = homeAt(context.homeDir);
  if (other !== undefined && other !== home.dir)
    throw failure(
      `${plan.file} starts Instar for another home (${other}); there is one such unit per user`,
      `remove it first: instar service remove --home ${quotePath(other)}`,
    );
  openHome(context.homeDir);
  mkdirSync(dirname(home.logFile), { recursive: true, mode: 0o700 });
  const backup = before === undefined || isOwnUnit(before) ? undefined : keepForeign(plan.file);
  const isChanged = before !== plan.text && backup === undefined && before !== undefined;
  const isRunning = await isActive(plan, context);
  const daemon = isRunning ? undefined : await findDaemon(home);
  replaceFileSync(plan.file, plan.text, { mode: 0o644, makeFolder: true });
  for (const call of plan.install({ isChanged, start: daemon === undefined })) await mustRun(call, context);
  const warnings = [...keyWarnings(home, plan, context), ...placeWarnings(plan)];
  if (printer.json) {
    const started = daemon === undefined;
    printer.document({ installed: true, file: plan.file, started, backup: backup ?? null, warnings });
    return EXIT.ok;
  }
  printer.line(`${before === plan.text ? 'Already installed' : 'Installed'}: ${plan.file}`);
  if (backup !== undefined) printer.line(`The unit that was there is kept as ${backup}.`);
  if (daemon === undefined) printer.line('Instar runs now, and starts again at login and after a crash.');
  else
    printer.line(
      `Instar runs already (pid ${daemon.pid}, ${daemon.url}). To let the unit run it: instar stop && ${plan.startHint}`,
    );
  for (const warning of warnings) printer.note({ text: '! ', style: 'yellow' }, warning);
  await hintLingering(plan, context);
  printer.next(`its log: ${plan.logHint}`);
  return EXIT.ok;
}

/** Stops the daemon of the unit and removes the unit. A unit that was there before comes back. */
async function remove(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const plan = planHere(context);
  const before = readUnit(plan.file);
  if (before === undefined) {
    printer.document({ removed: false, file: plan.file });
    printer.line(`Not installed: there is no ${plan.file}.`);
    return EXIT.ok;
  }
  if (!isOwnUnit(before))
    throw failure(
      `${plan.file} was not written by Instar; it is left as it is`,
      `remove it yourself: rm ${quotePath(plan.file)}`,
    );
  // The file goes even where the supervisor is gone; it may not be loaded either.
  for (const call of plan.stop) await runProgram(call, context);
  rmSync(plan.file, { force: true });
  const backup = backupOf(plan.file);
  const isRestored = existsSync(backup);
  if (isRestored) renameSync(backup, plan.file);
  for (const call of plan.forget) await runProgram(call, context);
  printer.document({ removed: true, file: plan.file, restored: isRestored });
  printer.line(`Removed ${plan.file}. Instar no longer starts by itself.`);
  if (isRestored) printer.line('The unit that was there before is back.');
  if (existsSync(plan.envFile)) printer.note(`${plan.envFile} is yours and stays.`);
  return EXIT.ok;
}

async function showStatus(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const plan = planHere(context);
  const text = readUnit(plan.file);
  const installed = text !== undefined && isOwnUnit(text);
  const running = text !== undefined && (await isActive(plan, context));
  const home = installed ? homeOfUnit(text) : undefined;
  const isCurrent = text === plan.text;
  printer.document({ installed, running, file: plan.file, home: home ?? null, upToDate: isCurrent });
  if (!installed)
    printer.line(
      text === undefined
        ? `Not installed. Install it with: instar service install`
        : `${plan.file} was not written by Instar.`,
    );
  else {
    printer.fields([
      ['unit', plan.file],
      ['home', home ?? 'unknown'],
      ['state', running ? 'running' : `not running; start it with: ${plan.startHint}`],
    ]);
    if (!isCurrent && home === homeAt(context.homeDir).dir)
      printer.note('The unit differs from what this version writes. Update it with: instar service install');
    await hintLingering(plan, context);
  }
  return installed ? EXIT.ok : EXIT.failed;
}

function planHere(context: CommandContext): AutostartPlan {
  const { env } = context;
  const home = homeAt(context.homeDir);
  if (/[\n\r]/.test(home.dir))
    throw failure('the path of the home has a line break', 'choose another --home');
  const plan = planAutostart({
    platform: process.platform,
    env,
    uid: process.getuid?.() ?? 0,
    node: process.execPath,
    main: mainModule(),
    homeDir: home.dir,
    needsSetuid: isSetuid('bwrap', env),
  });
  if (plan !== undefined) return plan;
  throw failure(
    `Instar knows systemd and launchd, and this is ${process.platform}`,
    loginHint(process.platform, startCommand(context)),
  );
}

/** How a person has a command run at login where Instar does not do it. */
export const loginHint = (platform: NodeJS.Platform, command: readonly string[]): string =>
  platform === 'win32'
    ? `let the Task Scheduler run it at login: schtasks /create /tn instar /sc onlogon /tr "${command.map((part) => `\\"${part}\\"`).join(' ')}"`
    : `let your system run this at login: ${command.map(quotePath).join(' ')}`;

const mainModule = (): string => fileURLToPath(workerModule('./main.ts', import.meta.url));

const startCommand = ({ homeDir }: CommandContext): readonly string[] => [
  process.execPath,
  mainModule(),
  '--home',
  homeAt(homeDir).dir,
  'up',
];

function isSetuid(program: string, env: NodeJS.ProcessEnv): boolean {
  const files = (env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  const found = files.find((file) => existsSync(file));
  return found !== undefined && (statSync(found).mode & 0o4000) !== 0;
}

/** Throws where no supervisor answers, before anything is written. */
async function requireSupervisor(plan: AutostartPlan, context: CommandContext): Promise<void> {
  const { ok, said } = await runProgram(plan.probe, context);
  if (ok) return;
  throw failure(
    `${plan.kind === 'systemd' ? "systemd's user manager" : 'launchd'} does not answer here (${said}); nothing was installed`,
    `log in normally (not with su or sudo) and try again, or run this at boot, for example with cron (@reboot): ${startCommand(context).map(quotePath).join(' ')}`,
  );
}

async function isActive(plan: AutostartPlan, context: CommandContext): Promise<boolean> {
  const { ok, said } = await runProgram(plan.isRunning, context);
  return ok && (plan.kind === 'systemd' || /\bpid = \d+/.test(said));
}

interface ProgramResult {
  readonly ok: boolean;
  /** What it printed, for people. */
  readonly said: string;
}

/** Runs a program of the system, without a shell. Never rejects. */
function runProgram(
  [program, ...args]: AutostartPlan['probe'],
  { env }: CommandContext,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: 90_000, encoding: 'utf8' }, (error, stdout, stderr) => {
      const missing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';
      const words = (stderr.trim() || stdout.trim()).replace(/\s+/g, ' ');
      resolve({ ok: error === null, said: missing ? `${program} is not installed` : words || String(error) });
    });
  });
}

async function mustRun(call: AutostartPlan['probe'], context: CommandContext): Promise<void> {
  const { ok, said } = await runProgram(call, context);
  if (!ok)
    throw failure(
      `${call.join(' ')} failed: ${said}`,
      'see "instar status --log"; "instar service remove" undoes what was installed',
    );
}

function readUnit(file: string): string | undefined {
  // A link is somebody else's work, also one that leads nowhere, such as a masked unit.
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const backupOf = (file: string): string => `${file}.before-instar`;

/** Renames somebody else's unit; an older backup is not overwritten. */
function keepForeign(file: string): string {
  const backup = backupOf(file);
  if (lstatSync(backup, { throwIfNoEntry: false }) !== undefined)
    throw failure(
      `${file} was not written by Instar, and ${backup} exists already`,
      'move one of them away, then try again',
    );
  renameSync(file, backup);
  return backup;
}

/** One line for every key that this shell or the config has and the unit will not see. */
function keyWarnings(home: Home, { envFile }: AutostartPlan, { env }: CommandContext): readonly string[] {
  const { providers, train } = loadConfig({ file: home.configFile, env }).config;
  const engine = typeof train.engine === 'string' ? undefined : train.engine.keyEnv;
  const named = [
    ...Object.entries(providers).map(([name, { keyEnv }]) => [`provider "${name}"`, keyEnv] as const),
    ['the training engine', engine] as const,
    ['the server of trained weights', train.serve?.keyEnv] as const,
  ];
  const written = namesIn(envFile);
  const missing = named.flatMap(([what, keyEnv]) =>
    keyEnv === undefined || written.has(keyEnv)
      ? []
      : [
          `${what} needs ${keyEnv}, which the unit does not see: write ${keyEnv}=… into ${envFile} (chmod 600), or name a keyFile in the config`,
        ],
  );
  const mode = statSync(envFile, { throwIfNoEntry: false })?.mode ?? 0;
  const isOpen = (mode & 0o077) !== 0;
  return [
    ...missing,
    ...(isOpen ? [`${envFile} is readable by others: chmod 600 ${quotePath(envFile)}`] : []),
  ];
}

/** The variables that a file of `NAME=value` lines sets; the values are not looked at. */
function namesIn(file: string): ReadonlySet<string> {
  try {
    const lines = readFileSync(file, 'utf8').matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=./gm);
    return new Set([...lines].flatMap(([, name]) => name ?? []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw error;
  }
}

/** npx runs a package from a cache that npm cleans. */
const placeWarnings = ({ text }: AutostartPlan): readonly string[] =>
  /[\\/]_npx[\\/]/.test(text)
    ? [
        "Instar runs from npx's cache, which npm may delete: npm install -g instar, then instar service install",
      ]
    : [];

async function hintLingering(plan: AutostartPlan, context: CommandContext): Promise<void> {
  if (plan.kind !== 'systemd') return;
  const { ok, said } = await runProgram(
    ['loginctl', 'show-user', '--property=Linger', '--value', String(process.getuid?.() ?? '')],
    context,
  );
  if (ok && said === 'yes') return;
  context.printer.next(
    'it runs while you are logged in; to run it always, also after a reboot: loginctl enable-linger',
  );
}
