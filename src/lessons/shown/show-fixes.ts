import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { RecallResult } from '../../core/recall.ts';
import { errorKeyOf } from '../../text/error-key.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { bothEnds } from '../../text/lines.ts';
import { oneLine } from '../../text/visible-text.ts';
import { fixedErrorOf } from '../check-overlay.ts';
import type { Holdout } from '../effect/hold-out.ts';
import { cleanQuery } from '../recall/clean-query.ts';
import { type DomainPattern, namedDomain } from '../recall/domain.ts';
import { renderDelta, renderQuotes, renderSaid } from '../render-block.ts';
import { admit, audienceOf } from '../scope.ts';
import { isPersonsWord } from '../told.ts';
import type { ComposedUpdate, ConversationView, OpenBlockUpdate, ShowRequest } from './block-update.ts';
import { extendThread, hashShownText, type PromptThread, type RecallChoice } from './prompt-thread.ts';

/** The fixes of a library: repairs that are shown when their error comes up again. */
export interface Fixes {
  /** Whether one is in the scope of a query. Without any, a conversation is not read for errors. */
  isAny(query: ShowRequest['query'], now: number): boolean;
  /** Those in the scope of a query whose error is in a text, each with its error. */
  find(query: ShowRequest['query'], texts: readonly string[], now: number): readonly FoundFix[];
  readonly lotOf: Holdout['lotOf'];
}

interface FoundFix {
  readonly lesson: Lesson;
  readonly error: string;
}

export interface FixesOptions {
  readonly library: Pick<Library, 'shown'>;
  /** The errors in a text, as `Kind @ file:line`. */
  readonly digestsOf: (text: string) => readonly string[];
  readonly lotOf: Holdout['lotOf'];
  /** A text could not be read: the request goes on without a fix. */
  readonly onFault: (error: unknown) => void;
}

export function createFixes({ library, digestsOf, lotOf, onFault }: FixesOptions): Fixes {
  let followed: readonly Lesson[] | undefined;
  let all: readonly FoundFix[] = [];
  const inScope = (query: ShowRequest['query'], now: number): readonly FoundFix[] => {
    const shown = library.shown(now);
    if (shown !== followed) {
      all = shown.flatMap((lesson) => {
        const error = fixedErrorOf(lesson);
        return error === undefined || error === '' ? [] : [{ lesson, error }];
      });
      followed = shown;
    }
    return all.length === 0 ? all : all.filter(({ lesson }) => isFor(lesson, query));
  };
  return {
    lotOf,
    isAny: (query, now) => inScope(query, now).length > 0,
    find: (query, texts, now) => {
      const fixes = inScope(query, now);
      if (fixes.length === 0) return fixes;
      try {
        const parts = texts.slice(-MOST_TEXTS).map((text) => bothEnds(text, MOST_SEARCHED));
        const errors = new Set(parts.flatMap(digestsOf).map(errorKeyOf));
        return fixes.filter(({ error }) => errors.has(error));
      } catch (error) {
        onFault(error);
        return [];
      }
    },
  };
}

/** A request waits for it: of a long output only its ends are searched, where errors stand. */
const MOST_SEARCHED = 30_000;
const MOST_TEXTS = 8;

/** Where a private one was learned is read from the record elsewhere: here it is for the agent that its scope names. */
function isFor(lesson: Lesson, query: ShowRequest['query']): boolean {
  const admittance = admit(audienceOf(lesson, undefined), query, query.domain);
  return admittance === 'yes' || admittance === 'shared';
}

/** Of one message. More than that would be a list to search in, no answer. */
const MOST_FIXES = 2;

interface FixSituation {
  readonly fixes: Fixes;
  readonly thread: PromptThread;
  /** Of the session. */
  readonly shown: ReadonlySet<string>;
  readonly heldOut: ReadonlySet<string>;
  readonly place: LessonPlace;
  readonly generation: number;
}

/**
 * Adds the fixes for errors in what came since the model's last message, behind the newest message. Each is added once to a thread,
 * and stays where it is. Undefined when there is none to add.
 */
