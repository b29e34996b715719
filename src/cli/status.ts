import { askStatus, type StatusReport } from '../api/daemon-status.ts';
import { homeAt } from '../config/home.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';

/** What runs on this home, as its daemon tells it. */
export async function status(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const report = await askStatus(homeAt(context.homeDir), context.env);
  if (report === undefined) {
    if (printer.json) printer.document({ running: false, mend: 'instar up' });
    else {
      printer.line('not running');
      printer.note({ text: '→ ', style: 'cyan' }, 'start it with: instar up');
    }
    return EXIT.failed;
  }
  if ('what' in report) throw new CommandError(EXIT.failed, report.what, report.mend);
  if (printer.json) printer.document({ ...report.told, running: true, ...report.daemon });
  else show(printer, report);
  return EXIT.ok;
}

function show(
  printer: Printer,
  { daemon, providers, counts, recording, library, learning }: StatusReport,
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
    [dim('served'), shown(counts.served)],
    [dim('in flight'), shown(counts.inFlight)],
    [dim('errors'), `${shown(counts.failed)} failed, ${shown(counts.refused)} refused`],
    [
      dim('recording'),
      recording.degraded === undefined ? `${shown(recording.recorded)} turns kept` : trouble(recording),
    ],
    ...library.map((line) => [dim('library'), line]),
    ...learning.map((line) => [dim('learning'), line]),
  ]);
}

const trouble = ({ degraded = '', lost = 0 }: StatusReport['recording']): Part => ({
  text: `degraded: ${degraded} (${lost} turns lost)`,
  style: 'yellow',
});
const shown = (count: number | undefined): string => String(count ?? 'unknown');
const dim = (text: string): Part => ({ text, style: 'dim' });

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
