import { InvalidArgumentError } from 'commander';
import { mayTeach } from '../core/caller.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { errorMessage } from '../core/failure.ts';
import { asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { isFlowPolicy } from '../core/overlay.ts';
import { relativeTime } from '../text/phrases.ts';
import { looksLikeId, shortId } from '../text/short-id.ts';
import { clip } from '../text/truncate.ts';
import {
  type CommandContext,
  type CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { findNewestTurn, type TurnFilter } from './newest-turn.ts';
import { sayLearned } from './say-learned.ts';
import { withApi } from './with-api.ts';

export const declareFeedback: DeclareCommand = (command, act) =>
  void command
    .argument('[subject]', 'last (the default), or the id of a turn or a session')
    .argument('[note...]', 'what was wrong or right, in quotes')
    .option('--good', 'score 1')
    .option('--bad', 'score -1')
    .option('--score <x>', 'from -1 (bad) to 1 (good)', parseScore)
    .option('--agent <name>', 'last: the newest turn of this agent')
    .option('--project <project>', 'last: the newest turn in this project: its folder, label or id')
    .option('--note <text>', 'the same as the argument')
    .addHelpText('after', HELP)
    .action(act(feedback));

const HELP = `
"last" is the newest turn of the agent or project you name, else of the project
you stand in, else of all. A note without a score is a correction (score -0.5).

Examples:
  $ instar feedback last "use ISO dates"
  $ instar feedback --good
  $ instar feedback t_mhxk2p9a3f2 --bad "wrong folder"
`;

interface FeedbackOptions extends Positional, TurnFilter {
  readonly good?: true;
  readonly bad?: true;
  readonly score?: number;
  readonly note?: string;
}

/** The score of a note without a score. */
const CORRECTION = -0.5;

/** Records a person's reward for a turn or a session. */
const feedback = (options: FeedbackOptions, context: CommandContext): Promise<ExitCode> => {
  const { subject, note, score } = readWords(options);
  return withApi(context, async (apis) => {
    const found = await findSubject(apis.api, subject, options, context);
    const record = async (): Promise<void> => {
      const id = { [found.kind]: found.id };
      const done = await give(apis.api, { ...id, score, ...(note === undefined ? {} : { note }) });
      const saved = note === undefined ? undefined : await redactNote(note);
      context.printer.document({ ...done, ...id, score, ...(saved === undefined ? {} : { note: saved }) });
      const isCorrection =
        options.good === undefined && options.bad === undefined && options.score === undefined;
      const said = saved === undefined ? '' : ` “${saved}”`;
      const what = isCorrection ? `correction${said}` : `score ${score}${said}`;
      context.printer.line(`Feedback saved (${found.about}): ${what}`);
    };
    if (found.notLearned === undefined && note !== undefined && score < 0)
      await sayLearned(apis, record, context);
    else await record();
    if (found.notLearned !== undefined)
      context.printer.note({ text: 'not learned from: ', style: 'yellow' }, found.notLearned);
    return EXIT.ok;
  });
};

/** As it is stored: a key that was typed into it is on no disk, and in no scrollback that is shared. */
async function redactNote(note: string): Promise<string> {
  const { openRedactor } = await import('../redact/open-redactor.ts');
  return openRedactor().redactText(note);
}

async function give(api: DaemonApi, body: JsonObject): Promise<JsonObject> {
  try {
    return await api.feedback(body);
  } catch (error) {
    throw failure(errorMessage(error));
  }
}

interface Words {
  /** `last`, or an id. */
  readonly subject: string;
  readonly note?: string;
  readonly score: number;
}

/** The first argument is the subject; one with a blank in it is a note, since no id has blanks. */
function readWords({ args, good, bad, score, note: flag }: FeedbackOptions): Words {
  const [first, ...rest] = args;
  const isNote = first !== undefined && /\s/.test(first.trim());
  const subject = first === undefined || isNote ? 'last' : first;
  const spoken = (isNote ? args : rest).join(' ').trim();
  if ([good, bad, score].filter((one) => one !== undefined).length > 1)
    throw wrongUse('--good, --bad and --score exclude each other', 'use one of them');
  if (spoken !== '' && flag !== undefined)
    throw wrongUse('the note was given twice', 'give it as an argument, or with --note');
  const note = spoken || flag?.trim() || undefined;
  const given = good ? 1 : bad ? -1 : score;
  if (given === undefined && note === undefined) throw nothingSaid(subject);
  const flagMeant =
    given === undefined ? /^(good|bad)[.!]?$/i.exec(note ?? '')?.[1]?.toLowerCase() : undefined;
  if (flagMeant !== undefined)
    throw wrongUse(
      `a note without a score is a correction, and "${note}" corrects nothing`,
      `run: instar feedback ${subject} --${flagMeant}`,
    );
  return { subject, score: given ?? CORRECTION, ...(note === undefined ? {} : { note }) };
}

function nothingSaid(subject: string): CommandError {
  const flag = /^(good|bad)$/i.exec(subject)?.[1]?.toLowerCase();
  if (flag !== undefined)
    return wrongUse('no score and no note were given', `run: instar feedback --${flag}`);
  const isSubject = subject === 'last' || looksLikeId(subject);
  return wrongUse(
    'no score and no note were given',
    isSubject
      ? `add --good, --bad or a note: instar feedback ${subject} "use ISO dates"`
      : `if "${subject}" is the note: instar feedback last "${subject}"; otherwise add --good, --bad or a note`,
  );
}

interface Subject {
  readonly kind: 'turn' | 'session';
  readonly id: string;
  /** `turn t_1 of claude-code, 3 min ago: “write the export”`. */
  readonly about: string;
  /** Why nothing is learned from it. */
  readonly notLearned?: string;
}

async function findSubject(
  api: DaemonApi,
  typed: string,
  filter: TurnFilter,
  context: CommandContext,
): Promise<Subject> {
  if (typed === 'last') return turnSubject(await findNewestTurn(api, filter, context));
  if (filter.agent !== undefined || filter.project !== undefined)
    throw wrongUse(
      '--agent and --project choose the last turn, and an id was given',
      'leave one of them out',
    );
  const turn = await api.turn(typed);
  if (turn !== undefined) return turnSubject(turn);
  const session = await api.session(typed, { from: 1, limit: 1, hidesAux: true });
  if (session !== undefined) return sessionSubject(session);
  if ((await api.episode(typed)) !== undefined)
    return { kind: 'session', id: typed, about: `episode ${shortId(typed)}` };
  // Feedback may come before its turn is recorded, so a whole id is tried all the same.
  if (WHOLE_TURN.test(typed)) return { kind: 'turn', id: typed, about: `turn ${shortId(typed)}` };
  throw unknownSubject(typed);
}

const WHOLE_TURN = /^t_[0-9a-z]{8}[0-9a-f]{16}$/;

const unknownSubject = (typed: string): CommandError =>
  looksLikeId(typed)
    ? failure(`no turn or session has the id "${typed}"`, 'see: instar sessions list')
    : wrongUse(
        `"${typed}" is neither "last" nor the id of a turn or session`,
        `to say something about the newest turn: instar feedback last "${typed} …"`,
      );

function turnSubject(turn: JsonObject): Subject {
  const id = asString(turn.id) ?? '';
  const label = asString(asObject(turn.project).label);
  const reason = notLearned(turn);
  if (turn.role === 'aux')
    throw failure(
      `turn ${shortId(id)} is an auxiliary call (a title, a count, a summary), and is not rated`,
      `rate another turn of its session: instar sessions show ${shortId(asString(turn.session) ?? '')}`,
    );
  if (turn.runKind === 'train' || turn.runKind === 'practice')
    throw failure(
      `turn ${shortId(id)} is a run of ${turn.runKind}, and its verifiers rate it`,
      'see: instar sessions list',
    );
  return {
    kind: 'turn',
    id,
    about: describe(`turn ${shortId(id)}`, {
      agent: turn.agent,
      label,
      at: turn.endedAt ?? turn.startedAt,
      asked: turn.asked,
    }),
    ...(reason === undefined ? {} : { notLearned: reason }),
  };
}

function sessionSubject(session: JsonObject): Subject {
  const id = asString(session.id) ?? '';
  const turns = Array.isArray(session.turns) ? session.turns : [];
  const label = asString(asObject(session.project).label);
  const { asked, caller } = asObject(turns[0]);
  const reason = notLearned({
    ...compact({ caller, erased: session.erased }),
    isLearnedFrom: mayTeach(asString(caller)),
  });
  return {
    kind: 'session',
    id,
    about: describe(`session ${shortId(id)}`, { agent: session.agent, label, at: session.lastAt, asked }),
    ...(reason === undefined ? {} : { notLearned: reason }),
  };
}

const LONGEST_PREVIEW = 60;

interface Described {
  readonly agent: unknown;
  readonly label: string | undefined;
  readonly at: unknown;
  readonly asked: unknown;
}

function describe(what: string, { agent, label, at, asked }: Described): string {
  const when = relativeTime(Date.parse(String(at)), Date.now());
  const where = label === undefined || label === '' ? '' : ` in ${label}`;
  const words = typeof asked === 'string' ? `: “${clip(asked, LONGEST_PREVIEW)}”` : '';
  return `${what} of ${asString(agent as string) ?? 'an agent'}${where}, ${when}${words}`;
}

function notLearned({ isLearnedFrom, caller, unreadable, erased, policy }: JsonObject): string | undefined {
  if (erased === true) return 'the session was erased';
  if (isLearnedFrom !== false) return undefined;
  if (isFlowPolicy(asString(policy) ?? '')) return 'a flow answered it, not a model';
  if (unreadable !== undefined) return 'a part of the turn could not be read';
  return caller === 'unverified'
    ? 'the provider had not accepted the caller’s credential'
    : 'the caller had no key. Give the client one: instar connect';
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() === '' || !(score >= -1 && score <= 1))
    throw new InvalidArgumentError('Give a number from -1 to 1.');
  return score;
}
