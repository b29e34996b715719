import { InvalidArgumentError } from 'commander';
import { homeAt } from '../config/home.ts';
import { readStoreUrl } from '../config/store-url.ts';
import type { DaemonApi, ErasureReport } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import type { NamedLesson } from '../core/store.ts';
import { closestWord } from '../text/closest-word.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import { quoteWord, shortId } from '../text/short-id.ts';
import { clip } from '../text/truncate.ts';
import {
  type CommandContext,
  type CommandError,
  type DeclareCommand,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { findNewestTurn, findProject } from './newest-turn.ts';
import { dim, type Part, type Printer } from './print.ts';
import { printSession } from './show-session.ts';
import { onApi } from './with-api.ts';

export const declareSessions: DeclareCommand = (sessions, act) => {
  sessions
    .command('list')
    .description('List sessions, newest first, with what was asked.')
    .option('--limit <n>', 'maximum number of sessions (default: 20)', parseCount)
    .option('--before <session>', 'only sessions older than this one, or than a time such as 2026-11-16')
    .option('--since <time>', 'only sessions that were active at or after a time such as 2026-11-16')
    .option('--until <time>', 'only sessions that began before a time; a day counts whole')
    .option('--agent <name>', 'only sessions of this agent')
    .option('--project <project>', 'only sessions of this project: its folder, label or id')
    .option('--practice', 'also the attempts of practice')
    .addHelpText('after', '\nExample:\n  $ instar sessions list --project .\n')
    .action(act(listSessions));
  sessions
    .command('show')
    .argument('<session>', 'id of a session, or last: the newest one of the project you stand in')
    .option('--full', 'print whole texts, with tool calls and their results')
    .option('--limit <n>', 'maximum number of turns (default: 20, the last ones)', parseCount)
    .option('--from <n>', 'begin at the turn with this number', parseCount)
    .option('--all', 'also show auxiliary calls, such as titles and token counts')
    .description('Show a session: what was asked and answered in each turn, and how it was rated.')
    .addHelpText('after', '\nExample:\n  $ instar sessions show last --full\n')
    .action(act(showSession));
  sessions
    .command('erase')
    .argument('<session>', 'id of a session, or last')
    .option('--yes', 'confirm: this cannot be undone')
    .description('Erase the content of a session permanently.')
    .action(act(eraseSession));
};

interface ListOptions {
  readonly limit?: number;
  readonly before?: string;
  readonly since?: string;
  readonly until?: string;
  readonly agent?: string;
  readonly project?: string;
  readonly practice?: true;
}

const DEFAULT_LIMIT = 20;
/** A daemon answers with at most this many sessions. */
const MOST_AT_ONCE = 500;

const listSessions = onApi(async (options: ListOptions, context) => {
  const { api, printer } = context;
  const { limit = DEFAULT_LIMIT, since, until, agent, project, practice } = options;
  const filter = {
    ...(since ? { from: timeNamed(since) } : {}),
    ...(until ? { to: isDay(until) ? endOfDay(timeNamed(until)) : timeNamed(until) } : {}),
    ...(practice ? { practice } : {}),
    ...(agent ? { agent } : {}),
    ...(project ? { project: await findProject(api, project, context) } : {}),
  };
  const list: JsonObject[] = [];
  let before =
    options.before === undefined
      ? undefined
      : await timeBefore(api, await sessionNamed(options.before, api, context));
  while (list.length < limit) {
    const most = Math.min(limit - list.length, MOST_AT_ONCE);
    const cursor = before === undefined ? {} : { before };
    const page = await api.sessions({ limit: most, preview: true, ...filter, ...cursor });
    list.push(...page);
    before = timeOf(page.at(-1)?.lastAt);
    if (page.length < most || before === undefined) break;
  }
  printer.document(list);
  if (list.length === 0) printer.note(...nothingListed(options));
  else {
    printSessions(printer, list);
    const last = before !== undefined && (await api.sessions({ limit: 1, ...filter, before })).length > 0;
    if (last)
      printer.line(dim(`More: instar sessions list${flagsOf(options)} --before ${nameOf(list.at(-1))}`));
  }
});

/** The filters again, for the command that lists the next page. */
const flagsOf = ({ limit, since, until, agent, project, practice }: ListOptions): string =>
  [
    practice && ' --practice',
    since && ` --since ${quoteWord(since)}`,
    until && ` --until ${quoteWord(until)}`,
    agent && ` --agent ${quoteWord(agent)}`,
    project && ` --project ${quoteWord(project)}`,
    limit && ` --limit ${limit}`,
  ]
    .filter(Boolean)
    .join('');

const nameOf = (session: JsonObject | undefined): string => quoteWord(shortId(asString(session?.id) ?? ''));

function nothingListed({ before, since, until, agent, project }: ListOptions): readonly string[] {
  const of = [
    agent && ` of agent "${agent}"`,
    project && ` in project "${project}"`,
    before && ` before ${before}`,
    since && ` since ${since}`,
    until && ` until ${until}`,
  ].filter(Boolean);
  return of.length > 0
    ? [`No session${of.join('')} is recorded.`]
    : ['Nothing is recorded yet. Point an agent at the gateway: instar connect'];
}

/** A session's last activity, or a time that a person wrote. */
async function timeBefore(api: DaemonApi, text: string): Promise<number> {
  const session = await api.session(text, { limit: 0 });
  const time = timeOf(session?.lastAt) ?? readTime(text);
  if (time !== undefined) return time;
  throw failure(`"${text}" is neither a session nor a time`, `give the id of a session, or ${A_TIME}`);
}

const A_TIME = 'a time such as 2026-11-16 or "2026-11-16 14:00"';

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text);

