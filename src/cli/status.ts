import { askStatus, type StatusReport } from '../api/daemon-status.ts';
import { ConfigError } from '../config/config-error.ts';
import { applyConfirmed, type WaitingSetting } from '../config/confirmed-settings.ts';
import { homeAt } from '../config/home.ts';
import { describeSettingsState } from '../config/live-settings.ts';
import { loadConfig } from '../config/load-config.ts';
import { plural } from '../text/phrases.ts';
import { type CommandContext, CommandError, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import { dim, type Part, type Printer } from './print.ts';

export const declareStatus: DeclareCommand = (command, act) =>
  void command.addHelpText('after', '\nExample:\n  $ instar status --json\n').action(act(status));

/** Prints the status of the daemon that serves this home. */
async function status(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const report = await askStatus(homeAt(context.homeDir), context.env);
  if (report === undefined) {
    if (printer.json) printer.document({ running: false, fix: 'instar up' });
    else {
      printer.line('not running');
      printer.note({ text: '→ ', style: 'cyan' }, 'start it with: instar up');
    }
    return EXIT.failed;
  }
  if ('what' in report) throw new CommandError(EXIT.failed, report.what, report.fix);
  if (printer.json) printer.document({ ...report.raw, running: true, ...report.daemon });
  else {
    show(printer, report);
    for (const { path, asked, used } of waitingSettings(context))
      printer.note(
        { text: 'waiting  ', style: 'yellow' },
        `${path} "${asked}" waits for your word ("${used}" is used). Confirm it with: instar config confirm`,
      );
    for (const { what, fix } of describeSettingsState(report.raw.settings))
      printer.note({ text: 'settings ', style: 'yellow' }, `${what} → ${fix}`);
  }
  return EXIT.ok;
}

/** Settings that were loosened in the config file since the owner last confirmed them. */
function waitingSettings({ homeDir, env }: CommandContext): readonly WaitingSetting[] {
  const home = homeAt(homeDir);
  try {
    return applyConfirmed(loadConfig({ file: home.configFile, env }).config, home).waiting;
  } catch (error) {
    // A faulty config is what `instar doctor` reports; the daemon still runs with the last one.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function show(
  printer: Printer,
  { daemon, providers, counts, recording, time, copies, library, learning }: StatusReport,
): void {
  printer.line(
    { text: 'running', style: 'green' },
    ` at ${daemon.url} (pid ${daemon.pid}, version ${daemon.version})`,
  );
  const serves =
    providers.length === 0
      ? ['instar/nano, a laboratory model; no provider yet']
      : providers.map((provider) => `${provider.name} (${provider.serves})`);
  printer.table([
    [dim('since'), since(daemon.startedAt)],
    ...serves.map((text) => [dim('serves'), text]),
    [dim('served'), orUnknown(counts.served)],
    [dim('in flight'), orUnknown(counts.inFlight)],
    [dim('errors'), `${orUnknown(counts.failed)} failed, ${orUnknown(counts.refused)} refused`],
    [dim('recording'), recordingState(recording)],
    ...copies.map((line) => [dim('copies'), line]),
    ...library.map((line) => [dim('library'), line]),
    ...learning.map((line) => [dim('learning'), line]),
  ]);
  if (time === undefined) return;
  printer.line({ text: time.problem, style: 'yellow' });
  printer.line({ text: '→ ', style: 'cyan' }, time.fix);
}

function recordingState({
  degraded,
  lost = 0,
  recorded,
  unreadable = 0,
  missing,
}: StatusReport['recording']): Part {
  if (degraded !== undefined)
    return { text: `degraded: ${degraded} (${plural(lost, 'turn')} lost)`, style: 'yellow' };
  if (missing !== undefined) return { text: `${missing}; see: instar doctor`, style: 'yellow' };
  if (recorded === undefined) return 'unknown';
  const notes = [
    ...(lost > 0 ? [`${lost} lost`] : []),
    ...(unreadable > 0
      ? [`${plural(unreadable, 'body', 'bodies')} unreadable, kept without structure and not learned from`]
      : []),
  ];
  return [`${plural(recorded, 'turn')} recorded`, ...notes].join('; ');
}

const orUnknown = (count: number | undefined): string => String(count ?? 'unknown');

function since(startedAt: string): string {
  const minutes = Math.floor((Date.now() - Date.parse(startedAt)) / 60_000);
  if (!Number.isFinite(minutes) || minutes < 0) return startedAt;
  const spans = [
    [Math.floor(minutes / 1440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
  ] as const;
  const length = spans.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return `${startedAt} (${length.join(' ') || 'just now'})`;
}
