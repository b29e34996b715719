import { createLruMap, type LruMap } from '../../base/lru-map.ts';
import { within } from '../../base/within.ts';
import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Recall, RecallQuery, RecallResult } from '../../core/recall.ts';
import type { DomainPattern } from '../recall/domain.ts';
import {
  type ChangedLessons,
  type ComposedUpdate,
  composeBlockUpdate,
  decideBlockUpdate,
  type OpenBlockUpdate,
  roomForLessons,
  type ShowRequest,
  withRevisedLessons,
} from './block-update.ts';
import {
  isServedElsewhere,
  type LeftTurn,
  promptStateOf,
  readLeftTurns,
  type SharedSessions,
  withLeftState,
} from './left-turns.ts';
import {
  isBeginning,
  type PromptThread,
  type RecallChoice,
  type RecalledFact,
  restoreThreads,
  revisionsIn,
  type ShownText,
  type ToldRevision,
} from './prompt-thread.ts';
import {
  addFixes,
  addStatements,
  type Cut,
  type Fixes,
  findCut,
  joinRecalls,
  type LateTask,
  nothingRecalled,
  placeForLate,
  type ReadStatements,
  stillLate,
} from './show-fixes.ts';

/**
 * Decides which lessons each request is shown, without invalidating the provider's prompt cache: a thread's block is frozen
 * at its first turn; later changes of the library, and lessons for a further task, are appended to the user's newest message
 * and stay there; a new block is made only when the cache is lost anyway. Synchronous when nothing has to be recalled.
 */
export interface ShownBlocks {
  show(request: ShowRequest): ShownText | Promise<ShownText>;
  /** Sessions that were shown an erased text begin again. Without `erased` every session is read from the record again. */
  forget(erased?: ErasedTexts): void;
}

/** What an erasure has removed. */
export interface ErasedTexts {
  /** The session that was erased. */
  readonly session: string;
  isErased(shown: ToldRevision): boolean;
}

export interface ShownBlocksOptions {
  readonly recall: Recall;
  /** Told of a task that will probably be recalled, as early as possible. */
  prepare?(query: Pick<RecallQuery, 'text'>): void;
  /** The generation in force. */
  generation(): number;
  /** The number of lessons in the scope of the query. */
  lessonCount(query: ShowRequest['query'], now: number): number;
  changedSince(generation: number): ChangedLessons;
  lesson(id: string): Lesson | undefined;
  /** Where lessons stand; the system prompt unless it is given. */
  readonly place?: () => LessonPlace;
  /** The rules that name the domain of a request, also where there is no lesson to recall. */
  readonly domains?: readonly DomainPattern[];
  /** Repairs that are shown when their error comes up; absent: none. */
  readonly fixes?: Fixes;
  /** What the user of a session has said: shown again when the client's history loses it; absent: nothing is. */
  readonly statements?: ReadStatements;
  /** Called once for every decision. */
  record(fact: RecalledFact, text: string | undefined): void;
  /** The recorded decisions of a session, oldest first; called once per session that is not in memory. */
  restore(session: string): Promise<readonly RecallChoice[]>;
  /** Other gateways serve turns of the same sessions; absent: nobody else does. */
  readonly shared?: SharedSessions;
  /** After this time without a request no provider has the thread's prompt in its cache. */
  readonly idleMs?: number;
  /** How long a request waits for the recorded decisions. */
  readonly patienceMs?: number;
  readonly mostSessions?: number;
}

const HOUR_MS = 3_600_000;
const PATIENCE_MS = 2000;
const MOST_SESSIONS = 5000;
const MOST_THREADS = 256;
/** A request waits for the answer each time. */
const MOST_ASKED = 2;

interface Session {
  readonly slots: LruMap<string, Slot>;
  readonly heldOut: Set<string>;
  /** Lessons that it was shown before a restart. */
  readonly shown: Set<string>;
  /** Every text of a lesson that is in one of its prompts, or may be in the next one. */
  readonly told: Map<string, ToldRevision>;
  /** Whether the recorded decisions are in memory; a promise while they are loaded. */
  isRestored: boolean | Promise<void>;
  /** The newest message when they were loaded. */
  restoredAt?: string | undefined;
}

