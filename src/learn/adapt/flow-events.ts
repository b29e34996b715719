import { toJson } from '../../core/json.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records, TurnView } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { createFlowFinder, type FoundFlow } from './find-flows.ts';
import { readRuns } from './known-calls.ts';
import { SEEN_WITH } from './observed-event.ts';

/** Who reports what Instar saw itself. */
const OWN = 'instar';
const LEAST_SCORE = 60;
const FOR_EACH_SESSION = 5;
const MOST_SCORE = 90;
const FEWEST_SESSIONS = 3;

/** 60 with three sessions, 5 more for each further one, at most 90. */
export const scoreFlow = ({ sessions }: FoundFlow['support']): number =>
  Math.min(MOST_SCORE, LEAST_SCORE + FOR_EACH_SESSION * (sessions - FEWEST_SESSIONS));

/** An ended session, its turns, and the last of them as the record has it. */
export interface EndedSession {
  readonly session: string;
  readonly turns: readonly Pick<AppraisedTurn, 'evidence'>[];
  readonly last: Pick<TurnView, 'agent' | 'runKind' | 'startedAt' | 'caller'>;
}

export interface FlowWatch {
  /** A `tool_sequence` event for each flow that the session repeats: by its agent and kind of run, once for each session. */
  flowEvents(ended: EndedSession, now: number): Promise<readonly NewFact[]>;
}

interface FlowWatchOptions {
  /** Absent: only sessions that end from now on count. */
  readonly records?: Pick<Records, 'sessions'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
}

/** Runs that Instar makes itself repeat each other by intention. */
const OWN_RUNS: ReadonlySet<string | undefined> = new Set(['practice', 'train']);
/** After a start the newest sessions of before are read, a few with each session that ends: nothing waits for them. */
const MOST_EARLIER = 300;
const EARLIER_AT_ONCE = 10;

/** A flow has values of the calls that it was found in: those of applications, members and end users stay with them. */
const isOfHome = (session: string): boolean => principalOfSession(session) === undefined;

export function createFlowWatch({ records, evidence }: FlowWatchOptions): FlowWatch {
  const finder = createFlowFinder();
  let earlier: { readonly id: string; readonly at: number }[] | undefined;
  const added = new Set<string>();
  const add = (session: string, at: number, turns: EndedSession['turns']): readonly FoundFlow[] =>
    finder.add({ session, at, runs: readRuns(turns) });
  const readEarlier = async (): Promise<void> => {
    earlier ??= ((await records?.sessions({ limit: MOST_EARLIER, withoutPractice: true })) ?? [])
      .filter(({ id, endedAt, erased }) => endedAt !== undefined && !erased && isOfHome(id))
      .map(({ id, lastAt }) => ({ id, at: lastAt }));
    for (const { id, at } of earlier.splice(0, EARLIER_AT_ONCE))
      if (!added.has(id)) add(id, at, await evidence.turns(id));
    if (earlier.length === 0) added.clear();
  };
  return {
    flowEvents: async ({ session, turns, last }, now) => {
      if (OWN_RUNS.has(last.runKind) || !isOfHome(session)) return [];
      if (earlier === undefined || earlier.length > 0) added.add(session);
      await readEarlier();
      return add(session, last.startedAt, turns).map(({ label, flow, support }) => ({
        at: now,
        fact: {
          type: 'event-reported',
          kind: 'tool_sequence',
          agent: last.agent,
          ...(last.runKind === undefined ? {} : { runKind: last.runKind }),
          session,
          score: scoreFlow(support),
          data: {
            label,
            ...(last.caller === undefined ? {} : { [SEEN_WITH]: last.caller }),
            steps: flow.steps.map(toJson),
            parameters: flow.parameters.map(toJson),
            support: { ...support },
          },
          by: OWN,
        },
        key: `${label}:${session}`,
      }));
    },
  };
}
