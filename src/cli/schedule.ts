import { EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import type { Part, Printer } from './print.ts';
import { withDesk } from './with-desk.ts';

type Told = Readonly<Record<string, unknown>>;

/** Each signal now, whether slow work may run, what it does and what it may still spend. */
export const scheduleStatus = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const told = await desk.schedule();
    if (context.printer.json) context.printer.document(told);
    else show(context.printer, told);
    return EXIT.ok;
  });

/** The next window, and why then. */
export const scheduleNext = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
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
