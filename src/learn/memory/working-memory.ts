import type { TurnEvidence } from '../../core/evidence.ts';
import { compact } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { textOfReply } from '../../evidence/turn-reading.ts';
import { readOwnWords } from '../../reader/own-sentences.ts';
import { hasMark } from '../../redact/scan-context.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { compareClaims } from '../compare-words.ts';
import { readClaim, type SentenceClaim } from './write/claim.ts';
import { isTakenBackSince } from './write/decide.ts';
import { isForgotten, readForgetRequests } from './write/forget-requests.ts';
import { readStatements, type Statement } from './write/read-statements.ts';

/** Something that the person stated in a session, with the turn that it was said in. */
export interface SessionStatement extends Statement {
  readonly turn: string;
  readonly claim: SentenceClaim;
  /** What the session had been about before it. */
  readonly context?: string;
}

/** Of one session. */
export const MOST_OF_SESSION = 12;
const MOST_MESSAGES = 400;
const ANSWER_CHARACTERS = 400;

/**
 * What a person has stated in a session so far, oldest first: the session's working memory. It is read from the record each time, so that
 * it is gone when the session is erased, and other sessions see nothing of it before the session has ended. Of statements on the same
 * thing the newest is left.
 */
export function readWorkingMemory(turns: readonly AppraisedTurn[]): readonly SessionStatement[] {
  /** The turn of each message and the answer before it: an agent works for many turns on one. */
  const messages = new Map<string, Pick<TurnEvidence, 'turn' | 'spans'> & { readonly answer: string }>();
  let answer = '';
  for (const { evidence } of turns) {
    const before = answer;
    answer = textOfReply(evidence.reply);
    // What an agent reported itself is nobody's word; a heartbeat repeats itself.
    if (evidence.isReported || evidence.askedBefore !== undefined || messages.has(evidence.task)) continue;
    const { task, turn, spans } = evidence;
    messages.set(task, compact({ turn, spans, answer: before }));
  }
  let held: readonly SessionStatement[] = [];
  let asked = '';
  for (const [task, { turn, spans, answer: before }] of [...messages].slice(-MOST_MESSAGES)) {
    for (const statement of readStatements(task, before, spans)) {
      const said = { ...statement, turn, claim: readClaim(statement.quote) };
      const rest = readOwnWords(task).filter((sentence) => !statement.quote.includes(sentence));
      const context = [asked, before.slice(-ANSWER_CHARACTERS), ...rest].join('\n').trim();
      const one = statement.isUpdate === true ? { ...said, context } : said;
      const isOlder = (other: SessionStatement): boolean =>
        other.kind !== 'forget' && other.turn !== one.turn && isOver(compareClaims(one.claim, other.claim));
      held = [...held.filter((other) => !isOlder(other)), one];
    }
    asked = readOwnWords(task).join('\n');
  }
  return held.slice(-MOST_OF_SESSION);
}

const isOver = (relation: ReturnType<typeof compareClaims>): boolean =>
  relation === 'same' || relation === 'replaces';

interface ReadQuotesOptions {
  readonly records: Pick<Records, 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lessons'>;
  readonly hasSecret: (text: string) => boolean;
  /** Nothing is learned, and nothing is remembered, at the moment. */
  readonly isStopped: () => boolean;
}

/**
 * What the user of a running session has stated, letter by letter, oldest first: for a prompt that has lost it. Not what they took back
 * since, in the session or as a lesson, and nothing with a secret in it.
 */
export function createReadQuotes({
  records,
  evidence,
  library,
  hasSecret,
  isStopped,
}: ReadQuotesOptions): (session: string) => Promise<readonly string[]> {
  return async (session) => {
    const view = isStopped() ? undefined : await records.session(session);
    if (view === undefined || view.erased) return [];
    const held = withoutForgotten(readWorkingMemory(await evidence.turns(session)));
    const times = new Map((await records.turns(session)).map(({ id, startedAt }) => [id, startedAt]));
    const scope = compact({ agent: view.agent, project: view.project?.id });
    const lessons = library.lessons();
    return held
      .filter(({ claim, turn }) => !isTakenBackSince(claim, times.get(turn) ?? 0, lessons, scope))
      .map(({ quote }) => quote)
      .filter((quote) => !hasMark(quote) && !hasSecret(quote));
  };
}

/** Without what a later one asks to forget, also where it may mean another, and without these requests. */
function withoutForgotten(held: readonly SessionStatement[]): readonly SessionStatement[] {
  let kept: readonly SessionStatement[] = [];
  for (const one of held) {
    const requests = sentencesOf(one.quote).flatMap(readForgetRequests);
    const left = kept.filter(({ claim }) => !requests.some((request) => isForgotten(request, claim)));
    kept = one.kind === 'forget' ? left : [...left, one];
  }
  return kept;
}
