import type { Clock } from '../../core/clock.ts';
import type { EvidenceCase } from '../../core/learn.ts';
import type { Scope } from '../../core/lesson.ts';
import { isUnattributed } from '../../core/principal.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { createFailureCase } from '../../evidence/failure-case.ts';
import { hasIdentifier } from '../../text/identifiers.ts';
import type { QueuedItem } from '../learning-state.ts';
import { type ItemMaterial, scopeOfSession } from '../queued-items.ts';
import { readWorkingMemory, type SessionStatement } from './working-memory.ts';
import { NOTES } from './write/note-text.ts';
import type { NoteMaterial } from './write/write-notes.ts';

/** Queues a session that has ended, where its working memory holds something to promote; again when a model has read more of it. */
export function queueNotes(session: string, read: readonly AppraisedTurn[], now: number): readonly NewFact[] {
  const turns = [...new Set(readWorkingMemory(read).map(({ turn }) => turn))];
  const last = read.at(-1)?.evidence.turn;
  if (turns.length === 0 || last === undefined) return [];
  const messages = read.filter(({ evidence }) => evidence.spans !== undefined).length;
  const item = `${NOTES}:${session}:${last}${messages === 0 ? '' : `:${messages}`}`;
  return [{ at: now, fact: { type: 'learning-queued', item, learner: NOTES, session, turns }, key: item }];
}

interface SessionNotesOptions {
  readonly records: Pick<Records, 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly clock: Clock;
}

/** The working memory of an ended session, as material for its notes. It needs no model. */
export async function openSessionNotes(
  { session }: QueuedItem,
  { records, evidence, clock }: SessionNotesOptions,
): Promise<ItemMaterial<NoteMaterial>> {
  const scope = await scopeOfSession(session, records);
  const turns = await evidence.turns(session);
  const stated = readWorkingMemory(turns);
  // Nobody knows whose words they are: they would be remembered for others.
  const statements = isUnattributed(session, scope) ? stated.filter(isForAll) : stated;
  const cited = new Set(statements.map(({ turn }) => turn));
  const cases = turns
    .filter((turn) => cited.has(turn.evidence.turn))
    .map((turn) => statedCase(turn, scope, clock.now()));
  const times = new Map((await records.turns(session)).map(({ id, startedAt }) => [id, startedAt]));
  return { material: { scope, statements, turns: times }, cases, ask: undefined };
}

/** A rule without anybody's identifier, and the wish to forget: facts and preferences are about the one who said them. */
const isForAll = ({ kind, quote }: SessionStatement): boolean =>
  kind === 'forget' || (kind === 'rule' && !hasIdentifier(quote));

/** A turn as the evidence of what its message states, whatever became of the task. */
function statedCase(turn: AppraisedTurn, scope: Scope, at: number): EvidenceCase {
  const { evidence, generation, material } = turn;
  const appraisal = { turn: evidence.turn, verdict: 'ambiguous', signals: [], digests: [] } as const;
  const stated = createFailureCase(evidence, {
    at,
    generation: Math.max(0, generation),
    scope,
    appraisal,
    material,
  });
  return { ...stated, source: 'chat' };
}
