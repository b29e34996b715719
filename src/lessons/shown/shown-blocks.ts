import { createLruMap, type LruMap } from '../../base/lru-map.ts';
import { within } from '../../base/within.ts';
import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Recall, RecallQuery, RecallResult } from '../../core/recall.ts';
import type { Recollect } from '../../core/recollection.ts';
import type { DomainPattern } from '../recall/domain.ts';
import { isPersonsWord } from '../told.ts';
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
  type PromptRevision,
  type PromptThread,
  type RecallChoice,
  restoreThreads,
  revisionsIn,
  type ShownText,
} from './prompt-thread.ts';
import { addReminder, addReminders, hasCheckedRule, remindersIn, type SessionRules } from './remind-rules.ts';
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
import { addPast, askPast, type PastQuestion, readPastQuestion } from './show-past.ts';

/**
 * Decides which lessons each request is shown, without invalidating the provider's prompt cache: a thread's block is frozen
 * at its first turn; later changes of the library, and lessons for a further task, are appended to the user's newest message
 * and stay there; a new block is made only when the cache is lost anyway.
 */
export interface ShownBlocks {
  show(request: ShowRequest): Promise<ShownText>;
  /** Sessions that were shown an erased text begin again. Without `erased` every session is read from the record again. */
  forget(erased?: ErasedTexts): void;
}

/** What an erasure has removed. */
export interface ErasedTexts {
  /** The session that was erased. */
  readonly session: string;
  isErased(shown: PromptRevision): boolean;
}

