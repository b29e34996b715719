import { isAttemptId } from '../../core/practice.ts';
import { isUnattributed } from '../../core/principal.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readOwnWords } from '../../reader/own-sentences.ts';
import { readNamedTimes } from './named-days.ts';
import { ownerOf, packCodes, wordCodes } from './word-codes.ts';

/** The facts that index the messages of a session that has ended; a message that was indexed before is recognised by its fact's key. */
export type IndexMessages = (session: string, now: number) => Promise<readonly NewFact[]>;

interface IndexMessagesOptions {
  readonly records: Pick<Records, 'session'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
}

/**
 * Indexes what people typed, once for each message. Where nobody knows whose words a session holds, it is left out: they would be found by
 * somebody else.
 */
export function createIndexMessages({ records, evidence }: IndexMessagesOptions): IndexMessages {
  return async (session, now) => {
    if (isAttemptId(session)) return [];
    const view = await records.session(session);
    if (view === undefined || view.erased) return [];
    // Makes its table of phrases here, where nobody waits.
    readNamedTimes('', now);
    const turns = firstTurnsOfMessages(await evidence.turns(session));
    return turns.flatMap(({ evidence: { turn, agent, task } }): readonly NewFact[] => {
      const project = view.project?.id;
      if (isUnattributed(session, { agent, project })) return [];
      const codes = wordCodes(readOwnWords(task).join('\n'));
      if (codes.length === 0) return [];
      const owner = ownerOf({ session, agent, ...(project === undefined ? {} : { project }) });
      return [
        {
          at: now,
          fact: { type: 'message-indexed', session, turn, owner, words: packCodes(codes) },
          key: `message-indexed:${turn}`,
        },
      ];
    });
  };
}
/** An agent works for many turns on one message; what repeats itself is a schedule's; what an agent reported is nobody's word. */
const firstTurnsOfMessages = (turns: readonly AppraisedTurn[]): readonly AppraisedTurn[] =>
  turns.filter(({ evidence: { task, isReported, askedBefore } }, nth) => {
    const before = turns[nth - 1]?.evidence;
    const isSame = before !== undefined && before.task === task && before.next?.user === undefined;
    return !isSame && isReported !== true && askedBefore === undefined;
  });
