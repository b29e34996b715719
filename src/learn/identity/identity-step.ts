import type { Log } from '../../base/log.ts';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readManner } from '../../evidence/signals/manner.ts';
import { runCycle } from '../cycle.ts';
import { sentencesOf } from '../distiller/quote-sentences.ts';
import { cycleIdOf, type WriteFacts } from '../evolve-step.ts';
import type { Gate } from '../gate/gate.ts';
import type { FactFold } from '../learning-state.ts';
import { readCases } from '../read-cases.ts';
import { createIdentityLearner, IDENTITY_LEARNER, mannerOf } from './reflection.ts';

interface IdentityStepOptions {
  readonly records: Pick<Records, 'turn'>;
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
  /** Whether people said something since the last reflection. */
  isDue(): boolean;
  /** Reads what people said, in sessions and in the notes that quote them; how much of it was new. */
  reflect(write: WriteFacts, isStopped: () => boolean): Promise<ReflectedIdentities>;
}

export interface ReflectedIdentities {
  readonly agents: number;
  /** Proposals that were made, and the tests of free parts that began. */
  readonly proposals: number;
}

/** The newest turns of an agent after which a person said something. */
const MOST_TURNS = 48;
const MOST_AGENTS = 100;
const MOST_NOTES = 24;

/**
 * Reflection over sessions and notes, once a day: what people said about an agent's manner becomes a proposal. The turns that it uses are not used up: the
 * same words may also become a lesson for the work. After a restart the same words are read again, and give the same proposals.
 */
export function createIdentityStep(options: IdentityStepOptions): IdentityStep {
  const { records, evidence, library, gate, clock, newId, log, signal } = options;
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
    const { agent, member } = scope;
    const isSaid =
      isRemarked === true || (verdict === 'failure' && (source === 'chat' || source === 'person'));
    // An agent is the same for all members: one of them does not decide who it is.
    if (
      !isSaid ||
      agent === undefined ||
      member !== undefined ||
      (agents.size >= MOST_AGENTS && !agents.has(agent))
    )
      return;
    const others = (agents.get(agent) ?? []).filter((one) => one.turn !== turn);
    agents.set(agent, [...others, { turn, session, at, scope }].slice(-MOST_TURNS));
    read.delete(turn);
    fresh.add(agent);
  };

  /** The turns that notes quote a word about manner from: they may be older than the newest turns. */
  const turnsOfNotes = async (agent: string): Promise<readonly SaidTurn[]> => {
    const quoting = library
      .lessons()
      .filter(
        ({ kind, text }) =>
          kind !== 'identity' && text.scope.agent === agent && text.scope.member === undefined,
      )
      .filter(({ text }) => text.note.source === 'told' && saysManner(text.content))
      .slice(-MOST_NOTES);
    const found: SaidTurn[] = [];
    for (const turn of new Set(quoting.flatMap(({ text }) => text.evidence.turns))) {
      const view = await records.turn(turn);
      const scope = quoting.find(({ text }) => text.evidence.turns.includes(turn))?.text.scope;
      if (view !== undefined && view.agent === agent && scope !== undefined)
        found.push({ turn, session: view.session, at: view.startedAt, scope });
    }
    return found;
  };

  const reflectOn = async (agent: string, write: WriteFacts): Promise<number> => {
    const recent = agents.get(agent) ?? [];
    const noted = await turnsOfNotes(agent);
    const turns = [...noted.filter((one) => !recent.some(({ turn }) => turn === one.turn)), ...recent];
    for (const one of await readCases(
      turns.filter(({ turn }) => !read.has(turn)),
      evidence,
    ))
      read.set(one.turn, mannerOf(one).length > 0);
    const said = turns.filter(({ turn }) => read.get(turn) === true);
    if (new Set(said.map(({ session }) => session)).size < 2) return 0;
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
    return fact.judgements.filter(({ outcome }) => outcome !== 'refused').length;
  };

  return {
    add,
    isDue: () => fresh.size > 0,
    reflect: async (write, isStopped) => {
      let [done, proposals] = [0, 0];
      for (const agent of [...fresh]) {
        if (isStopped()) break;
        fresh.delete(agent);
        proposals += await reflectOn(agent, write);
        done++;
      }
      return { agents: done, proposals };
    },
  };
}

const saysManner = (content: string): boolean =>
  content
    .split('\n')
    .flatMap((line) => sentencesOf(line.replace(/^> /, '')))
    .some((sentence) => readManner(sentence.trim()) !== undefined);
