import { mayTeach } from '../../core/caller.ts';
import type { Fact, StoredFact } from '../../core/fact.ts';
import type { RecordedChange, Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { NewFact, Records } from '../../core/store.ts';
import { REVIEW_JOB } from '../../lessons/review-job.ts';
import { scopeCovers } from '../../lessons/scope.ts';
import { lessonLabel } from './observe-session.ts';
import { type EventScope, leaderOf, observedEvent } from './observed-event.ts';

interface FactContext {
  readonly records: Pick<Records, 'turn'>;
  readonly library: Pick<Library, 'lesson' | 'history'>;
}

const TYPES: ReadonlySet<Fact['type']> = new Set([
  'library-changed',
  'practice-session',
  'job-ended',
  'turn-end',
  'cycle-end',
]);

/** Whether a fact may be one that is observed. Cheap: it is asked for every fact. */
export const isObserved = ({ fact }: StoredFact): boolean =>
  TYPES.has(fact.type) && (fact.type !== 'turn-end' || hasRunOut(fact));

/** What a fact teaches, as events. The library must have the changes of the fact. */
export async function observeFact(
  { at, fact }: StoredFact,
  { records, library }: FactContext,
): Promise<readonly NewFact[]> {
  switch (fact.type) {
    case 'library-changed':
      return fact.changes.flatMap((change) => changeEvents(change, fact, library, at));
    case 'practice-session':
      return fact.op === 'closed' && fact.end === 'done' ? [refreshed(`practice ${fact.run}`, at)] : [];
    case 'job-ended':
      return fact.job === REVIEW_JOB && fact.end === 'done' && fact.isOver
        ? [refreshed(`review ${fact.run}`, at)]
        : [];
    case 'cycle-end':
      return fact.outcome === 'stuck' && fact.cause === 'budget'
        ? [ranOut({ agent: 'instar' }, { mark: `day ${Math.floor(at / DAY_MS)}`, by: 'learn.budget' }, at)]
        : [];
    case 'turn-end': {
      const view = hasRunOut(fact) ? await records.turn(fact.turn) : undefined;
      if (view === undefined || !mayTeach(view.caller)) return [];
      const { session, agent, runKind, caller } = view;
      // Once a day for a session: agents try again.
      const mark = `day ${Math.floor(at / DAY_MS)}`;
      return [ranOut({ session, agent, runKind, caller }, { mark, by: view.policy, turn: fact.turn }, at)];
    }
    default:
      return [];
  }
}

const DAY_MS = 86_400_000;

const refreshed = (mark: string, at: number): NewFact =>
  observedEvent('teaching_refresh', { agent: 'instar' }, { mark, data: { of: mark.split(' ', 1)[0] } }, at);

const ranOut = (
  scope: EventScope,
  { mark, ...data }: { readonly mark: string; readonly by: string; readonly turn?: string },
  at: number,
): NewFact => observedEvent('budget_incident', scope, { mark, data }, at);

const QUOTA = /quota|billing|credit|balance|budget|spend(?:ing)? limit|payment/i;

/** The provider wants money, or a quota is used up. A plain rate limit passes by itself. */
const hasRunOut = ({ httpStatus, failure = '' }: Fact & { readonly type: 'turn-end' }): boolean =>
  httpStatus === 402 || (httpStatus === 429 && QUOTA.test(failure));

function changeEvents(
  change: RecordedChange,
  { by, set }: Fact & { readonly type: 'library-changed' },
  library: FactContext['library'],
  at: number,
): readonly NewFact[] {
  if (change.op === 'merge' || !('id' in change)) return [];
  const { id } = change;
  const scope = library.lesson(id)?.text.scope ?? {};
  const report = (
    kind: 'human_approval' | 'guidance_noisy' | 'stale_guidance' | 'successful_bubble',
    why: string,
    agent = plainName(scope.agent),
  ): NewFact =>
    observedEvent(
      kind,
      { agent, runKind: plainName(scope.runKind) },
      { mark: `${set} ${id}`, label: lessonLabel(id), data: { lesson: id, why } },
      at,
    );
  if (change.op === 'move')
    return by.kind === 'person' && (change.to === 'live' || change.to === 'trial')
      ? [report('human_approval', change.to)]
      : [];
  if (change.op === 'retire') {
    if (change.reason.startsWith('harmful:')) return [report('guidance_noisy', 'harmful')];
    return change.supersededBy !== undefined || /^the user has said otherwise/.test(change.reason)
      ? [report('stale_guidance', 'superseded')]
      : [];
  }
  if (change.op !== 'revise') return [];
  const before = library.history(id).findLast(({ revision }) => revision === change.from)?.text.scope;
  const after = library.history(id).findLast(({ revision }) => revision === change.from + 1)?.text.scope;
  if (before === undefined || after === undefined || !isWider(after, before)) return [];
  return [
    report('successful_bubble', 'widened', plainName(after.agent) ?? leaderOf(before.agent) ?? before.agent),
  ];
}

/** A name, no pattern. */
const plainName = (name: string | undefined): string | undefined => (name?.includes('*') ? undefined : name);

/** It holds in more places than before, or for the leader of the agent that it was for. */
function isWider(after: Scope, before: Scope): boolean {
  const isLeaders = after.agent !== undefined && after.agent === leaderOf(before.agent);
  return isLeaders || (scopeCovers(after, before) && !scopeCovers(before, after));
}