export function addFixes(
  { fixes, thread, shown, heldOut, place, generation }: FixSituation,
  { session, turn, thread: name, query, now, conversation }: ShowRequest,
): ComposedUpdate | undefined {
  const newest = conversation()?.newest;
  if (newest === undefined) return undefined;
  const drawn = { shown: [...shown], heldOut: [...heldOut] };
  const lotOf = (lesson: Lesson) =>
    isPersonsWord(lesson) ? 'unmeasured' : fixes.lotOf({ session, drawn }, lesson.id);
  const found = fixes
    .find(query, newest.texts, now)
    .filter(({ lesson: { id } }) => !thread.inForce.has(id) && !heldOut.has(id))
    .slice(0, MOST_FIXES)
    .map((one) => ({ ...one, lot: lotOf(one.lesson) }));
  if (found.length === 0) return undefined;
  const taken = found.filter(({ lot }) => lot !== 'held-out');
  const lessons = taken.map(({ lesson }) => lesson);
  const lead = `Seen before: ${[...new Set(taken.map(({ error }) => error))].join('; ')}. This repaired it then; use it where it fits.`;
  const isFirst = thread.text.hash === undefined;
  const text =
    lessons.length === 0
      ? undefined
      : place === 'message'
        ? `${lead}\n\n${renderSaid(lessons)}`
        : renderDelta({ lessons, withdrawn: [], isFirst, lead });
  const choice: RecallChoice = {
    text,
    fact: {
      type: 'lessons-recalled',
      session,
      turn,
      thread: name,
      generation,
      why: 'error',
      after: newest.link,
      ...(text === undefined ? {} : { block: hashShownText([text]) }),
      lessons: lessons.map(({ id }) => id),
      heldOut: found.filter(({ lot }) => lot === 'held-out').map(({ lesson }) => lesson.id),
      domain: { name: query.domain ?? 'general', reason: query.domain === undefined ? 'default' : 'header' },
      considered: found.map(({ lesson: { id, revision, text: words }, error, lot }) => ({
        id,
        revision,
        name: words.name,
        relevance: 1,
        activation: 1,
        error,
        verdict: lot === 'held-out' ? 'held-out' : 'shown',
      })),
      engine: 'none',
    },
  };
  return { thread: extendThread(thread, choice, newest.link), choice };
}

/** A task whose embedding came too late for its turn. Its lessons are shown behind a following message, once. */
export interface LateTask {
  readonly task: string;
  /** How often its lessons were looked for. */
  readonly tries: number;
}

/** Without a model every task is late. */
const MOST_TRIES = 3;

/** The task that stays owed after a recall of it; undefined when it was answered. */
export const stillLate = ({ isLate }: RecallResult, { task, tries }: LateTask): LateTask | undefined =>
  isLate === true && tries < MOST_TRIES ? { task, tries: tries + 1 } : undefined;

/**
 * Where lessons that come late can stand: behind what came since the model's last message, also a tool's result. Undefined for
 * a message that was sent before, which stays unchanged.
 */
export function placeForLate(
  thread: PromptThread,
  conversation: ConversationView | undefined,
): OpenBlockUpdate | undefined {
  const after = conversation?.newest?.link;
  if (after === undefined || thread.asked === undefined || thread.asked === after) return undefined;
  const known = new Set(conversation?.links);
  const isTaken = thread.text.additions.some(({ link }) => link === after || !known.has(link));
  if (isTaken) return undefined;
  return { kind: 'add', thread, after, changed: new Set(), isNewTask: true, withdrawn: [] };
}

/** What either found: the first one's order, and a body before a line. */
export function joinRecalls(one: RecallResult, other: RecallResult, most: number | undefined): RecallResult {
  const lessons = [
    ...new Map([...one.lessons, ...other.lessons].map((lesson) => [lesson.id, lesson])).values(),
  ];
  const shown = most === undefined ? lessons : lessons.slice(0, most);
  const bodies = new Set(shown.map(({ id }) => id));
  const lines = [...one.index, ...other.index].filter(({ id }) => !bodies.has(id));
  const unmeasured = [...new Set([...(one.unmeasured ?? []), ...(other.unmeasured ?? [])])];
  const looked = new Map([...other.considered, ...one.considered].map((each) => [each.id, each]));
  for (const each of other.considered)
    if (each.verdict === 'shown' && bodies.has(each.id)) looked.set(each.id, each);
  return {
    ...one,
    lessons: shown,
    index: [...new Map(lines.map((lesson) => [lesson.id, lesson])).values()],
    heldOut: [...new Set([...one.heldOut, ...other.heldOut])],
    ...(unmeasured.length === 0 ? {} : { unmeasured }),
    considered: [...looked.values()],
  };
}

