import { neutraliseLine } from '../config/printable.ts';
import { asObject, asString, parseJson } from '../core/json.ts';

const COLOURS: Record<string, string> = { debug: '90', info: '36', warn: '33', error: '31', fatal: '31' };
const OWN = new Set(['time', 'level', 'msg']);

/** One JSON record as a line for people: `12:30:01 info  message key=value`. */
export function formatLogLine(record: string, colour: boolean): string {
  const fields = asObject(parseJson(record));
  const paint = (code: string, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const level = asString(fields.level) ?? 'info';
  const rest = Object.entries(fields)
    .filter(([name]) => !OWN.has(name))
    .map(([name, value]) => paint('90', `${neutraliseLine(name)}=${neutraliseLine(shown(value))}`));
  return `${[
    paint('90', (asString(fields.time) ?? '').slice(11, 19)),
    paint(COLOURS[level] ?? '36', level.padEnd(5)),
    neutraliseLine(asString(fields.msg) ?? ''),
    ...rest,
  ].join(' ')}\n`;
}

/** Plain words as they are, an error as its message, anything else as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  const error = asObject(value);
  if (asString(error.stack) !== undefined && asString(error.message) !== undefined) {
    return JSON.stringify(error.message);
  }
  return JSON.stringify(value) ?? '';
}
