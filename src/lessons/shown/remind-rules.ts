import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import { type RemindedRule, renderReminder } from '../render-block.ts';
import type { ComposedUpdate, ConversationView, ShowRequest } from './block-update.ts';
import { extendThread, hashShownText, type PromptThread, type RecallChoice } from './prompt-thread.ts';

/** What the checks of answers say about the rules of sessions. */
export interface SessionRules {
  /** The rules that a session broke, each with the turn of its last break. */
  brokenIn(session: string): ReadonlyMap<string, string>;
  /** The rules whose check applies to what the agent of a session did last. */
  applying(session: string): readonly string[];
  /** Whether there may be answers that are not checked yet. */
  isBehind(): boolean;
  /** Resolves when all answers so far are checked. */
  catchUp(): Promise<void>;
}

/** What a session was reminded of, by rule: the turns of the breaks, and an empty name for a reminder without one. */
type Reminders = ReadonlyMap<string, readonly string[]>;

/** A rule that is broken time and again does not become clearer by a fourth repetition, and each one costs tokens in every later turn. */
const MOST_OF_RULE = 3;
/** Behind one message: more would be a list to skim. */
const MOST_AT_ONCE = 3;
/**
 * How far back a rule may stand before it is said once more: about the length at which models begin to weigh what is near more than what they
 * were told first, and long enough that most conversations get no reminder.
 */
const FAR_ANSWERS = 20;
const FAR_TOKENS = 16_000;
const BYTES_PER_TOKEN = 4;
const NO_BREAK = '';

interface RuleSituation {
  readonly rules: SessionRules;
  readonly thread: PromptThread;
  readonly place: LessonPlace;
  readonly generation: number;
  readonly reminders: Reminders;
  /** The turn that gave the conversation's last answer, where it is known. */
  readonly lastTurn: string | undefined;
  lesson(id: string): Lesson | undefined;
}

/** Whether one of the rules that a thread was shown has a check. */
export const hasCheckedRule = (
  { inForce }: PromptThread,
  lesson: (id: string) => Lesson | undefined,
): boolean => [...inForce.keys()].some((id) => lesson(id)?.check !== undefined);

/**
 * Adds rules of the thread that an answer did not keep to, or that stand far back and are about the work at hand, behind the newest message.
 * Each break is answered once. Undefined when there is nothing to add.
 */
export function addReminders(situation: RuleSituation, request: ShowRequest): ComposedUpdate | undefined {
  const view = request.conversation();
  const after = view?.newest?.link;
  if (view === undefined || after === undefined) return undefined;
  const broken = brokenRules(situation, request.session);
  const reminded = broken.length > 0 ? broken : distantRules(situation, request.session, view);
  if (reminded.length === 0) return undefined;
  const { thread, place, generation } = situation;
  const { session, turn, thread: name, query } = request;
  const rules = reminded.slice(0, MOST_AT_ONCE);
  const text = renderReminder(rules, place);
  const lines = rules.map(({ lesson }) => lesson.id).filter((id) => thread.inForce.get(id)?.isLine === true);
  const choice: RecallChoice = {
    text,
    fact: {
      type: 'lessons-recalled',
      session,
      turn,
      thread: name,
      generation,
      why: broken.length > 0 ? 'broken' : 'reminder',
      after,
      block: hashShownText([text]),
      lessons: rules.map(({ lesson }) => lesson.id),
      ...(lines.length === 0 ? {} : { lines }),
      heldOut: [],
      domain: thread.domain ?? { name: query.domain ?? 'general', reason: 'default' },
      considered: rules.map(({ lesson, brokenIn }) =>
        compact({
          id: lesson.id,
          revision: lesson.revision,
          name: lesson.text.name,
          relevance: 1,
          activation: 1,
          verdict: 'shown',
          brokenIn,
        }),
      ),
      engine: 'none',
    },
  };
  return { thread: compact({ ...extendThread(thread, choice, after), asked: thread.asked }), choice };
}

interface Reminded extends RemindedRule {
  readonly brokenIn?: string;
}

/** A rule that the thread was shown as it is now. What has changed since comes with the changes of the library. */
function ruleInForce({ thread, lesson }: RuleSituation, id: string): Lesson | undefined {
  const rule = lesson(id);
  const isInForce = rule?.state === 'trial' || rule?.state === 'live';
  return isInForce && thread.inForce.get(id)?.revision === rule.revision ? rule : undefined;
}

function brokenRules(situation: RuleSituation, session: string): readonly Reminded[] {
  const { rules, reminders, lastTurn } = situation;
  return [...rules.brokenIn(session)].flatMap(([id, brokenIn]): readonly Reminded[] => {
    const past = (reminders.get(id) ?? []).filter((turn) => turn !== NO_BREAK);
    const lesson = ruleInForce(situation, id);
    if (lesson === undefined || past.includes(brokenIn) || past.length >= MOST_OF_RULE) return [];
    return [{ lesson, brokenIn, broken: brokenIn === lastTurn ? 'last' : 'earlier' }];
  });
}

function distantRules(
  situation: RuleSituation,
  session: string,
  view: ConversationView,
): readonly Reminded[] {
  const { rules, reminders, thread } = situation;
  return rules.applying(session).flatMap((id): readonly Reminded[] => {
    const lesson = reminders.has(id) ? undefined : ruleInForce(situation, id);
    return lesson !== undefined && isFar(thread.inForce.get(id)?.link, view) ? [{ lesson }] : [];
  });
}

/** `link`: of the message that has the rule's text; undefined: it stands before the conversation. */
const isFar = (link: string | undefined, { answersAfter, bytesAfter }: ConversationView): boolean =>
  (answersAfter?.(link) ?? 0) >= FAR_ANSWERS || (bytesAfter?.(link) ?? 0) >= FAR_TOKENS * BYTES_PER_TOKEN;

/** What the facts of a session say it was reminded of. */
export function remindersIn(choices: readonly RecallChoice[]): Map<string, readonly string[]> {
  const reminders = new Map<string, readonly string[]>();
  for (const { fact } of choices) addReminder(reminders, fact);
  return reminders;
}

export function addReminder(reminders: Map<string, readonly string[]>, fact: RecallChoice['fact']): void {
  if (fact.why !== 'broken' && fact.why !== 'reminder') return;
  for (const { id, brokenIn = NO_BREAK } of fact.considered)
    reminders.set(id, [...(reminders.get(id) ?? []), brokenIn]);
}
