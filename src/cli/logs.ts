import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOG_FILES } from '../base/log-file.ts';
import { formatLogLine, LOG_LEVELS } from '../base/log-line.ts';
import { neutraliseJson } from '../base/printable.ts';
import { homeAt } from '../config/home.ts';
import { type CommandContext, EXIT, type ExitCode } from './context.ts';
import { followLog, type LogFilter, readLastLines, type StoredLine } from './log-files.ts';

/** The options of `status --log`. */
export const declareLogOptions = (command: Command): Command =>
  command
    .option('-f, --follow', 'with --log: keep printing new lines until Ctrl-C')
    .option(
      '-n, --lines <n>',
      'with --log: number of lines, or "all" (default: 50; with --since: all)',
      parseCount,
    )
    .addOption(
      new Option('--level <level>', 'with --log: leave out lines of lower levels')
        .choices(LOG_LEVELS)
        .default('debug'),
    )
    .option(
      '--since <time>',
      'with --log: leave out older lines: 30s, 10m, 2h, 3d, 14:30, 2026-11-16 or "2026-11-16 14:30"',
      parseSince,
    );

export const LOG_HELP = `The log is logs/instar.log in the home and the older files beside it. Its lines
have no secrets and no words of conversations. With --json: one list, or one
JSON line each with --follow.
`;

export interface LogsOptions {
  readonly follow?: true;
  readonly lines?: number;
  readonly level: LogFilter['level'];
  readonly since?: (now: number) => number;
}

const DEFAULT_LINES = 50;

/** Prints the daemon's log lines, and with `--follow` those that come. */
export async function logs(options: LogsOptions, context: CommandContext): Promise<ExitCode> {
  const { printer, stdout, env } = context;
  const { logFile } = homeAt(context.homeDir);
  const since = options.since?.(Date.now()) ?? Number.NEGATIVE_INFINITY;
  const filter = { level: options.level, since };
  const most = options.lines ?? (options.since === undefined ? DEFAULT_LINES : Number.POSITIVE_INFINITY);
  // Begun before the old lines are read: a line that is written in between is in both.
  const follower = options.follow ? followLog(logFile, LOG_FILES, filter) : undefined;
  const old = readLastLines(logFile, LOG_FILES, filter, most);
  if (printer.json && follower === undefined) {
    printer.document(old.map(({ fields }) => fields));
    return EXIT.ok;
  }
  const colour = stdout.isTTY === true && !env.NO_COLOR;
  const print = (lines: readonly StoredLine[]): void => {
    const now = Date.now();
    for (const { text } of lines)
      stdout.write(printer.json ? `${neutraliseJson(text)}\n` : formatLogLine(text, colour, now));
  };
  print(old);
  if (old.length === 0) printer.note(explainNothing(logFile, options, context));
  if (follower !== undefined) {
    const printed = new Set(old.map(({ text }) => text));
    print(follower.next().filter(({ text }) => !printed.has(text)));
    await follow(follower, print, context);
  }
  return EXIT.ok;
}

function explainNothing(logFile: string, options: LogsOptions, { homeDir }: CommandContext): string {
  const more = options.follow ? ' Waiting for lines; Ctrl-C ends.' : '';
  if (existsSync(logFile)) return `No log line fits --level and --since.${more}`;
  return `No log yet in ${homeDir}: "instar up" writes it.${more}`;
}

const POLL_MS = 200;

/** Until Ctrl-C, or until the program that reads the output has ended. */
async function follow(
  follower: ReturnType<typeof followLog>,
  print: (lines: readonly StoredLine[]) => void,
  { stdout }: CommandContext,
): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  // EPIPE: `instar status --log -f | head`.
  (stdout as Partial<NodeJS.WritableStream>).once?.('error', end);
  try {
    while (!ended.signal.aborted) {
      print(follower.next());
      await sleep(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
    print(follower.next());
  } finally {
    follower.close();
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
  }
}

function parseCount(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a number of lines, or "all".');
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time before now, a time of today, or a date with or without a time; dates are local. */
function parseSince(text: string): (now: number) => number {
  const [, amount, unit = ''] = /^(\d{1,6})\s*(s|m|h|d)(?:in|ec)?$/.exec(text) ?? [];
  if (amount !== undefined) return (now) => now - Number(amount) * (UNITS[unit] ?? 0);
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined)
    return (now) => {
      const at = new Date(now).setHours(Number(hours), Number(minutes), 0, 0);
      // 23:30, asked at 00:10, was yesterday.
      return at > now ? at - 86_400_000 : at;
    };
  // A date without a time zone is local; without a time it is its first moment.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text.replace(' ', 'T'));
  if (!Number.isFinite(at) || !/^\d{4}-/.test(text))
    throw new InvalidArgumentError('Give a time such as 10m, 2h, 14:30 or "2026-11-16 14:30".');
  return () => at;
}
