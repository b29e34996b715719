import { pino } from 'pino';
import type { Log } from '../base/log.ts';
import { toKeptLine } from '../base/log-file.ts';
import { formatLogLine } from '../base/log-line.ts';
import { neutraliseJson } from '../base/printable.ts';
import { parseJson } from '../core/json.ts';
import { openRedactor } from './open-redactor.ts';
import type { Redactor } from './redact.ts';

interface LogStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface LogOptions {
  /** `none`: nothing is written to the stream, only to the file. */
  readonly format: 'auto' | 'pretty' | 'json' | 'none';
  /** The least level that is written. */
  readonly level: string;
  /** Default: standard error, since standard output carries results only. */
  readonly stream?: LogStream;
  readonly env?: NodeJS.ProcessEnv;
  /** Default: one that knows secrets by shape and place. Every line passes it, whoever wrote the text. */
  readonly redactor?: Pick<Redactor, 'redactToText' | 'redactText'>;
  /** Gets every redacted line as JSON, whatever the format of the stream. */
  readonly file?: { write(line: string): void } | undefined;
}

const SECRET_NAME =
  /^(proxy-)?authorization$|^(set-)?cookie$|^x-(api|goog-api|instar)-key$|(^|[_-])key$|apikey$|^(password|secret|token)$/i;
const BEARER = /\b(Bearer|Basic) [\w.~+/=-]{6,}/g;
const REDACTED = '[redacted]';
const MAX_DEPTH = 6;

/** Whether lines are formatted for people; `auto` does so on a terminal. */
export const isPretty = (format: LogOptions['format'], stream: LogStream): boolean =>
  format === 'pretty' || (format === 'auto' && stream.isTTY === true);

/**
 * Its `level` can be changed. A stream that is not a terminal is kept by someone, such as the journal of a service: like the
 * log file it gets none of a conversation's words, which a provider may quote in an error.
 */
export function createLog(options: LogOptions): Log & { level: string } {
  const stream = options.stream ?? process.stderr;
  const colour = stream.isTTY === true && !(options.env ?? process.env).NO_COLOR;
  const render = isPretty(options.format, stream)
    ? (line: string) => formatLogLine(line, colour)
    : neutraliseJson;
  const redactor = options.redactor ?? openRedactor();
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => censor(fields, MAX_DEPTH) as Record<string, unknown>,
      },
      serializers: { err: describeError, error: describeError },
    },
    {
      write: (line: string) => {
        const redacted = redactLine(line, redactor);
        options.file?.write(neutraliseJson(redacted));
        if (options.format === 'none') return;
        // Debug lines are written only for someone who asked for them, and quote drafts.
        const kept = stream.isTTY === true ? redacted : (toKeptLine(redacted) ?? redacted);
        stream.write(render(kept));
      },
    },
  );
}

/** The last step before the stream: messages, fields, errors with their stacks and causes, also a provider's words in them. */
function redactLine(line: string, redactor: NonNullable<LogOptions['redactor']>): string {
  const plain = line.replace(BEARER, `$1 ${REDACTED}`);
  const record = parseJson(plain);
  return record === undefined ? redactor.redactText(plain) : `${redactor.redactToText(record)}\n`;
}

/** Redacts secrets by field name, at any depth and in any case: a list of paths would miss new fields. */
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

/** Omits an error's other members: HTTP clients attach whole requests, headers included, to their errors. */
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
