import type { Caller } from '../core/caller.ts';
import type { ChatCommand, ChatCommandAnswer, ChatCommandRequest } from '../core/chat-command.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import type { Recollect, Recollection } from '../core/recollection.ts';
import type { TurnView } from '../core/store.ts';
import { describeTimes } from '../lessons/render-block.ts';
import { chooseQuotes } from '../lessons/shown/show-past.ts';
import { plural, writtenDay } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import { takeBack } from './take-back.ts';

interface ChatCommandOptions {
  /** The lessons as this caller may see and change them. */
  readonly lessonsOf: (caller: Caller) => LessonsApi;
  readonly turn: (id: string) => Promise<TurnView | undefined>;
  readonly recollect: Recollect;
}

/**
 * Answers `instar: why`, `undo`, `list`, `forget …` and questions in the chat. A caller hears of, takes back and forgets only what was learned
 * from turns that it made itself; the owner, everything.
 */
export const createChatCommands =
  ({ lessonsOf, turn, recollect }: ChatCommandOptions) =>
  async ({ caller, command, answered, asker }: ChatCommandRequest): Promise<ChatCommandAnswer> => {
    const lessonsApi = lessonsOf(caller);
    const isOwn = async (lesson: JsonObject): Promise<boolean> => {
      if (caller.kind === 'owner') return true;
      const turns = asArray(asObject(lesson.evidence).turns).flatMap((id) => asString(id) ?? []);
      for (const id of turns) if ((await turn(id))?.caller !== caller.id) return false;
      return turns.length > 0;
    };
    const search = (text: string) => recollect({ ...asker, text });
    return ACTS[command.name]({ lessonsApi, isOwn, answered, command, search });
  };

interface Act {
  readonly lessonsApi: LessonsApi;
  readonly isOwn: (lesson: JsonObject) => Promise<boolean>;
  readonly answered: string | undefined;
  readonly command: ChatCommand;
  readonly search: (question: string) => ReturnType<Recollect>;
}

const OPEN_STATES: ReadonlySet<unknown> = new Set(['proposed', 'trial', 'live']);
const MOST_LISTED = 30;

async function ownLessons({ lessonsApi, isOwn }: Act): Promise<readonly JsonObject[]> {
  const own: JsonObject[] = [];
  for (const { id, state } of await lessonsApi.list({})) {
    if (!OPEN_STATES.has(state)) continue;
    const lesson = await lessonsApi.show(String(id));
    if (lesson !== undefined && (await isOwn(lesson))) own.push(lesson);
  }
  return own.toSorted((a, b) => String(a.createdAt).localeCompare(String(b.createdAt)));
}

const NOTHING = 'Nothing that you taught here is in use.';
const said = (text: string, isDone = false): ChatCommandAnswer => ({ text, isDone });

async function list(act: Act): Promise<ChatCommandAnswer> {
  const own = await ownLessons(act);
  if (own.length === 0)
    return said(`${NOTHING} When an answer is wrong, say what was wrong; Instar learns from it.`);
  const rows = own.slice(-MOST_LISTED).map((lesson) => `- ${titleOf(lesson)}${stateOf(lesson)}`);
  const more = own.length > MOST_LISTED ? [`… and ${own.length - MOST_LISTED} older ones`] : [];
  return said(
    [
      `You taught this (${plural(own.length, 'lesson')}):`,
      '',
      ...rows,
      ...more,
      '',
      'instar: undo takes back the last one; instar: forget … the one that you name.',
    ].join('\n'),
  );
}

function stateOf({ state, adherence }: JsonObject): string {
  if (state === 'proposed') return ' (waits for the owner’s decision)';
  return ` (${asString(asObject(adherence).words) ?? 'not shown yet'})`;
}

async function undo({ lessonsApi, isOwn }: Act): Promise<ChatCommandAnswer> {
  const done = await takeBack(lessonsApi, isOwn);
  if (!done.ok)
    return said(done.why === 'nothing that was learned is in use' ? NOTHING : `Not undone: ${done.why}.`);
  return said(
    done.did === 'dropped'
      ? `Taken back: “${done.title}”. It is not used any more.`
      : `Taken back: “${done.title}” says again what it said before.`,
    true,
  );
}