/** Local; a day is its midnight. */
const readTime = (text: string): number | undefined => timeOf(isDay(text) ? `${text}T00:00` : text);

function timeNamed(text: string): number {
  const time = readTime(text);
  if (time !== undefined) return time;
  throw wrongUse(`"${text}" is not a time`, `give ${A_TIME}`);
}

/** The next midnight, also where a day has not 24 hours. */
const endOfDay = (midnight: number): number => {
  const day = new Date(midnight);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
};

const timeOf = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
};

function printSessions(printer: Printer, list: readonly JsonObject[]): void {
  const hasProjects = list.some(({ project }) => project !== undefined);
  printer.table(
    ['SESSION', 'LAST', hasProjects ? 'AGENT/PROJECT' : 'AGENT', 'TURNS', 'ASKED'],
    list,
    (session) => [
      shortId(asString(session.id) ?? ''),
      relativeTime(timeOf(session.lastAt) ?? Number.NaN, Date.now()),
      [session.agent, asObject(session.project).label].filter(Boolean).join('/'),
      asNumber(session.turns) ?? 0,
      askedPart(session),
    ],
  );
}

/** `[bad] write the export`: what was asked, after the last word of a person about it, or else how it went. */
function askedPart({ erased, asked, rewards, score, runKind }: JsonObject): Part {
  if (erased === true) return dim('(erased)');
  const text = `${runKind === undefined ? '' : `[${String(runKind)}] `}${asString(asked) ?? '(no text)'}`;
  const given = asArray(rewards).map(asObject);
  const own = given.findLast(({ source }) => source === 'person') ?? given.at(-1);
  const word = own === undefined ? undefined : WORDS[Math.sign(asNumber(own.score) ?? 0)];
  if (word !== undefined) return { text: `[${word}] ${text}`, style: word === 'good' ? 'green' : 'red' };
  return typeof score === 'number' ? `[went ${score < 0.5 ? 'badly' : 'well'}] ${text}` : text;
}

const WORDS: Readonly<Record<number, 'good' | 'bad'>> = { 1: 'good', [-1]: 'bad' };

interface ShowOptions extends Positional {
  readonly full?: true;
  readonly limit?: number;
  readonly from?: number;
  readonly all?: true;
}

