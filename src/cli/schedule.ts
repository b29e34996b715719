import { asArray, asObject, type JsonObject } from '../core/json.ts';
import { describeJobsBudget } from '../cost/describe-cost.ts';
import { localTime, relativeTime } from '../text/phrases.ts';
import { sayPresence } from '../text/presence-words.ts';
import type { CommandAction, DeclareCommand } from './context.ts';
import { dim, type Part, type Printer } from './print.ts';
import { onApi } from './with-api.ts';

export const declareSchedule: DeclareCommand = (schedule, act) =>
  void schedule
    .option('--next', 'only when the next window opens and why then, and all windows of the next 24 hours')
    .action(act(showSchedule));

interface ScheduleOptions {
  readonly next?: true;
}

const showSchedule: CommandAction<ScheduleOptions> = (options, context) =>
  options.next === true ? scheduleNext({}, context) : scheduleStatus({}, context);

const scheduleStatus = onApi(async (_: object, { api, printer }) => {
  const schedule = await api.schedule();
  printer.document(schedule);
  if (!printer.json) show(printer, schedule);
});

const scheduleNext = onApi(async (_: object, { api, printer }) => {
  const schedule = await api.schedule();
  const next = asObject(schedule.next);
  const windows = listOf(schedule.windows);
  const later = windows.slice(1).map((one): readonly [string, Part] => ['then', nextText(one)]);
  printer.document({ state: schedule.state, next, windows });
  printer.fields([['next window', nextText(next)], ...later]);
});

const STYLES = { present: 'yellow', away: 'green', unknown: 'dim' } as const;

function show(printer: Printer, schedule: JsonObject): void {
  const state = wordOf(schedule.state);
  const job = typeof schedule.job === 'string' ? ` ${schedule.job}` : '';
  printer.line({ text: `${state}${job}`, style: 'bold' }, reasonsOf(schedule));
  const signals = listOf(schedule.signals).map((signal): readonly [string, Part] => {
    const kind = wordOf(signal.state);
    const style = kind === 'present' || kind === 'away' ? STYLES[kind] : STYLES.unknown;
    return [wordOf(signal.source), { text: `${kind}: ${wordOf(signal.why)}`, style }];
  });
  const budget = asObject(schedule.budget);
  printer.fields([
    ...signals,
    ['budget today', describeJobsBudget(budget)],
    ...listOf(schedule.jobs).map((one): readonly [string, Part] => [
      `job ${wordOf(one.name)}`,
      `${one.needsWindow === true ? 'needs a window' : 'needs no window'}; ${historyOf(one)}`,
    ]),
    ['next window', nextText(asObject(schedule.next))],
  ]);
  for (const signal of listOf(schedule.signals))
    printer.note(dim(`${wordOf(signal.source)} detects: `), wordOf(signal.sees));
}

function historyOf(job: JsonObject): string {
  const last = asObject(job.last);
  if (typeof job.note === 'string') return job.note;
  if (last.end === undefined) return 'never ran';
  const note = typeof last.note === 'string' ? ` (${last.note})` : '';
  return `${wordOf(last.end)} ${relativeTime(Date.parse(wordOf(last.at)), Date.now())}${note}`;
}

/** When the next window opens, from the JSON of `GET /api/schedule` (`next`). */
export function nextText(next: JsonObject): string {
  const from = Date.parse(wordOf(next.from));
  const until = Date.parse(wordOf(next.until));
  const when = Number.isNaN(from) ? '' : `${describeSpan(from, until, Date.now())}: `;
  return `${when}${wordOf(next.why)}`;
}

/** `now`, `in 3 h (2026-11-16 23:00 to 07:00)`. */
function describeSpan(from: number, until: number, now: number): string {
  if (from <= now) return Number.isNaN(until) ? 'now' : `now, to ${localTime(until)}`;
  const [start, end] = [localTime(from), Number.isNaN(until) ? '' : localTime(until)];
  const to = end === '' ? '' : ` to ${end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end}`;
  return `${relativeTime(from, now)} (${start}${to})`;
}

const reasonsOf = ({ reasons }: JsonObject): string =>
  asArray(reasons).length > 0 ? `  ${sayPresence(asArray(reasons).map(String))}` : '';

const wordOf = (value: unknown): string => (value === undefined ? '' : String(value));
const listOf = (value: unknown): readonly JsonObject[] => asArray(value).map(asObject);
