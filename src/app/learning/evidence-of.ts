import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import type { Records } from '../../core/records.ts';
import { appraise } from '../../signals/appraise.ts';
import { hasFailed } from '../../signals/has-failed.ts';
import { readEpisodeEvidence } from '../episodes/episode-evidence.ts';
import { readEvidence } from './read-evidence.ts';

/** What reading evidence asks of the record. */
export type EvidenceRecords = Pick<Records, 'turns' | 'turn' | 'block' | 'rewards' | 'events'>;

/** A turn as it is believed to have gone, without all that was said in it. */
export interface AppraisedTurn {
  readonly appraisal: Appraisal;
  readonly task: string;
  /** Of an episode, which has no tokens to train on, −1. */
  readonly generation: number;
  readonly isFollowed: boolean;
}

const NO_GENERATION = -1;

/** What is known of a session's turns, or of those that are wanted; or of an episode that an agent reported, as one turn. */
export async function evidenceOf(
  session: string,
  records: EvidenceRecords,
  wanted?: ReadonlySet<string>,
): Promise<readonly TurnEvidence[]> {
  const turns = await readEvidence(session, { records, hasFailed, ...(wanted ? { wanted } : {}) });
  if (turns.length > 0) return turns;
  const told = await readEpisodeEvidence(session, records);
  return told === undefined ? [] : [told.evidence];
}

/** The turns that are wanted, and the one before each: what followed it is known only now. */
export async function appraiseTurns(
  session: string,
  records: EvidenceRecords,
  wanted?: ReadonlySet<string>,
): Promise<readonly AppraisedTurn[]> {
  const turns: AppraisedTurn[] = [];
  for (const evidence of await evidenceOf(
    session,
    records,
    wanted && (await withEarlier(session, records, wanted)),
  )) {
    turns.push({
      appraisal: appraise(evidence),
      task: evidence.task,
      generation: (await records.turn(evidence.turn))?.generation ?? NO_GENERATION,
      isFollowed: evidence.next !== undefined,
    });
  }
  return turns;
}

async function withEarlier(
  session: string,
  records: EvidenceRecords,
  wanted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const main = (await records.turns(session)).filter(({ role }) => role === 'main');
  const earlier = main.filter((_, index) => wanted.has(main[index + 1]?.id ?? ''));
  return new Set([...wanted, ...earlier.map(({ id }) => id)]);
}
