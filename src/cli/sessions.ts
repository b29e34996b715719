import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';
import { withApi } from './with-api.ts';

interface Listing {
  readonly limit?: number;
  readonly agent?: string;
  readonly project?: string;
}

interface Named {
  readonly args: readonly string[];
}

type Shown = Readonly<Record<string, unknown>>;

export const listSessions = (options: Listing, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const { limit = 20, agent, project } = options;
    const list = await desk.sessions({ limit, ...(agent ? { agent } : {}), ...(project ? { project } : {}) });
    const { printer } = context;
    if (printer.json) printer.document(list);
    else if (list.length === 0) printer.note('nothing recorded yet: point an agent at the gateway');
    else {
      const rows = list.map((session) => [
        text(session.id),
        text(session.agent),
        text((session.project as Shown | undefined)?.label ?? ''),
        `${session.turns} turns`,
        text(session.lastAt),
        session.erased === true ? 'erased' : '',
      ]);
      printer.table([['SESSION', 'AGENT', 'PROJECT', 'TURNS', 'LAST', ''].map(dim), ...rows]);
    }
    return EXIT.ok;
  });

export const showSession = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const id = args[0] ?? '';
    const session = await desk.session(id);
    if (session === undefined) throw unknown(id);
    if (context.printer.json) context.printer.document(session);
    else show(context.printer, session);
    return EXIT.ok;
  });

export const eraseSession = (
  { args, yes }: Named & { readonly yes?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const id = args[0] ?? '';
    const session = await desk.session(id);
    if (session === undefined) throw unknown(id);
    if (!yes)
      throw new CommandError(
        EXIT.wrongUse,
        `this takes away all of session ${id} for good`,
        'say so with --yes',
      );
    const erased = await desk.erase(id);
    if (context.printer.json) context.printer.document({ id, erased });
    else context.printer.line(`erased ${erased} turns of ${id}; only the fact that they were there is left`);
    return EXIT.ok;
  });

function show(printer: Printer, session: Shown): void {
  printer.line(
    { text: text(session.id), style: 'bold' },
    ` ${text(session.agent)}, ${text(session.startedAt)}`,
  );
  const turns = session.turns as readonly Shown[];
  printer.table([
    ['TURN', 'ROLE', 'STATUS', 'GEN', 'POLICY', 'REWARDS'].map(dim),
    ...turns.map((turn) => [
      text(turn.id),
      text(turn.role),
      text(turn.status),
      text(turn.generation),
      text(turn.policy),
      (turn.rewards as readonly Shown[]).map(({ source, score }) => `${source} ${score}`).join(', '),
    ]),
  ]);
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const dim = (label: string): Part => ({ text: label, style: 'dim' });
const unknown = (id: string): CommandError =>
  new CommandError(EXIT.failed, `no session is called ${id}`, 'see: instar sessions list');

interface Feedback {
  readonly args: readonly string[];
  readonly score: number;
  readonly note?: string;
}

/** A reward from a person; the id is a turn's or a session's. */
export const feedback = ({ args, score, note }: Feedback, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const id = args[0] ?? '';
    const subject = (await desk.session(id)) === undefined ? { turn: id } : { session: id };
    try {
      const done = await desk.feedback({ ...subject, score, ...(note === undefined ? {} : { note }) });
      if (context.printer.json) context.printer.document(done);
      else context.printer.line(`kept: ${score} for ${id}`);
      return EXIT.ok;
    } catch (error) {
      throw new CommandError(EXIT.failed, error instanceof Error ? error.message : String(error));
    }
  });
