import type { RecallResult } from '../../core/recall.ts';
import { cleanQuery } from '../recall/clean-query.ts';
import { type DomainPattern, namedDomain } from '../recall/domain.ts';
import type { ConversationView, OpenBlockUpdate, ShowRequest } from './block-update.ts';
import type { PromptThread } from './prompt-thread.ts';

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
