import { createLruMap } from '../../base/lru-map.ts';
import { isAttemptId, isUnattributed } from '../../core/principal.ts';
import type { MessageIndexedFact } from '../../core/recollection.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readOwnWords } from '../../reader/own-sentences.ts';
import { readForgetRequests } from '../memory/write/forget-requests.ts';
import {
  codesAround,
  codesPointedTo,
  ownerOf,
  type PassageModel,
  packCodes,
  packVectors,
  passagesOf,
  wordCodes,
} from './encode-message.ts';
import { readNamedTimes } from './named-days.ts';

/** Indexes the messages of a session that has ended; one that was indexed before is recognised by its fact's key. Rejects with `StoreError`. */
export type IndexMessages = (session: string, now: number) => Promise<void>;

interface IndexMessagesOptions {
  readonly records: Pick<Records, 'session' | 'turn' | 'append'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  /** Absent: messages are found by their words alone. */
  readonly model?: PassageModel;
}

type IndexedFact = NewFact & { readonly fact: MessageIndexedFact };

/** Messages of one commit: each commit writes the pages of the indexes anew. */
const MOST_AT_ONCE = 32;
/** Sessions end often when people come back to them. */
const MOST_REMEMBERED = 20_000;

/**
 * Indexes what people typed, once for each message. Where nobody knows whose words a session holds, it is left out: they would be found by
 * somebody else.
 */
export function createIndexMessages({ records, evidence, model }: IndexMessagesOptions): IndexMessages {
  const indexed = createLruMap<string, true>(MOST_REMEMBERED);
  const write = async (facts: readonly IndexedFact[]): Promise<void> => {
    await records.append(facts);
    for (const { fact } of facts) indexed.set(fact.turn, true);
  };
  return async (session, now) => {
    if (isAttemptId(session)) return;
    const view = await records.session(session);
    if (view === undefined || view.erased) return;
    // Makes its table of phrases here, where nobody waits.
    readNamedTimes('', now);
    const project = view.project?.id;
    const turns = await evidence.turns(session);
    const facts: IndexedFact[] = [];
    for (const appraised of firstTurnsOfMessages(turns)) {
      const own = appraised.evidence;
      const { turn, agent, task } = own;
      if (isUnattributed(session, { agent, project }) || indexed.get(turn) !== undefined) continue;
      const sentences = readOwnWords(task);
      const codes = wordCodes(sentences.join('\n'));
      if (codes.length === 0) {
        indexed.set(turn, true);
        continue;
      }
      const owner = ownerOf({ session, agent, ...(project === undefined ? {} : { project }) });
      const words = packCodes(codes);
      const before = turns[turns.indexOf(appraised) - 1]?.evidence;
      const near = [
        // The answers of an agent at work have the words of its code: they would lead to messages about anything.
        ...(project === undefined ? codesAround(before?.reply ?? []) : []),
        ...codesPointedTo(sentences, before === undefined ? '' : readOwnWords(before.task).join('\n')),
      ];
      const around = near.length === 0 ? {} : { around: packCodes(Uint32Array.from(near)) };
      const vectors = await vectorsOf(sentences, model);
      const said = (await records.turn(turn))?.startedAt;
      const when = {
        ...(said === undefined ? {} : { said }),
        ...(sentences.some((one) => readForgetRequests(one).length > 0) ? { isForget: true as const } : {}),
      };
      const fact = {
        type: 'message-indexed',
        session,
        turn,
        ...when,
        owner,
        words,
        ...around,
        ...vectors,
      } as const;
      facts.push({ at: now, fact, key: `message-indexed:${turn}` });
      if (facts.length === MOST_AT_ONCE) await write(facts.splice(0));
    }
    if (facts.length > 0) await write(facts);
  };
}

/** Without its vectors a message is found by its words. */
async function vectorsOf(
  sentences: readonly string[],
  model: PassageModel | undefined,
): Promise<Pick<MessageIndexedFact, 'vectors' | 'engine'>> {
  const vectors = await model?.embed(passagesOf(sentences)).catch(() => undefined);
  return model === undefined || vectors === undefined
    ? {}
    : { vectors: packVectors(vectors), engine: model.id };
}

/** An agent works for many turns on one message; what repeats itself is a schedule's; what an agent reported is nobody's word. */
const firstTurnsOfMessages = (turns: readonly AppraisedTurn[]): readonly AppraisedTurn[] =>
  turns.filter(({ evidence: { task, isReported, askedBefore } }, nth) => {
    const before = turns[nth - 1]?.evidence;
    const isSame = before !== undefined && before.task === task && before.next?.user === undefined;
    return !isSame && isReported !== true && askedBefore === undefined;
  });