/** Where nothing is to be recalled, or cannot be: only the domain of the request is known. */
export function nothingRecalled(
  { query, session, conversation }: ShowRequest,
  domains: readonly DomainPattern[] = [],
): RecallResult {
  const text = domains.length === 0 ? '' : cleanQuery(conversation()?.task ?? '');
  const domain = namedDomain({ ...query, text, session }, text, domains) ?? NO_DOMAIN;
  return { lessons: [], index: [], heldOut: [], domain, considered: [], engine: 'none' };
}

const NO_DOMAIN: RecallResult['domain'] = { name: 'general', reason: 'default' };

/** What the user of a session has said plainly, letter by letter, oldest first. Rejects when it cannot be read. */
export type ReadStatements = (session: string) => Promise<readonly string[]>;

/** Where a client has shortened a conversation, and what its user had said until then. */
export interface Cut {
  /** The link of the summary, or of the message that the rest begins with. */
  readonly link: string;
  /** Undefined until it is known. */
  quotes?: readonly string[];
  /** How often it was asked for. */
  asked: number;
  /** What was lost is shown again, or nothing was. */
  isDone: boolean;
}

/**
 * The link of a cut: a message of the client says that it stands for others, or a conversation with replies does not begin as it did.
 * One that begins anew, without a reply, is what the user went back to: what they had said after that is taken back.
 */
export function findCut(
  { links, summaryLink, hasReply }: ConversationView,
  beginning: string | undefined,
): string | undefined {
  if (summaryLink !== undefined) return summaryLink;
  return beginning !== undefined && links[0] !== beginning && hasReply === true ? links[0] : undefined;
}

/** Words of a person, and not a second memory: what a session states in a few sentences. */
const MOST_TOKENS = 400;

interface StatementSituation {
  readonly thread: PromptThread;
  readonly place: LessonPlace;
  readonly generation: number;
  /** The texts of lessons that are held out from the session. */
  readonly heldOut: readonly string[];
}

/**
 * Adds what the user said before the cut and what no message, shown text or held-out lesson contains, to the user's newest message. Undefined
 * when nothing is to be added, or there is no place for it yet: then the cut is not done.
 */
export function addStatements(
  cut: Cut,
  { thread, place, generation, heldOut }: StatementSituation,
  { session, turn, thread: name, query, conversation }: ShowRequest,
): ComposedUpdate | undefined {
  const view = conversation();
  if (cut.quotes === undefined || view === undefined) return undefined;
  const { block = '', additions } = thread.text;
  const texts = [block, ...additions.map(({ text }) => text), ...heldOut].map(oneLine);
  const isKnown = (quote: string): boolean =>
    texts.some((text) => text.includes(oneLine(quote))) || view.says?.(quote) === true;
  const lost = newestWithin(
    cut.quotes.filter((quote) => !isKnown(quote)),
    MOST_TOKENS,
  );
  // Never to a message that may have been sent before, and not to the result of a tool.
  const after = view.newestIsUser ? view.links.at(-1) : undefined;
  cut.isDone = lost.length === 0 || after !== undefined;
  if (lost.length === 0 || after === undefined) return undefined;
  const text = renderQuotes(lost, place);
  const choice: RecallChoice = {
    text,
    fact: {
      type: 'lessons-recalled',
      session,
      turn,
      thread: name,
      generation,
      why: 'shortened',
      after,
      block: hashShownText([text]),
      lessons: [],
      heldOut: [],
      considered: [],
      engine: 'none',
      domain: thread.domain ?? { name: query.domain ?? 'general', reason: 'default' },
    },
  };
  return { thread: compact({ ...extendThread(thread, choice, after), asked: thread.asked }), choice };
}

function newestWithin(quotes: readonly string[], most: number): readonly string[] {
  let room = most;
  const kept: string[] = [];
  for (const quote of quotes.toReversed()) {
    room -= estimateTokens(quote);
    if (room < 0) break;
    kept.unshift(quote);
  }
  return kept;
}
