import type { Log } from '../../base/log.ts';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { runCycle } from '../cycle.ts';
import { cycleIdOf, type WriteFacts } from '../evolve-step.ts';
import type { Gate } from '../gate/gate.ts';
import type { FactFold } from '../learning-state.ts';
import { readCases } from '../read-cases.ts';
import { createIdentityLearner, IDENTITY_LEARNER, mannerOf } from './reflection.ts';

interface IdentityStepOptions {
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Library;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface SaidTurn {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  readonly scope: Scope;
}

export interface IdentityStep extends FactFold {
  learn(write: WriteFacts, isStopped: () => boolean): Promise<void>;
}

/** The newest turns of an agent after which a person said something. */
const MOST_TURNS = 48;
const MOST_AGENTS = 100;

/**
 * Reflection over sessions: what people said about an agent's manner becomes a proposal. The turns that it uses are not used up: the
 * same words may also become a lesson for the work. After a restart the same words are read again, and give the same proposals.
 */
export function createIdentityStep(options: IdentityStepOptions): IdentityStep {
  const { evidence, library, gate, clock, newId, log, signal } = options;
  const agents = new Map<string, SaidTurn[]>();
  const fresh = new Set<string>();
  /** Turns that were read, and whether they say something about manner. */
  const read = new Map<string, boolean>();
  const forget = (isGone: (turn: SaidTurn) => boolean): void => {
    for (const [agent, turns] of agents) {
      const kept = turns.filter((turn) => !isGone(turn));
      for (const { turn } of turns.filter(isGone)) read.delete(turn);
      if (kept.length === 0) agents.delete(agent);
      else agents.set(agent, kept);
    }
  };

  const add = ({ at, fact }: StoredFact): void => {
    if (fact.type === 'session-erased') forget(({ session }) => session === fact.session);
    if (fact.type !== 'turn-appraised') return;
    const { turn, session, scope, verdict, source, isRemarked } = fact;
    const { agent } = scope;
    const isSaid =
      isRemarked === true || (verdict === 'failure' && (source === 'chat' || source === 'person'));
    if (!isSaid || agent === undefined || (agents.size >= MOST_AGENTS && !agents.has(agent))) return;
    const others = (agents.get(agent) ?? []).filter((one) => one.turn !== turn);
    agents.set(agent, [...others, { turn, session, at, scope }].slice(-MOST_TURNS));
    read.delete(turn);
    fresh.add(agent);
  };

  const reflect = async (agent: string, write: WriteFacts): Promise<void> => {
    const turns = agents.get(agent) ?? [];
    for (const one of await readCases(
      turns.filter(({ turn }) => !read.has(turn)),
      evidence,
    ))
      read.set(one.turn, mannerOf(one).length > 0);
    const said = turns.filter(({ turn }) => read.get(turn) === true);
    if (new Set(said.map(({ session }) => session)).size < 2) return;
    const cases = await readCases(said, evidence);
    const end = await runCycle(
      {
        id: cycleIdOf([IDENTITY_LEARNER, agent, said.map(({ turn }) => turn).sort()]),
        learner: createIdentityLearner(agent),
        material: cases,
        cases,
        items: [],
      },
      {
        library,
        ask: undefined,
        gate: (proposal, all) => gate(proposal, all, library),
        clock,
        newId,
        journal: (note) => log.debug({ learner: IDENTITY_LEARNER }, note),
        signal,
      },
    );
    const { isRetryable: _, ...fact } = end;
    if (fact.judgements.length > 0) await write([{ at: clock.now(), fact: { ...fact, turns: [] } }]);
  };

  return {
    add,
    learn: async (write, isStopped) => {
      for (const agent of [...fresh]) {
        if (isStopped()) return;
        fresh.delete(agent);
        await reflect(agent, write);
      }
    },
  };
}
