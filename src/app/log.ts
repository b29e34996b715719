import { pino } from 'pino';
import type { Log } from '../base/log.ts';
import { neutraliseJson } from '../config/printable.ts';
import type { Config } from '../config/schema.ts';
import { formatLogLine } from './log-line.ts';

interface LogStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface LogOptions {
  readonly format: Config['log']['format'];
  readonly level: Config['log']['level'];
  /** Standard error unless told otherwise: standard output carries results only. */
  readonly stream?: LogStream;
  readonly env?: NodeJS.ProcessEnv;
}

const SECRET_NAME =
  /^(proxy-)?authorization$|^(set-)?cookie$|^x-(api|goog-api|instar)-key$|(^|[_-])key$|apikey$|^(password|secret|token)$/i;
const BEARER = /\b(Bearer|Basic) [\w.~+/=-]{6,}/g;
const REDACTED = '[redacted]';
const DEEPEST = 6;

/** Whether people will read the lines: what `auto` means for this stream. */
export const isPretty = (format: LogOptions['format'], stream: LogStream): boolean =>
  format === 'pretty' || (format === 'auto' && stream.isTTY === true);

export function createLog(options: LogOptions): Log {
  const stream = options.stream ?? process.stderr;
  const colour = stream.isTTY === true && !(options.env ?? process.env).NO_COLOR;
  const render = isPretty(options.format, stream)
    ? (line: string) => formatLogLine(line, colour)
    : neutraliseJson;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => censor(fields, DEEPEST) as Record<string, unknown>,
      },
      serializers: { err: describeError, error: describeError },
    },
    { write: (line: string) => void stream.write(render(line.replace(BEARER, `$1 ${REDACTED}`))) },
  );
}

/** Secrets go by the name of their field, at any depth and in any case: a list of paths would miss the next one. */
function censor(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth === 0) return '[deep]';
  if (Array.isArray(value)) return value.map((member) => censor(member, depth - 1));
  const out: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    out[name] = SECRET_NAME.test(name) && member !== undefined ? REDACTED : censor(member, depth - 1);
  }
  return out;
}

/** An error's other members are left out: clients hang whole requests, headers included, on their errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause instanceof Error && { cause: error.cause.message }),
  };
}
