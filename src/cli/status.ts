import { askStatus, type StatusReport } from '../api/daemon-status.ts';
import { homeAt } from '../config/home.ts';
import { describeSettingsState } from '../config/settings-state.ts';
import { localTime, plural, relativeTime } from '../text/phrases.ts';
import { type CommandContext, CommandError, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';
import { waitingRows } from './say-waiting.ts';

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
    for (const { what, fix } of describeSettingsState(report.raw.settings))
      printer.note({ text: 'settings ', style: 'yellow' }, `${what} → ${fix}`);
  }
  return EXIT.ok;
}

function show(
  printer: Printer,
  {
    daemon,
    providers,
    counts,
    recording,
    copies,
    library,
    learning,
    router,
    gateways,
    settings,
    waiting,
  }: StatusReport,
): void {
  printer.line(
    { text: 'running', style: 'green' },
    ` at ${daemon.url} (pid ${daemon.pid}, version ${daemon.version})`,
  );
  const serves =
    providers.length === 0
      ? ['instar/nano, a laboratory model; no provider yet']
      : providers.map((provider) => `${provider.name} (${provider.serves})`);
  printer.fields([
    ['since', since(daemon.startedAt)],
    ...serves.map((text) => ['serves', text] as const),
    ['served', orUnknown(counts.served)],
    ['in flight', orUnknown(counts.inFlight)],
    ['errors', `${orUnknown(counts.failed)} failed, ${orUnknown(counts.refused)} refused`],
    ['recording', recordingState(recording)],
    ...copies.map((line) => ['copies', line] as const),
    ...library.map((line) => ['library', line] as const),
    ...router.map((line) => ['router', line] as const),
    ...learning.map((line) => ['learning', line] as const),
    ...settings.map((line) => ['settings', line] as const),
    ...gateways.map((line) => ['gateways', line] as const),
    ...waitingRows(waiting, Date.now()),
  ]);
}

function recordingState({
  degraded,
  lost = 0,
  recorded,
  unreadable = 0,
  missing,
  away,
}: StatusReport['recording']): Part {
  if (degraded !== undefined)
    return {
      text: `degraded: ${degraded} (${plural(lost, 'turn')} lost); requests are served. Fix: instar doctor`,
      style: 'yellow',
    };
  if (away !== undefined) return { text: away, style: 'yellow' };
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
  const at = Date.parse(startedAt);
  return Number.isFinite(at) ? `${localTime(at)} (${relativeTime(at, Date.now())})` : startedAt;
}
