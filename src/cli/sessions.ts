import { InvalidArgumentError } from 'commander';
import type { ErasureReport } from '../core/daemon-api.ts';
import type { NamedLesson } from '../core/store.ts';
import { plural } from '../text/phrases.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { dim, type Printer } from './print.ts';
import { withApi } from './with-api.ts';

export const declareSessions: DeclareCommand = (sessions, act) => {
  sessions
    .command('list')
    .description('List sessions, newest first.')
    .option('--limit <n>', 'maximum number of sessions (default: 20)', parseLimit)
    .option('--agent <name>', 'only sessions of this agent')
    .option('--project <id>', 'only sessions of this project')
    .action(act(listSessions));
  sessions
    .command('show')
    .argument('<id>', 'id of a session')
    .description('Show a session’s turns and their rewards.')
    .action(act(showSession));
  sessions
    .command('erase')
    .argument('<id>', 'id of a session')
    .option('--yes', 'confirm: this cannot be undone')
    .description('Erase the content of a session permanently.')
    .action(act(eraseSession));
};

interface ListOptions {
  readonly limit?: number;
  readonly agent?: string;
  readonly project?: string;
}

type Row = Readonly<Record<string, unknown>>;

const listSessions = (options: ListOptions, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const { limit = 20, agent, project } = options;
    const list = await api.sessions({ limit, ...(agent ? { agent } : {}), ...(project ? { project } : {}) });
    const { printer } = context;
    if (printer.json) printer.document(list);
    else if (list.length === 0) printer.note('nothing recorded yet: point an agent at the gateway');
    else {
      const rows = list.map((session) => [
        text(session.id),
        text(session.agent),
        text((session.project as Row | undefined)?.label ?? ''),
        plural(Number(session.turns), 'turn'),
        text(session.lastAt),
        session.erased === true ? 'erased' : '',
      ]);
      printer.table([['SESSION', 'AGENT', 'PROJECT', 'TURNS', 'LAST', ''].map(dim), ...rows]);
    }
    return EXIT.ok;
  });

const showSession = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const id = args[0] ?? '';
    const session = await api.session(id);
    if (session === undefined) throw unknownSession(id);
    if (context.printer.json) context.printer.document(session);
    else show(context.printer, session);
    return EXIT.ok;
  });

const eraseSession = (
  { args, yes }: Positional & { readonly yes?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const id = args[0] ?? '';
    const session = await api.session(id);
    if (session === undefined) throw unknownSession(id);
    if (!yes)
      throw new CommandError(
        EXIT.wrongUse,
        `this erases the content of session ${id} permanently`,
        `confirm with: instar sessions erase ${id} --yes`,
      );
    const report = await api.erase(id);
    if (context.printer.json) context.printer.document({ id, ...report });
    else for (const line of describeErasure(id, report)) context.printer.line(line);
    return EXIT.ok;
  });

/** `Erased session s_1 (12 turns).` and what became of the lessons and copies. */
function describeErasure(id: string, { erased, lessons, copies }: ErasureReport): readonly string[] {
  const names = (list: readonly NamedLesson[]): string => list.map(({ name }) => `"${name}"`).join(', ');
  const { retired, cleaned } = lessons;
  return [
    `Erased session ${id} (${plural(erased, 'turn')}); only the erasure itself stays on record.`,
    ...(retired.length === 0
      ? []
      : [`Retired ${plural(retired.length, 'lesson')} that rested on it alone: ${names(retired)}.`]),
    ...(cleaned.length === 0
      ? []
      : [`Removed its words from ${plural(cleaned.length, 'lesson')}: ${names(cleaned)}.`]),
    ...(copies === 0
      ? []
      : [`Erased it from ${copies === 1 ? '1 copy' : `${copies} copies`} of the record.`]),
  ];
}

function show(printer: Printer, session: Row): void {
  printer.line(
    { text: text(session.id), style: 'bold' },
    ` ${text(session.agent)}, ${text(session.startedAt)}`,
  );
  const turns = session.turns as readonly Row[];
  printer.table([
    ['TURN', 'ROLE', 'STATUS', 'GEN', 'POLICY', 'CALLER', 'REWARDS', 'NOTE'].map(dim),
    ...turns.map((turn) => [
      text(turn.id),
      text(turn.role),
      text(turn.status),
      text(turn.generation),
      text(turn.policy),
      text(turn.caller),
      (turn.rewards as readonly Row[]).map(({ source, score }) => `${source} ${score}`).join(', '),
      unreadableNote(turn.unreadable),
    ]),
  ]);
}

/** What could not be read, for people: `request not-json: kept as text`. */
function unreadableNote(unreadable: unknown): string {
  return Object.entries((unreadable ?? {}) as Row)
    .map(([part, why]) => `${part} ${text(why)}: ${KEPT_AS[text(why)] ?? 'kept as text'}, not learned from`)
    .join('; ');
}

const KEPT_AS: Readonly<Record<string, string>> = {
  encoding: 'only its size is kept',
  'too-long': 'only its size is kept',
};

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

const unknownSession = (id: string): CommandError =>
  new CommandError(EXIT.failed, `no session has the id "${id}"`, 'see: instar sessions list');

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 9999.');
  return Number(text);
}