export interface ShownBlocksOptions {
  readonly recall: Recall;
  /** The generation in force. */
  generation(): number;
  /** The number of lessons in the scope of the query. */
  lessonCount(query: ShowRequest['query'], now: number): number;
  changedSince(generation: number): ChangedLessons;
  lesson(id: string): Lesson | undefined;
  /** The rules that name the domain of a request, also where there is no lesson to recall. */
  readonly domains?: readonly DomainPattern[];
  /** Repairs that are shown when their error comes up; absent: none. */
  readonly fixes?: Fixes;
  /** What the user of a session has said: shown again when the client's history loses it; absent: nothing is. */
  readonly statements?: ReadStatements;
  /** How answers kept to the rules: one that was broken is shown again; absent: none is. */
  readonly rules?: SessionRules;
  /** What the asker said in earlier sessions; absent: no message gets it. */
  readonly recollect?: Recollect;
  /** Called once for every decision. */
  record(choice: RecallChoice): void;
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
/**
 * A message that follows its answer at once waits so long for the answer's check. People take longer to answer, and programs get what was broken
 * behind the message after it.
 */
const CHECK_MS = 300;
/** A question waits so long for what was said before: less than a model takes to begin. */
const PAST_MS = 300;
/** Longer conversations are read only where something else needs it: they are mostly work of agents. */
const MOST_BYTES_READ = 64_000;

interface Session {
  readonly slots: LruMap<string, Slot>;
  readonly heldOut: Set<string>;
  /** Lessons that it was shown before a restart. */
  readonly shown: Set<string>;
  /** Every text of a lesson that is in one of its prompts, or may be in the next one. */
  readonly texts: Map<string, PromptRevision>;
  /** The earlier sessions that its prompts quote, or may quote in the next one. */
  readonly quoted: Set<string>;
  /** The rules that were shown again. */
  reminders: Map<string, readonly string[]>;
  /** Whether the recorded decisions are in memory. */
  isRestored: boolean;
  /** While they are loaded. */
  restoring?: Promise<void> | undefined;
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
  /** The newest message of the last request with rules that have checks: sent again, it stays as it was. */
  reminded?: string | undefined;
  /** The message that waited for the check of the answer before it. */
  awaited?: string | undefined;
  /** The turn of the last request. */
  lastTurn?: string | undefined;
  /** A recall in progress, shared by all requests of the thread. */
  recalling?: Promise<void> | undefined;
  /** A recall whose decision is not stored yet. */
  draft?: Draft | undefined;
  /** The task whose embedding came too late for its turn. */
  late?: LateTask | undefined;
  /** The newest message, where it asks something. */
  question?: PastQuestion | undefined;
}

interface Draft {
  readonly purpose: string;
  readonly generation: number;
  readonly recalled: RecallResult;
  /** What is still owed after it. */
  readonly late: LateTask | undefined;
}

type Blocks = ShownBlocksOptions &
  Required<Pick<ShownBlocksOptions, 'idleMs' | 'patienceMs'>> & {
    readonly sessions: LruMap<string, Session>;
  };

export function createShownBlocks(options: ShownBlocksOptions): ShownBlocks {
  const sessions = createLruMap<string, Session>(options.mostSessions ?? MOST_SESSIONS);
  const blocks: Blocks = { idleMs: HOUR_MS, patienceMs: PATIENCE_MS, ...options, sessions };
  return {
    show: async (request) => {
      for (let hasWaited = false; ; ) {
        const step = nextStep(blocks, request, hasWaited);
        if (step.kind === 'shown') return step.text;
        await step.until;
        hasWaited = step.isRecall;
      }
    },
    forget: (erased) => {
      if (erased === undefined) return sessions.clear();
      sessions.keepOnly(
        (id, { texts, quoted, restoring }) =>
          id !== erased.session &&
          !quoted.has(erased.session) &&
          restoring === undefined &&
          ![...texts.values()].some(erased.isErased),
      );
    },
  };
}

/** What a request gets, or what it waits for before it asks again. */
type Step =
  | { readonly kind: 'shown'; readonly text: ShownText }
  | { readonly kind: 'wait'; readonly until: Promise<void>; readonly isRecall: boolean };

/** `hasWaited`: a finished recall is used, even if the library has changed again. */
function nextStep(blocks: Blocks, request: ShowRequest, hasWaited: boolean): Step {
  const { sessions, shared, statements } = blocks;
  const generation = blocks.generation();
  const session = sessions.get(request.session) ?? openSession(sessions, request.session);
  // Before the first generation there is nothing to restore but what was said.
  if (!session.isRestored && (generation > 0 || statements !== undefined))
    session.restoring ??= restore(blocks, session, request);
  if (session.restoring !== undefined) return { kind: 'wait', until: session.restoring, isRecall: false };
  const slot = session.slots.get(request.thread) ?? addSlot(session, request.thread);
  if (slot.recalling) return { kind: 'wait', until: slot.recalling, isRecall: true };
  if (shared !== undefined && isBehind(session, slot, request)) {
    session.restoring = restore(blocks, session, request);
    return { kind: 'wait', until: session.restoring, isRecall: false };
  }
  // The prompt cache holds what a thread began with, wherever lessons stand by now.
  const place = slot.thread?.place ?? request.place ?? 'system';
  return updateThread(blocks, { session, slot, request, generation, place }, hasWaited);
}

/** A request at its thread, with the generation and the place of lessons that are in force. */
interface Visit {
  readonly session: Session;
  readonly slot: Slot;
  readonly request: ShowRequest;
  readonly generation: number;
  readonly place: LessonPlace;
}

function updateThread(blocks: Blocks, begun: Visit, hasWaited: boolean): Step {
  const { session, slot, request, generation } = begun;
  const { idleMs, changedSince } = blocks;
  const { heldOut } = session;
  const { thread, lastAt } = slot;
  const lessons = blocks.lessonCount(request.query, request.now);
  const situation = {
    thread,
    lastAt,
    generation,
    idleMs,
    lessons,
    heldOut,
    place: begun.place,
    isBroken: (id: string) => blocks.rules?.brokenIn(request.session).has(id) === true,
    changedSince,
  };
  const decided = decideBlockUpdate(situation, request);
  const isOwed = decided.kind === 'keep' && slot.late !== undefined && lessons > 0;
  const need = (isOwed ? placeForLate(decided.thread, request.conversation()) : undefined) ?? decided;
  const place = need.kind === 'freeze' ? (request.place ?? 'system') : begun.place;
  const visit: Visit = { ...begun, place };
  const cut = lookForCut(blocks, visit, need.kind === 'freeze');
  if (cut !== undefined && cut.quotes === undefined && cut.asked < MOST_ASKED)
    return waitForRecall(slot, askStatements(blocks, cut, request.session));
  const checks = awaitChecks(blocks, visit);
  if (checks !== undefined) return waitForRecall(slot, checks);
  const past = lookBack(blocks, visit, need.kind === 'freeze');
  if (past !== undefined) return waitForRecall(slot, past);
  if (need.kind === 'keep') return { kind: 'shown', text: settle(blocks, visit, need) };

  const purpose = `${need.kind} ${request.query.most ?? ''} ${request.conversation()?.links.at(-1)}`;
  let draft = slot.draft;
  if (draft?.purpose !== purpose || !(hasWaited || draft.generation === generation)) {
    const isWorthAsking = need.kind === 'add' ? need.isNewTask || need.changed.size > 0 : lessons > 0;
    if (isWorthAsking)
      return waitForRecall(slot, recallDraft(blocks, visit, { need, isOwed }, { purpose, generation }));
    const recalled = nothingRecalled(request, blocks.domains);
    draft = { purpose, generation, recalled, late: slot.late };
  }
  const settled = composeBlockUpdate(need, draft.recalled, request, {
    generation: draft.generation,
    heldOut,
    place,
  });
  if (!request.peek) slot.late = draft.late;
  return { kind: 'shown', text: settle(blocks, { ...visit, generation: draft.generation }, settled) };
}

/** All requests of the thread wait for the same one. */
function waitForRecall(slot: Slot, recall: Promise<void>): Step {
  const until = recall.then(() => {
    slot.recalling = undefined;
  });
  slot.recalling = until;
  return { kind: 'wait', until, isRecall: true };
}

function openSession(sessions: Blocks['sessions'], id: string): Session {
  const session: Session = {
    slots: createLruMap(MOST_THREADS),
    heldOut: new Set(),
    shown: new Set(),
    texts: new Map(),
    quoted: new Set(),
    reminders: new Map(),
    isRestored: false,
  };
  sessions.set(id, session);
  return session;
}

async function restore(blocks: Blocks, session: Session, request: ShowRequest): Promise<void> {
  const { shared, patienceMs } = blocks;
  const { session: id, now } = request;
  session.restoredAt = shared && request.conversation()?.links.at(-1);
  // Before the decisions: a turn is recorded together with its own.
  const left = shared === undefined ? [] : await readLeftTurns(shared, request, patienceMs);
  const past = await restoreThreads(() => blocks.restore(id), patienceMs);
  shared?.forgetLots(id);
  for (const [name, thread] of past.threads) {
    const last = left.findLast(({ prompt }) => prompt.thread === name);
    const isInMemory = session.slots.get(name)?.thread !== undefined;
    if (last !== undefined) session.slots.set(name, slotOf(thread, last));
    else if (!isInMemory) session.slots.set(name, { thread, lastAt: now });
  }
  for (const lesson of past.heldOut) if (!isLaw(blocks, lesson)) session.heldOut.add(lesson);
  for (const lesson of past.shown) session.shown.add(lesson);
  addTexts(session, past.revisions);
  session.reminders = remindersIn(past.choices);
  session.isRestored = true;
  session.restoring = undefined;
}

/** What a person told is withheld from nobody, also where an earlier version had drawn a lot for it. */
function isLaw(blocks: Blocks, id: string): boolean {
  const lesson = blocks.lesson(id);
  return lesson !== undefined && isPersonsWord(lesson);
}

/** Whether another gateway has served the thread since; asked once for each message. */
const isBehind = ({ restoredAt }: Session, { newest }: Slot, request: ShowRequest): boolean =>
  restoredAt !== request.conversation()?.links.at(-1) && isServedElsewhere(newest, request);

/** A cut of the thread's history whose loss is not made good yet. A history is looked at only when it is shorter than before. */
function lookForCut(
  { statements }: Blocks,
  { slot, request }: Visit,
  isNewBeginning: boolean,
): Cut | undefined {
  const { size, peek } = request;
  if (statements === undefined || size === undefined) return undefined;
  const isOpen = slot.cut?.isDone === false;
  if (!isNewBeginning && !isOpen && slot.size !== undefined && size >= slot.size) return undefined;
  const conversation = request.conversation();
  if (conversation === undefined || conversation.links.length === 0) return undefined;
  const beginning = slot.beginning ?? slot.thread?.first;
  const link = findCut(conversation, beginning);
  if (!peek) slot.beginning = link === undefined ? conversation.links[0] : beginning;
  if (link === undefined) return undefined;
  // A new beginning of the thread has lost what was added.
  if (slot.cut?.link === link) slot.cut.isDone &&= !isNewBeginning;
  else slot.cut = { link, asked: 0, isDone: false };
  return slot.cut.isDone ? undefined : slot.cut;
}

/** Resolves in time, with or without the answer. A late answer counts for the next request. */
async function askStatements({ statements, patienceMs }: Blocks, cut: Cut, session: string): Promise<void> {
  cut.asked++;
  const answer = statements?.(session).then(
    (quotes) => {
      cut.quotes = quotes;
    },
    () => undefined,
  );
  await within(Promise.resolve(answer), patienceMs);
}

/** The search for what a question is about, once for each; undefined when there is nothing to wait for. */
function lookBack({ recollect }: Blocks, visit: Visit, isNewBeginning: boolean): Promise<void> | undefined {
  const { session, slot, request } = visit;
  const { size, peek } = request;
  if (recollect === undefined || peek || size === undefined) return undefined;
  if (!isNewBeginning && size > MOST_BYTES_READ) return undefined;
  const question = readPastQuestion(request.conversation());
  if (question?.link === slot.question?.link) return undefined;
  // Of a thread that was restored it is unknown whether the message was sent before: it stays as it was.
  const isOld = slot.thread !== undefined && slot.thread.asked === undefined && !isNewBeginning;
  slot.question = question;
  if (question === undefined || isOld) return undefined;
  return within(askPast(recollect, question, request), PAST_MS).then((past = []) => {
    question.past = past;
    for (const one of past) session.quoted.add(one.session);
  });
}

interface Need {
  readonly need: OpenBlockUpdate;
  /** Only what an earlier task is owed. */
  readonly isOwed: boolean;
}

async function recallDraft(
  blocks: Blocks,
  visit: Visit,
  need: Need,
  made: Pick<Draft, 'purpose' | 'generation'>,
): Promise<void> {
  const answer = await recallFor(blocks, visit, need);
  visit.slot.draft = { ...made, ...answer };
  const { lessons, index } = answer.recalled;
  addTexts(
    visit.session,
    [...lessons, ...index].map(({ id, revision }) => ({ lesson: id, revision })),
  );
}

/** What the newest task needs, and what an earlier one is owed. A recall that rejects counts as empty: serving does not depend on it. */
async function recallFor(
  blocks: Blocks,
  { request, session: { shown, heldOut }, slot, place }: Visit,
  { need, isOwed }: Need,
): Promise<Pick<Draft, 'recalled' | 'late'>> {
  const { query, session, now } = request;
  const among = need.kind === 'add' && !need.isNewTask ? { among: need.changed } : {};
  const most = roomForLessons(need, query.most);
  const ask = async (text: string, own: Partial<RecallQuery>): Promise<RecallResult> => {
    try {
      const drawn = { shown: [...shown], heldOut: [...heldOut] };
      return await blocks.recall(
        { ...compact({ ...query, ...own, most, place }), text, session, drawn },
        now,
      );
    } catch {
      return nothingRecalled(request, blocks.domains);
    }
  };
  const task = request.conversation()?.task ?? '';
  const owed = need.kind === 'add' ? slot.late : undefined;
  const earlier = owed === undefined || (owed.task === task && !isOwed) ? undefined : owed;
  // A first look has listed lines already: the second one adds what deserves its body.
  const before = earlier && { ...(await ask(earlier.task, {})), index: [] };
  const late = earlier && before && stillLate(before, earlier);
  if (isOwed && before) return { recalled: before, late };
  const newest = await ask(task, among);
  const recalled = before === undefined ? newest : joinRecalls(newest, before, most);
  const isAsked = need.kind === 'freeze' || need.isNewTask;
  return {
    recalled: need.kind === 'add' ? withRevisedLessons(recalled, need, blocks.lesson) : recalled,
    late: late ?? (isAsked ? stillLate(newest, owed?.task === task ? owed : { task, tries: 0 }) : owed),
  };
}

/** Stores the decision, unless the prompt is only counted, and says what the request gets. */
function settle(blocks: Blocks, visit: Visit, settled: ComposedUpdate): ShownText {
  const { session, slot, request, generation } = visit;
  const { peek, now, size } = request;
  const repeated = repeatStatements(blocks, visit, settled.thread);
  const before = repeated === undefined ? settled : { ...settled, thread: repeated.thread };
  const fixed = fixErrors(blocks, visit, before) ?? before;
  const reminded = remindOfRules(blocks, visit, fixed, settled.choice) ?? fixed;
  const past = quotePast(visit, reminded);
  const { thread } = past ?? reminded;
  if (!peek) {
    slot.thread = thread;
    slot.lastAt = now;
    slot.lastTurn = request.turn;
    if (size !== undefined) slot.size = size;
    if (settled.choice !== undefined) slot.draft = undefined;
    const fix = fixed === before ? undefined : fixed.choice;
    const reminder = reminded === fixed ? undefined : reminded.choice;
    for (const choice of [settled.choice, repeated?.choice, fix, reminder, past?.choice]) {
      if (choice === undefined) continue;
      addReminder(session.reminders, choice.fact);
      for (const lesson of choice.fact.heldOut) session.heldOut.add(lesson);
      addTexts(session, revisionsIn(choice.fact));
      blocks.record(choice);
    }
  }
  const shown = thread.text.generation === generation ? thread.text : { ...thread.text, generation };
  if (blocks.shared === undefined || peek) return shown;
  const prompt = promptStateOf(thread, request);
  slot.newest = prompt?.link;
  return prompt === undefined ? shown : { ...shown, prompt };
}

/** What the user said before a cut, shown again; undefined when there is nothing to repeat. */
function repeatStatements(
  blocks: Blocks,
  { session, slot: { cut }, request, generation, place }: Visit,
  thread: PromptThread,
): ComposedUpdate | undefined {
  if (cut === undefined || cut.isDone || request.size === undefined) return undefined;
  const heldOut = [...session.heldOut].flatMap((id) => blocks.lesson(id)?.text.description ?? []);
  // What is only counted settles nothing.
  const tried = request.peek ? { ...cut } : cut;
  return addStatements(tried, { thread, place, generation, heldOut }, request);
}

/** What a question is about, from earlier sessions, once; undefined when there is nothing to add. */
function quotePast(
  { slot: { question }, request, generation, place }: Visit,
  { thread }: ComposedUpdate,
): ComposedUpdate | undefined {
  if (question === undefined || request.conversation()?.links.at(-1) !== question.link) return undefined;
  return addPast(question, { thread, place, generation }, request);
}

/** Undefined when no repair is to be added. */
function fixErrors(
  { fixes }: Blocks,
  { session: { shown, heldOut }, slot, request, generation, place }: Visit,
  { thread, choice }: ComposedUpdate,
): ComposedUpdate | undefined {
  if (!fixes?.isAny(request.query, request.now)) return undefined;
  const newest = request.conversation()?.links.at(-1);
  // A new beginning has no text at its newest message.
  const isSearched = newest === slot.searched && !isBeginning(choice);
  if (newest === undefined || isSearched) return undefined;
  if (!request.peek) slot.searched = newest;
  return addFixes({ fixes, thread, shown, heldOut, place, generation }, request);
}

/** Undefined when no rule is to be shown again. */
function remindOfRules(
  { rules, lesson }: Blocks,
  { session: { reminders }, slot, request, generation, place }: Visit,
  { thread }: ComposedUpdate,
  choice: RecallChoice | undefined,
): ComposedUpdate | undefined {
  // The answers of sub-agents are not checked.
  if (rules === undefined || request.size === undefined || !hasCheckedRule(thread, lesson)) return undefined;
  const newest = request.conversation()?.newest?.link;
  const { reminded, lastTurn } = slot;
  if (!request.peek) slot.reminded = newest ?? reminded;
  // Of a thread that was restored it is unknown whether the message was sent before; a new beginning has the rules in it.
  if (reminded === undefined || reminded === newest || isBeginning(choice)) return undefined;
  return addReminders({ rules, thread, place, generation, reminders, lastTurn, lesson }, request);
}

/** The check of an answer that this message follows at once; undefined when there is nothing to wait for. */
function awaitChecks({ rules, lesson }: Blocks, { slot, request }: Visit): Promise<void> | undefined {
  const { thread, reminded, awaited } = slot;
  if (rules === undefined || thread === undefined || request.peek || request.size === undefined)
    return undefined;
  if (reminded === undefined || !rules.isBehind() || !hasCheckedRule(thread, lesson)) return undefined;
  const view = request.conversation();
  const newest = view?.newestIsUser ? view.newest?.link : undefined;
  if (newest === undefined || newest === reminded || newest === awaited) return undefined;
  slot.awaited = newest;
  return within(rules.catchUp(), CHECK_MS).catch(() => undefined);
}

/** A thread as the gateway that served its last turn had it. */
const slotOf = (thread: PromptThread, { prompt, at }: LeftTurn): Slot => ({
  thread: withLeftState(thread, prompt),
  lastAt: at,
  newest: prompt.link,
  searched: prompt.link,
  reminded: prompt.link,
});

function addTexts({ texts }: Session, revisions: readonly PromptRevision[]): void {
  for (const one of revisions) texts.set(`${one.lesson} ${one.revision}`, one);
}

function addSlot({ slots }: Session, name: string): Slot {
  const slot: Slot = { thread: undefined, lastAt: 0 };
  slots.set(name, slot);
  return slot;
}