/** The state of a thread. */
interface Slot {
  thread: PromptThread | undefined;
  lastAt: number;
  /** The newest message of the last request, where other gateways serve the session, too. */
  newest?: string | undefined;
  /** The bytes of the thread's last request; undefined for a restored thread. */
  size?: number | undefined;
  /** The first link of the conversation while it was whole. */
  beginning?: string | undefined;
  cut?: Cut | undefined;
  /** The newest message that was searched for errors: sent again, it stays as it was. */
  searched?: string | undefined;
  /** A recall in progress, shared by all requests of the thread. */
  recalling?: Promise<void> | undefined;
  /** A recall whose decision is not stored yet. */
  draft?: Draft | undefined;
  /** The task whose embedding came too late for its turn. */
  late?: LateTask | undefined;
}

interface Draft {
  readonly purpose: string;
  readonly generation: number;
  readonly recalled: RecallResult;
  /** What is still owed after it. */
  readonly late: LateTask | undefined;
}

export function createShownBlocks(options: ShownBlocksOptions): ShownBlocks {
  const {
    idleMs = HOUR_MS,
    patienceMs = PATIENCE_MS,
    mostSessions = MOST_SESSIONS,
    place: placeNow,
    shared,
  } = options;
  const sessions = createLruMap<string, Session>(mostSessions);

  function open(id: string): Session {
    const session: Session = {
      slots: createLruMap(MOST_THREADS),
      heldOut: new Set(),
      shown: new Set(),
      told: new Map(),
      isRestored: false,
    };
    sessions.set(id, session);
    return session;
  }

  async function restore(session: Session, request: ShowRequest): Promise<void> {
    const { session: id, now } = request;
    session.restoredAt = shared && request.conversation()?.links.at(-1);
    // Before the decisions: a turn is recorded together with its own.
    const left = shared === undefined ? [] : await readLeftTurns(shared, request, patienceMs);
    const past = await restoreThreads(() => options.restore(id), patienceMs);
    shared?.forgetLots(id);
    for (const [name, thread] of past.threads) {
      const last = left.findLast(({ prompt }) => prompt.thread === name);
      const isKnown = session.slots.get(name)?.thread !== undefined;
      if (last !== undefined) session.slots.set(name, slotOf(thread, last));
      else if (!isKnown) session.slots.set(name, { thread, lastAt: now });
    }
    for (const lesson of past.heldOut) session.heldOut.add(lesson);
    for (const lesson of past.shown) session.shown.add(lesson);
    tell(session, past.told);
    session.isRestored = true;
  }

  /** A session that is not in memory is mostly a new one. */
  function prepare({ query, now, conversation }: ShowRequest): void {
    if (options.prepare === undefined || options.lessonCount(query, now) === 0) return;
    const text = conversation()?.task;
    if (text !== undefined && text !== '') options.prepare({ text });
  }

  /** `hasWaited`: the finished recall is used, even if the library has changed again. */
  function show(request: ShowRequest, hasWaited: boolean): ShownText | Promise<ShownText> {
    const generation = options.generation();
    const session = sessions.get(request.session) ?? open(request.session);
    // Before the first generation there is nothing to restore but what was said.
    if (session.isRestored === false && (generation > 0 || options.statements !== undefined)) {
      session.isRestored = restore(session, request);
      prepare(request);
    }
    if (typeof session.isRestored === 'object') return session.isRestored.then(() => show(request, false));
    const slot = session.slots.get(request.thread) ?? addSlot(session, request.thread);
    if (slot.recalling) return slot.recalling.then(() => show(request, true));
    if (shared !== undefined && isBehind(session, slot, request)) {
      session.isRestored = restore(session, request);
      return session.isRestored.then(() => show(request, false));
    }

    const { heldOut } = session;
    const place = placeNow?.() ?? 'system';
    const { thread, lastAt } = slot;
    const { changedSince } = options;
    const lessons = options.lessonCount(request.query, request.now);
    const situation = { thread, lastAt, generation, idleMs, lessons, heldOut, place, changedSince };
    const decided = decideBlockUpdate(situation, request);
    const isOwed = decided.kind === 'keep' && slot.late !== undefined && lessons > 0;
    const need = (isOwed ? placeForLate(decided.thread, request.conversation()) : undefined) ?? decided;
    const cut = lookForCut(slot, request, need.kind === 'freeze');
    if (cut !== undefined && cut.quotes === undefined && cut.asked < MOST_ASKED) {
      slot.recalling = askStatements(cut, request.session).then(() => {
        slot.recalling = undefined;
      });
      return slot.recalling.then(() => show(request, true));
    }
    if (need.kind === 'keep') return settle(session, slot, need, request, generation);

    const purpose = `${need.kind} ${request.query.most ?? ''} ${request.conversation()?.links.at(-1)}`;
    let draft = slot.draft;
    if (draft?.purpose !== purpose || !(hasWaited || draft.generation === generation)) {
      const isWorthAsking = need.kind === 'add' ? need.isNewTask || need.changed.size > 0 : lessons > 0;
      if (isWorthAsking) {
        const owed = need.kind === 'add' ? slot.late : undefined;
        slot.recalling = recallFor(need, request, session, { owed, isOwed }).then((answer) => {
          slot.draft = { purpose, generation, ...answer };
          const { lessons: found, index } = answer.recalled;
          tell(
            session,
            [...found, ...index].map(({ id, revision }) => ({ lesson: id, revision })),
          );
          slot.recalling = undefined;
        });
        return slot.recalling.then(() => show(request, true));
      }
      const recalled = nothingRecalled(request, options.domains);
      draft = { purpose, generation, recalled, late: slot.late };
    }
    const made = { generation: draft.generation, heldOut, place };
    const settled = composeBlockUpdate(need, draft.recalled, request, made);
    if (!request.peek) slot.late = draft.late;
    return settle(session, slot, settled, request, draft.generation);
  }

  /** Whether another gateway has served the thread since; asked once for each message. */
  const isBehind = ({ restoredAt }: Session, { newest }: Slot, request: ShowRequest): boolean =>
    restoredAt !== request.conversation()?.links.at(-1) && isServedElsewhere(newest, request);

  /** A cut of the thread's history whose loss is not made good yet. A history is looked at only when it is shorter than before. */
  function lookForCut(slot: Slot, request: ShowRequest, isBeginning: boolean): Cut | undefined {
    const { size, peek } = request;
    if (options.statements === undefined || size === undefined) return undefined;
    const isOpen = slot.cut?.isDone === false;
    if (!isBeginning && !isOpen && slot.size !== undefined && size >= slot.size) return undefined;
    const conversation = request.conversation();
    if (conversation === undefined || conversation.links.length === 0) return undefined;
    const beginning = slot.beginning ?? slot.thread?.first;
    const found = findCut(conversation, beginning);
    if (!peek) slot.beginning = found === undefined ? conversation.links[0] : beginning;
    if (found === undefined) return undefined;
    // A new beginning of the thread has lost what was added.
    if (slot.cut?.link === found) slot.cut.isDone &&= !isBeginning;
    else slot.cut = { link: found, asked: 0, isDone: false };
    return slot.cut.isDone ? undefined : slot.cut;
  }

  /** Resolves in time, with or without the answer. A late answer counts for the next request. */
  async function askStatements(cut: Cut, session: string): Promise<void> {
    cut.asked++;
    const answer = options.statements?.(session).then(
      (quotes) => {
        cut.quotes = quotes;
      },
      () => undefined,
    );
    await within(Promise.resolve(answer), patienceMs);
  }

  /** What the newest task needs, and what an earlier one is owed. A recall that rejects counts as empty: serving does not depend on it. */
  async function recallFor(
    need: OpenBlockUpdate,
    request: ShowRequest,
    { shown, heldOut }: Session,
    { owed, isOwed }: { readonly owed: LateTask | undefined; readonly isOwed: boolean },
  ): Promise<Pick<Draft, 'recalled' | 'late'>> {
    const { query, session, now } = request;
    const among = need.kind === 'add' && !need.isNewTask ? { among: need.changed } : {};
    const most = roomForLessons(need, query.most);
    const ask = async (text: string, own: Partial<RecallQuery>): Promise<RecallResult> => {
      try {
        const drawn = { shown: [...shown], heldOut: [...heldOut] };
        return await options.recall({ ...compact({ ...query, ...own, most }), text, session, drawn }, now);
      } catch {
        return nothingRecalled(request, options.domains);
      }
    };
    const task = request.conversation()?.task ?? '';
    const earlier = owed === undefined || (owed.task === task && !isOwed) ? undefined : owed;
    const before = earlier && (await ask(earlier.task, {}));
    const late = earlier && before && stillLate(before, earlier);
    if (isOwed && before) return { recalled: before, late };
    const newest = await ask(task, among);
    const recalled = before === undefined ? newest : joinRecalls(newest, before, most);
    const isAsked = need.kind === 'freeze' || need.isNewTask;
    return {
      recalled: need.kind === 'add' ? withRevisedLessons(recalled, need, options.lesson) : recalled,
      late: late ?? (isAsked ? stillLate(newest, owed?.task === task ? owed : { task, tries: 0 }) : owed),
    };
  }

  function settle(
    session: Session,
    slot: Slot,
    settled: ComposedUpdate,
    request: ShowRequest,
    generation: number,
  ): ShownText {
    const { peek, now, size } = request;
    const said = sayAgain(session, slot, settled.thread, request, generation);
    const before = said === undefined ? settled : { ...settled, thread: said.thread };
    const fixed = fixErrors(session, slot, before, request, generation);
    const { thread } = fixed ?? before;
    if (!peek) {
      slot.thread = thread;
      slot.lastAt = now;
      if (size !== undefined) slot.size = size;
      if (settled.choice !== undefined) slot.draft = undefined;
      for (const choice of [settled.choice, said?.choice, fixed?.choice]) {
        if (choice === undefined) continue;
        for (const lesson of choice.fact.heldOut) session.heldOut.add(lesson);
        tell(session, revisionsIn(choice.fact));
        options.record(choice.fact, choice.text);
      }
    }
    const shown = thread.text.generation === generation ? thread.text : { ...thread.text, generation };
    if (shared === undefined || peek) return shown;
    const prompt = promptStateOf(thread, request);
    slot.newest = prompt?.link;
    return prompt === undefined ? shown : { ...shown, prompt };
  }

  /** Undefined when nothing that was said is to be shown again. */
  function sayAgain(
    { heldOut }: Session,
    { cut }: Slot,
    thread: PromptThread,
    request: ShowRequest,
    generation: number,
  ): ComposedUpdate | undefined {
    if (cut === undefined || cut.isDone || request.size === undefined) return undefined;
    const place = placeNow?.() ?? 'system';
    const withheld = [...heldOut].flatMap((id) => options.lesson(id)?.text.description ?? []);
    // What is only counted settles nothing.
    const tried = request.peek ? { ...cut } : cut;
    return addStatements(tried, { thread, place, generation, heldOut: withheld }, request);
  }

  /** Undefined when no repair is to be added. */
  function fixErrors(
    { shown, heldOut }: Session,
    slot: Slot,
    { thread, choice }: ComposedUpdate,
    request: ShowRequest,
    generation: number,
  ): ComposedUpdate | undefined {
    const { fixes } = options;
    if (!fixes?.isAny(request.query, request.now)) return undefined;
    const newest = request.conversation()?.links.at(-1);
    // A new beginning has no text at its newest message.
    const isSearched = newest === slot.searched && !isBeginning(choice);
    if (newest === undefined || isSearched) return undefined;
    if (!request.peek) slot.searched = newest;
    const place = placeNow?.() ?? 'system';
    return addFixes({ fixes, thread, shown, heldOut, place, generation }, request);
  }

  const forget: ShownBlocks['forget'] = (erased) => {
    if (erased === undefined) return sessions.clear();
    sessions.keepOnly(
      (id, { told, isRestored }) =>
        id !== erased.session && typeof isRestored === 'boolean' && ![...told.values()].some(erased.isErased),
    );
  };
  return { show: (request) => show(request, false), forget };
}

/** A thread as the gateway that served its last turn had it. */
const slotOf = (thread: PromptThread, { prompt, at }: LeftTurn): Slot => ({
  thread: withLeftState(thread, prompt),
  lastAt: at,
  newest: prompt.link,
  searched: prompt.link,
});

function tell({ told }: Session, revisions: readonly ToldRevision[]): void {
  for (const one of revisions) told.set(`${one.lesson} ${one.revision}`, one);
}

function addSlot({ slots }: Session, name: string): Slot {
  const slot: Slot = { thread: undefined, lastAt: 0 };
  slots.set(name, slot);
  return slot;
}
