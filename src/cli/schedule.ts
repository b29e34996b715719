import { homeAt, openHome } from '../config/home.ts';
import { connectCalendar } from '../schedule/presence-sources.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';
import { openUrl } from './foreground.ts';
import type { Part, Printer } from './print.ts';
import { withApi } from './with-api.ts';
import { setSleep, writeConfig } from './write-config.ts';

type Told = Readonly<Record<string, unknown>>;

/** Each signal now, whether slow work may run, what it does and what it may still spend. */
export const scheduleStatus = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const told = await desk.schedule();
    if (context.printer.json) context.printer.document(told);
    else show(context.printer, told);
    return EXIT.ok;
  });

/** The next window, and why then. */
export const scheduleNext = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const told = await desk.schedule();
    const { printer } = context;
    const next = membersOf(told.next);
    if (printer.json) printer.document({ state: told.state, next });
    else printer.line(...nextLine(next));
    return EXIT.ok;
  });

const STYLES = { present: 'yellow', away: 'green', unknown: 'dim' } as const;

function show(printer: Printer, told: Told): void {
  const state = wordOf(told.state);
  const job = typeof told.job === 'string' ? ` ${told.job}` : '';
  printer.line({ text: `${state}${job}`, style: 'bold' }, reasonsOf(told));
  const signals = listOf(told.signals).map((signal): Part[] => {
    const kind = wordOf(signal.state);
    const style = kind === 'present' || kind === 'away' ? STYLES[kind] : STYLES.unknown;
    return [dim(wordOf(signal.source)), { text: kind, style }, wordOf(signal.why)];
  });
  const budget = membersOf(told.budget);
  const left = membersOf(budget.left);
  printer.table([
    ...signals,
    [
      dim('budget'),
      'left',
      `${wordOf(left.minutes)} min, ${wordOf(left.tokens)} tokens, $${wordOf(left.usd)}`,
    ],
    ...listOf(told.jobs).map((one): Part[] => [
      dim('job'),
      wordOf(one.name),
      `${one.needsWindow === true ? 'needs a window' : 'needs no window'}; ${historyOf(one)}`,
    ]),
  ]);
  printer.line(...nextLine(membersOf(told.next)));
  for (const signal of listOf(told.signals))
    printer.note({ text: `${wordOf(signal.source)} sees: `, style: 'dim' }, wordOf(signal.sees));
}

function historyOf(job: Told): string {
  const last = membersOf(job.last);
  if (typeof job.note === 'string') return job.note;
  if (last.end === undefined) return 'never ran';
  const note = typeof last.note === 'string' ? ` (${last.note})` : '';
  return `${wordOf(last.end)} ${wordOf(last.at)}${note}`;
}

function nextLine(next: Told): readonly Part[] {
  const until = typeof next.until === 'string' ? ` to ${next.until}` : '';
  const when = typeof next.from === 'string' ? `${next.from}${until}: ` : '';
  return [dim('next window  '), `${when}${wordOf(next.why)}`];
}

const reasonsOf = (told: Told): string =>
  Array.isArray(told.reasons) && told.reasons.length > 0 ? `  ${told.reasons.join(', ')}` : '';

const dim = (text: string): Part => ({ text, style: 'dim' });
const wordOf = (value: unknown): string => (value === undefined ? '' : String(value));
const membersOf = (value: unknown): Told =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Told) : {};
const listOf = (value: unknown): readonly Told[] => (Array.isArray(value) ? value.map(membersOf) : []);

const PATIENCE_MS = 5 * 60_000;

/** Lets Instar see when a Google calendar is busy: nothing else, and only after a person agreed in a browser. */
export async function scheduleConnect(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer, env } = context;
  const show = (url: string): void => {
    printer.note('agree in your browser; if none opens, go to:');
    printer.note(url);
    openUrl(url, (message) => printer.note(`no browser opened: ${message}`));
  };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const connected = await connectCalendar(openHome(context.homeDir), env, show, signal);
  if (!connected.ok) throw new CommandError(EXIT.failed, connected.why, connected.mend);
  if (printer.json) printer.document({ connected: true, file: connected.file });
  else printer.line(`connected; the right to ask is kept in ${connected.file}`);
  return EXIT.ok;
}

/** Quiet hours from the record, with the evidence and the line to add. Only `--write` changes the config, and says so. */
export const scheduleSuggest = (
  options: { readonly write?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const { printer, env } = context;
    const told = await desk.suggestWindows();
    const sleep = typeof told.sleep === 'string' ? told.sleep : undefined;
    const evidence = Array.isArray(told.evidence) ? told.evidence.map(String) : [];
    if (!printer.json) {
      for (const line of evidence) printer.line(line);
      if (sleep === undefined) printer.line(String(told.why ?? 'nothing can be suggested yet'));
      else printer.line('"schedule": { "sleep": ', JSON.stringify(sleep), ' }');
    }
    if (sleep === undefined && options.write)
      throw new CommandError(
        EXIT.failed,
        'there is nothing to write',
        'work for a few weeks, then ask again',
      );
    const file = homeAt(context.homeDir).configFile;
    const written =
      sleep !== undefined && options.write ? writeConfig(file, setSleep(file, sleep, env)) : undefined;
    if (printer.json) printer.document({ ...told, ...(written === undefined ? {} : { written }) });
    else if (written !== undefined) {
      printer.line(`wrote ${written.file}`);
      if (written.backup !== undefined) printer.note({ text: '  before  ', style: 'dim' }, written.backup);
      printer.note({ text: '→ ', style: 'cyan' }, 'it counts from the next start: instar up');
    } else if (sleep !== undefined)
      printer.note({ text: '→ ', style: 'cyan' }, 'nothing was changed; --write puts it into the config');
    return EXIT.ok;
  });
