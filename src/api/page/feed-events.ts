import type { StoredFact } from '../../core/fact.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import { isAttemptId } from '../../core/principal.ts';
import type { AsyncReads, TurnView } from '../../core/store.ts';
import { countRuleOutcomes } from '../../lessons/adherence/adherence.ts';
import type { WantedNews } from '../../record/store/page-reader.ts';

/** Something that happened, for a page that is open. Ids and numbers, no words of people. */
export interface FeedEvent {
  /** The number of its fact. */
  readonly id: number;
  readonly event: string;
  readonly data: JsonObject;
}

/**
 * What a look at the record takes. Of what happens with every request only the newest is told: a page shows the last few and counts
 * none, and hundreds a second would cost those who are served.
 */
export const FEED_NEWS: WantedNews = {
  rare: [
    'reward-given',
    'session-scored',
    'session-erased',
    'library-changed',
    'cycle-end',
    'learning-switched',
    'practice-begun',
    'practice-ended',
    'job-checkpointed',
    'job-leased',
    'job-ended',
    'policy-moved',
  ],
  frequent: ['turn-end', 'turn-appraised', 'rules-observed', 'event-reported', 'practice-unit'],
  mostRare: 500,
  mostFrequent: 40,
};

/** The job that trains. */
const TRAINING_JOB = 'training';

/** Undefined for facts that no view shows. */
export async function toFeedEvent(
  { seq, at, fact }: StoredFact,
  reader: Pick<AsyncReads, 'turn'>,
): Promise<FeedEvent | undefined> {
  const make = (event: string, data: object): FeedEvent => ({
    id: seq,
    event,
    data: compact({ at: new Date(at).toISOString(), ...data }) as JsonObject,
  });
  switch (fact.type) {
    case 'turn-end': {
      const turn = await reader.turn(fact.turn);
      return turn === undefined || isAttemptId(turn.session)
        ? undefined
        : make('turn', describeTurnEnd(turn));
    }
    case 'reward-given': {
      const { turn, session, source, score } = fact;
      return make('reward', { turn, session, source, score });
    }
    case 'turn-appraised': {
      const { turn, session, verdict, reward } = fact;
      return isAttemptId(session) ? undefined : make('appraised', { turn, session, verdict, reward });
    }
    case 'rules-observed': {
      const { kept, broken, toldAgain } = countRuleOutcomes(fact.results);
      if (kept + broken + toldAgain === 0) return undefined;
      const again = fact.results.flatMap(({ lesson, outcome }) => (outcome === 'told-again' ? [lesson] : []));
      return make('rules', { session: fact.session, turn: fact.turn, kept, broken, toldAgain, again });
    }
    case 'session-scored':
      return fact.score === undefined
        ? undefined
        : make('scored', { session: fact.session, score: fact.score });
    case 'session-erased':
      return make('erased', { session: fact.session });
    case 'library-changed': {
      const { generation, by, reason, changes } = fact;
      const lessons = changes.map((change) => (change.op === 'merge' ? change.into : change.id));
      // What a learner gives as its reason quotes people.
      const why = by.kind === 'learner' ? by.name : reason;
      const ops = changes.map(({ op }) => op);
      const isLearner = by.kind === 'learner' || undefined;
      return make('library', { generation, by: by.name, reason: why, lessons, ops, isLearner });
    }
    case 'cycle-end': {
      const { learner, outcome, judgements } = fact;
      const lessons = judgements.map(({ lesson: id, outcome: judged }) => ({ id, outcome: judged }));
      return make('learning', { learner, outcome, lessons });
    }
    case 'learning-switched':
      return make('learning', { on: fact.on });
    case 'practice-begun':
    case 'practice-unit':
    case 'practice-ended':
      return make('practice', { run: fact.run, step: fact.type === 'practice-unit' ? fact.unit : fact.type });
    case 'job-checkpointed':
      return fact.job === TRAINING_JOB ? make('training', { run: fact.run, step: fact.n }) : undefined;
    case 'job-leased':
      return make('job', { job: fact.job });
    case 'job-ended':
      return make('job', { job: fact.job, end: fact.end });
    case 'policy-moved':
      return make('policy', { version: fact.version, to: fact.to, why: fact.why });
    case 'event-reported': {
      const { kind, agent, session, score } = fact;
      return make('event', { kind, agent, session, score });
    }
    default:
      return undefined;
  }
}

const describeTurnEnd = ({ id, session, agent, status, totalMs, usage }: TurnView): object => ({
  turn: id,
  session,
  agent,
  status,
  ms: totalMs,
  tokens: usage && usage.inputTokens + usage.outputTokens,
});