async function forget(act: Act): Promise<ChatCommandAnswer> {
  const own = await ownLessons(act);
  const named = findNamed(own, act.command.what ?? '');
  const [only] = named;
  if (only === undefined) return forgetWhatWasSaid(act, own);
  if (named.length > 1)
    return said(`Several lessons could be meant; say more of the words of one:\n\n${bullets(named)}`);
  const id = String(only.id);
  const done = await act.lessonsApi.change({
    changes: [{ op: 'retire', id, reason: 'forgotten at a person’s word' }],
    shown: { [id]: String(only.hash) },
    reason: 'forgotten at a person’s word',
  });
  const { status, why } = asObject(asArray(done.results)[0]);
  return status === 'refused'
    ? said(`Not forgotten: ${String(why)}.`)
    : said(`Forgotten: “${titleOf(only)}”. It is not used any more.`, true);
}

/** What was said and is no lesson is forgotten by the session in which it was said, or in plain words. */
async function forgetWhatWasSaid(
  { search, command: { what = '' } }: Act,
  own: readonly JsonObject[],
): Promise<ChatCommandAnswer> {
  const quotes = chooseQuotes(await search(what), () => false);
  if (quotes.length > 0)
    return said(
      [
        'Nothing that you taught here says that, but you said:',
        '',
        ...quotes.map(describeQuote),
        '',
        `Say “Forget ${what}” without “instar:”, and it is quoted no more; its words go with their session: instar sessions erase ${shortId(quotes[0]?.session ?? '')} --yes`,
      ].join('\n'),
    );
  return said(
    own.length === 0 ? NOTHING : `Nothing that you taught here says that. You taught:\n\n${bullets(own)}`,
  );
}

const describeQuote = ({ at, text, times, session }: Recollection): string =>
  `- ${writtenDay(new Date(at))}: “${text}”${describeTimes(times)} (session ${shortId(session)})`;

const bullets = (lessons: readonly JsonObject[]): string =>
  lessons
    .slice(0, MOST_LISTED)
    .map((lesson) => `- ${titleOf(lesson)}`)
    .join('\n');

const titleOf = ({ title, name }: JsonObject): string => asString(title) ?? asString(name) ?? '';

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** By name or title; else those whose title or text has all of the words. */
function findNamed(lessons: readonly JsonObject[], what: string): readonly JsonObject[] {
  const asked = wordsOf(what).join(' ');
  const exact = lessons.filter(
    (lesson) =>
      wordsOf(titleOf(lesson)).join(' ') === asked || wordsOf(String(lesson.name)).join(' ') === asked,
  );
  if (exact.length > 0 || asked === '') return exact;
  return lessons.filter((lesson) => {
    const words = new Set(wordsOf(`${titleOf(lesson)} ${String(lesson.name)} ${String(lesson.content)}`));
    return asked.split(' ').every((word) => words.has(word));
  });
}

const NOT_YET = 'Instar has recorded no answer in this session yet.';

async function why({ lessonsApi, answered }: Act): Promise<ChatCommandAnswer> {
  const explanation = answered === undefined ? undefined : await lessonsApi.why(answered);
  if (explanation === undefined) return said(NOT_YET);
  const shown = asArray(explanation.ranking).map(asObject);
  if (shown.length === 0) return said('No lesson was shown for the last answer.');
  const rows = shown.map((lesson) => `- ${titleOf(lesson)}: ${asString(lesson.because) ?? ''}`);
  return said([`Shown for the last answer (${plural(shown.length, 'lesson')}):`, '', ...rows].join('\n'));
}

/** What was said in earlier sessions, in the words of the person who asks. */
async function recall({ search, command: { what = '' } }: Act): Promise<ChatCommandAnswer> {
  const quotes = chooseQuotes(await search(what), () => false);
  if (quotes.length === 0)
    return said(
      'You said nothing about that in earlier conversations with this agent. instar: help lists what you can ask.',
    );
  return said(['You said:', '', ...quotes.map(describeQuote)].join('\n'));
}

const ACTS: Readonly<Record<ChatCommand['name'], (act: Act) => Promise<ChatCommandAnswer>>> = {
  list,
  undo,
  forget,
  why,
  recall,
};
