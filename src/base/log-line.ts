import { asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import { neutraliseLine } from './printable.ts';

/** The levels of log lines, from the least important on. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const COLOURS: Record<string, string> = { debug: '90', info: '36', warn: '33', error: '31', fatal: '31' };
const OWN = new Set(['time', 'level', 'msg']);

/**
 * One JSON record as a line for people: `12:30:01 info  message key=value`, in the time zone of this machine. With `today`
 * (any time of that day) a line of another day begins with its date.
 */
export function formatLogLine(record: string, colour: boolean, today?: number): string {
  const fields = asObject(parseJson(record));
  const paint = (code: string, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const level = asString(fields.level) ?? 'info';
  const rest = Object.entries(fields)
    .filter(([name]) => !OWN.has(name))
    .map(([name, value]) => paint('90', `${neutraliseLine(name)}=${neutraliseLine(formatValue(value))}`));
  return `${[
    paint('90', timeOfDay(timeOf(fields), today)),
    paint(COLOURS[level] ?? '36', neutraliseLine(level).padEnd(5)),
    neutraliseLine(asString(fields.msg) ?? ''),
    ...rest,
  ].join(' ')}\n`;
}

/** When the line was written, in milliseconds; NaN when it does not say. */
export const timeOf = (fields: JsonObject): number => Date.parse(asString(fields.time) ?? '');

/** Whether a line is at least as important as this level. */
export const isAtLeast = (fields: JsonObject, level: (typeof LOG_LEVELS)[number]): boolean => {
  const names: readonly unknown[] = LOG_LEVELS;
  const own = names.indexOf(fields.level);
  // A level of a later version, such as `fatal`, is important.
  return own < 0 || own >= LOG_LEVELS.indexOf(level);
};

function timeOfDay(at: number, today: number | undefined): string {
  if (!Number.isFinite(at)) return '--:--:--';
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  if (today === undefined || date.toDateString() === new Date(today).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** A plain word as it is, an error as its message, anything else as JSON. */
function formatValue(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  const error = asObject(value);
  if (asString(error.stack) !== undefined && asString(error.message) !== undefined) {
    return JSON.stringify(error.message);
  }
  return JSON.stringify(value) ?? '';
}
