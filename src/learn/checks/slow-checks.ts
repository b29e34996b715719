import type { AdherenceFact } from '../../core/adherence-fact.ts';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import { type Ask, addCost, NO_COST } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { NewFact, Records } from '../../core/store.ts';
import { workUpTo } from '../../evidence/checked-work.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { runWholeCheck } from '../../lessons/checks/run-check.ts';
import { decidedLearner } from '../cycle.ts';
import type { FactFold } from '../learning-state.ts';
import { checkedBefore, laterOutcome } from '../lesson-use/observe-rules.ts';
import { nextMidnight } from '../pauses.ts';
import type { LearnerRow } from '../runner.ts';
import { createSlowTests, type OpenSandbox } from './slow-tests.ts';

interface SlowChecksOptions {
  readonly library: Pick<Library, 'lesson' | 'generation'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly records: Pick<Records, 'judgements'>;
  /** The judge, or the model that writes lessons, when it may be shown this session. */
  readonly askAbout: (session: string) => Promise<Ask | undefined>;
  readonly sandbox: OpenSandbox | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly signal: AbortSignal;
}

/** An answer that a rule's command or judge is still to be asked about. */
interface WaitingAnswer {
  readonly key: string;
  readonly session: string;
  readonly turn: string;
  readonly lesson: string;
}

const SLOW_CHECKS = 'checks-slow';
const MOST_WAITING = 500;
/** Of one round: other work does not wait behind them. */
const MOST_AT_ONCE = 4;

/**
 * Asks the commands and judges of checks about answers, after the turn. What waits is folded from the facts of the observer; the end of
 * the cycle takes it off the list, so that a kill asks about it again and counts it once.
 */
export function createSlowCheckRow(options: SlowChecksOptions): {
  readonly row: LearnerRow;
  readonly fold: FactFold;
} {
  const { clock } = options;
  const waiting = new Map<string, WaitingAnswer>();
  return {
    fold: { add: (stored) => foldWaiting(waiting, stored) },
    row: {
      name: SLOW_CHECKS,
      fault: 'answers could not be checked by a command or a judge',
      due: ({ queuePauses }, now) => waiting.size > 0 && queuePauses.isOver(SLOW_CHECKS, now),
      learn: decidedLearner(SLOW_CHECKS),
      material: async function* ({ queuePauses }) {
        const startedAt = clock.monotonic();
        const done: string[] = [];
        const facts: NewFact[] = [];
        let cost = NO_COST;
        let fault: string | undefined;
        for (const one of [...waiting.values()].slice(0, MOST_AT_ONCE)) {
          const asked = await askAbout(one, options);
          cost = addCost(cost, asked.cost);
          fault ??= asked.fault;
          if (asked.fault !== undefined) continue;
          facts.push(...asked.facts);
          done.push(one.key);
        }
        const last = fault === undefined ? undefined : ({ cause: 'nothing', why: fault } as const);
        if (last === undefined) queuePauses.end(SLOW_CHECKS);
        else queuePauses.postpone(SLOW_CHECKS, clock.now(), last, nextMidnight(clock.now()));
        const end: NewFact['fact'] = {
          type: 'cycle-end',
          cycle: options.newId('cycle'),
          learner: SLOW_CHECKS,
          outcome: 'nothing',
          items: done,
          turns: [],
          judgements: [],
          generation: options.library.generation,
          cost,
          tookMs: Math.round(clock.monotonic() - startedAt),
          note: fault ?? `${done.length} answers checked by a command or a judge`,
        };
        if (done.length > 0 || cost.calls > 0) yield { journal: [...facts, { at: clock.now(), fact: end }] };
      },
    },
  };
}

function foldWaiting(waiting: Map<string, WaitingAnswer>, { fact }: StoredFact): void {
  if (fact.type === 'rules-observed')
    for (const { lesson, isWaiting } of fact.results) {
      const { session, turn } = fact;
      const key = `${SLOW_CHECKS}:${turn}:${lesson}`;
      if (isWaiting === true) waiting.set(key, { key, session, turn, lesson });
      const [oldest] = waiting.keys();
      if (waiting.size > MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
    }
  else if (fact.type === 'cycle-end') for (const item of fact.items) waiting.delete(item);
  else if (fact.type === 'session-erased')
    for (const [key, { session }] of waiting) if (session === fact.session) waiting.delete(key);
}

/** What its check says now. A rule that has ended or has another check, and an answer that is gone, say nothing. */
async function askAbout(
  { session, turn, lesson: id }: WaitingAnswer,
  { library, evidence, records, askAbout: modelFor, sandbox, clock, signal }: SlowChecksOptions,
): Promise<{ readonly facts: readonly NewFact[]; readonly cost: typeof NO_COST; readonly fault?: string }> {
  const lesson = library.lesson(id);
  const isInForce = lesson?.state === 'trial' || lesson?.state === 'live';
  const [answer] = isInForce ? await evidence.turns(session, [turn]) : [];
  if (lesson?.check === undefined || answer === undefined) return { facts: [], cost: NO_COST };
  const { check, revision } = lesson;
  const isJudged = check.holdsWhen.some(({ is }) => is === 'judge') || undefined;
  const tests = createSlowTests({ sandbox, ask: isJudged && (await modelFor(session)), signal });
  const { outcome } = await runWholeCheck(check, workUpTo(answer), tests.ask);
  const fault = signal.aborted ? 'learning ends' : tests.fault();
  if (fault !== undefined) return { facts: [], cost: tests.cost(), fault };
  const before = checkedBefore(await records.judgements(session, 'rules-observed'), id);
  if (!laterOutcome(outcome, before)) return { facts: [], cost: tests.cost() };
  const isProvisional = check.standing === 'provisional' || undefined;
  const result = compact({ lesson: id, revision, outcome, isProvisional, isJudged, before });
  const fact: AdherenceFact = { type: 'rules-observed', session, turn, results: [result] };
  return { facts: [{ at: clock.now(), fact, key: `rules-slow:${turn}:${id}` }], cost: tests.cost() };
}
