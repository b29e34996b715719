import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import type { Records } from '../../core/records.ts';
import { appraise } from '../../signals/appraise.ts';
import { readEpisodeEvidence } from '../episodes/episode-evidence.ts';
import { type DecodeTurn, readEvidence } from './read-evidence.ts';

/** The part of the record that evidence is read from. */
export interface EvidenceRecords extends Pick<Records, 'turns' | 'turn' | 'rewards' | 'events'> {
  /** A decoder for the turns of one session, which share the blocks it has parsed. */
  decoder(): DecodeTurn;
}

/** How a turn went, without its messages. */
export interface AppraisedTurn {
  readonly appraisal: Appraisal;
  readonly task: string;
  /** −1 for an episode: it has no tokens to train on. */
  readonly generation: number;
  readonly isFollowed: boolean;
}

/** Reads the evidence of sessions in a worker thread. Rejects with `StoreError`. */
export interface EvidenceReader {
  /** All turns of the session, or only the wanted ones. */
  read(session: string, wanted?: readonly string[]): Promise<readonly TurnEvidence[]>;
  /** The wanted turns and the turn before each of them; all turns when none are named. */
  appraise(session: string, wanted?: readonly string[]): Promise<readonly AppraisedTurn[]>;
  close(): Promise<void>;
}

const NO_GENERATION = -1;

/** The evidence of a session's turns, or of the wanted ones. An episode that an agent reported counts as one turn. */
export async function evidenceOf(
  session: string,
  records: EvidenceRecords,
  wanted?: ReadonlySet<string>,
): Promise<readonly TurnEvidence[]> {
  const decode = records.decoder();
  const turns = await readEvidence(session, { records, decode, ...(wanted ? { wanted } : {}) });
  if (turns.length > 0) return turns;
  const reported = await readEpisodeEvidence(session, records);
  return reported === undefined ? [] : [reported.evidence];
}

/** Appraises the wanted turns and the turn before each of them: a turn's consequences appear in the next request. */
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