const showSession = onApi(async (options: ShowOptions, context) => {
  const { printer } = context;
  const { args, full, limit, from, all } = options;
  const { api, keysApi, lessonsApi } = context;
  const typed = await sessionNamed(args[0] ?? '', api, context);
  const isPart = limit !== undefined || from !== undefined;
  const session = await api.session(typed, {
    ...(printer.json && !isPart ? {} : { limit: limit ?? DEFAULT_LIMIT }),
    ...(from === undefined ? {} : { from }),
    hidesAux: !printer.json && all !== true,
    full: full === true,
  });
  if (session === undefined) throw await unknownSession(api, typed);
  printer.document(session);
  const turns = asArray(session.turns).map(asObject);
  const hasLessons = turns.some(({ lessons }) => asArray(lessons).length > 0);
  const named = hasLessons ? await lessonsApi.list({}) : [];
  printSession(printer, session, {
    now: Date.now(),
    isFull: full === true,
    keys: namesOf(await keysApi.list()),
    lessons: namesOf(named),
  });
});

const namesOf = (list: readonly JsonObject[]): ReadonlyMap<string, string> =>
  new Map(list.map(({ id, title, name }) => [asString(id) ?? '', asString(title) ?? asString(name) ?? '']));

/** `last`: of the newest turn of the project you stand in, else of all. */
export const sessionNamed = async (
  typed: string,
  api: DaemonApi,
  context: CommandContext,
): Promise<string> =>
  typed === 'last' ? (asString((await findNewestTurn(api, {}, context)).session) ?? typed) : typed;

const eraseSession = onApi(async ({ args, yes }: Positional & { readonly yes?: true }, context) => {
  const { api } = context;
  const typed = await sessionNamed(args[0] ?? '', api, context);
  const session = await api.session(typed, { from: 1, limit: 1, hidesAux: true });
  if (session === undefined) throw await unknownSession(api, typed);
  const id = asString(session.id) ?? typed;
  if (!yes) {
    const asked = asString(asArray(session.turns).map(asObject)[0]?.asked);
    const about = `${String(session.agent)}, ${plural(asNumber(session.turnCount) ?? 0, 'turn')}`;
    throw wrongUse(
      `this erases session ${shortId(id)} permanently (${about}${asked === undefined ? '' : `: “${clip(asked, 60)}”`})`,
      `confirm with: instar sessions erase ${quoteWord(shortId(id))} --yes`,
    );
  }
  const report = await api.erase(id);
  context.printer.document({ id, ...report });
  for (const line of describeErasure(id, report)) context.printer.line(line);
  if (readStoreUrl(homeAt(context.homeDir).configFile) !== 'sqlite') context.printer.line(SERVER_KEEPS);
});

/** What no program can erase from outside. */
const SERVER_KEEPS =
  'The write-ahead log of PostgreSQL has its text until it is recycled; archived logs and backups of the server keep it.';

/** `Erased session s_1 (12 turns).` and what became of the lessons and copies. */
function describeErasure(id: string, { erased, lessons, copies }: ErasureReport): readonly string[] {
  const names = (list: readonly NamedLesson[]): string => list.map(({ name }) => `"${name}"`).join(', ');
  const { retired, cleaned } = lessons;
  return [
    `Erased session ${shortId(id)} (${plural(erased, 'turn')}); only the erasure itself stays on record.`,
    ...(retired.length === 0
      ? []
      : [`Dropped ${plural(retired.length, 'lesson')} that rested on it alone: ${names(retired)}.`]),
    ...(cleaned.length === 0
      ? []
      : [`Removed its words from ${plural(cleaned.length, 'lesson')}: ${names(cleaned)}.`]),
    ...(copies === 0 ? [] : [`Erased it from ${plural(copies, 'copy', 'copies')} of the record.`]),
  ];
}

/** Names the session that was probably meant. */
export async function unknownSession(api: DaemonApi, typed: string): Promise<CommandError> {
  const ids = (await api.sessions({ limit: MOST_AT_ONCE })).map(({ id }) => asString(id) ?? '');
  const closest = closestWord(typed, [...ids, ...ids.map(shortId)]);
  return failure(
    `no session has the id "${typed}"${closest === undefined ? '' : `; closest: ${shortId(closest)}`}`,
    'see: instar sessions list',
  );
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 999999.');
  return Number(text);
}
