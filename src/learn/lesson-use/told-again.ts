import { within } from '../../base/within.ts';
import type { AdherenceFact } from '../../core/adherence-fact.ts';
import type { FailureCase } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records, TurnView } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { libraryOwnedBy } from '../../lessons/member-library.ts';
import {
  createReadKnown,
  findSameRule,
  isTakenBack,
  lessonsNear,
  lessonsToRead,
  quotesToCompare,
} from '../distiller/known-lessons.ts';
import { readMatter } from '../distiller/matter.ts';
import { type CompareQuotes, readRuleWords, UNKNOWN_LIKENESS } from '../distiller/same-rule.ts';
import { readSayings, type Saying } from '../distiller/sayings.ts';
import { readStatements } from '../memory/write/read-statements.ts';
import { scopeOfSession } from '../queued-items.ts';
import { readCases } from '../read-cases.ts';

interface ToldAgainOptions {
  readonly records: Pick<Records, 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Library;
  readonly compareQuotes: CompareQuotes;
}

/** New evidence waits for it: without the sentence model in this time, words decide. */
const PATIENCE_MS = 2000;

/**
 * Finds rules that a person says although they are in force, whether or not the lesson gets another text for it: after an answer, as a
 * correction, a remark or feedback, and in the message that a conversation begins with. A rule is not told again where it was learned.
 */
export function createFindToldAgain({ records, evidence, library, compareQuotes }: ToldAgainOptions) {
  const readKnown = createReadKnown();
  return async (
    session: string,
    turns: readonly AppraisedTurn[],
    now: number,
  ): Promise<readonly NewFact[]> => {
    const spoken = turns.filter(isSpoken);
    if (spoken.length === 0) return [];
    const own = libraryOwnedBy(library, principalOfSession(session));
    const inForce = own.lessons().filter(({ state }) => state === 'trial' || state === 'live');
    if (inForce.length === 0) return [];
    const scope = await scopeOfSession(session, records);
    const views = await records.turns(session);
    const cases = await readCases(
      spoken.map(({ evidence: { turn } }) => ({ turn, session, at: now, scope })),
      evidence,
    );
    const facts: NewFact[] = [];
    for (const one of cases) {
      const turn = spoken.find((each) => each.evidence.turn === one.turn);
      for (const { saying, at = now } of turn === undefined ? [] : saidAround(turn, one, views)) {
        const isOlder = ({ createdAt, text }: Lesson): boolean =>
          createdAt < at && !text.evidence.turns.includes(one.turn);
        const near = lessonsNear([one], inForce).filter(isOlder);
        const compared = readKnown(lessonsToRead(near, [saying])).filter(
          (each) => !isTakenBack(each, saying),
        );
        const quotes = quotesToCompare([{ sayings: [saying] }], compared);
        const likeness = (await within(compareQuotes(quotes), PATIENCE_MS)) ?? UNKNOWN_LIKENESS;
        const { same } = findSameRule(compared, [saying], likeness, new Set(turn?.shown));
        if (same !== undefined) facts.push(toldAgain(session, one.turn, same.lesson, now));
      }
    }
    return facts;
  };
}

function toldAgain(session: string, turn: string, { id, revision }: Lesson, at: number): NewFact {
  const results = [{ lesson: id, revision, outcome: 'told-again' as const }];
  const fact: AdherenceFact = { type: 'rules-observed', session, turn, results };
  return { at, fact, key: `told-again:${turn}:${id}` };
}

/** Whether a person said something that may be a rule. */
const isSpoken = ({ evidence, appraisal }: AppraisedTurn): boolean =>
  evidence.isReported !== true &&
  (appraisal.correction !== undefined ||
    appraisal.remark !== undefined ||
    evidence.given.some(
      ({ source, note }) => note !== undefined && (source === 'person' || source === 'chat'),
    ) ||
    isOpening(evidence));

/** The message that a conversation begins with follows no answer that could be corrected. A schedule repeats itself. */
const isOpening = ({ task, isFollowUp, askedBefore, earlier }: AppraisedTurn['evidence']): boolean =>
  isFollowUp !== true && askedBefore === undefined && earlier.length === 0 && readStatements(task).length > 0;

/** What a person said about an answer, and before it; `at` absent: now. */
function saidAround(
  { evidence }: AppraisedTurn,
  one: FailureCase,
  views: readonly TurnView[],
): readonly { readonly saying: Saying; readonly at?: number }[] {
  const main = views.filter(({ role }) => role === 'main');
  const at = main.findIndex(({ id }) => id === evidence.turn);
  const after = main[at + 1]?.startedAt;
  const about = readSayings(one)
    .filter(({ speaker }) => speaker === 'user')
    .map((saying) => (after === undefined ? { saying } : { saying, at: after }));
  if (!isOpening(evidence)) return about;
  const opening = readStatements(evidence.task).flatMap(({ quote, kind }) =>
    kind === 'forget' ? [] : [{ saying: standingSaying(quote, one), at: main[at]?.startedAt ?? 0 }],
  );
  return [...opening, ...about];
}

const standingSaying = (quote: string, failure: FailureCase): Saying => ({
  ...readRuleWords(quote, []),
  speaker: 'user',
  matter: readMatter(quote),
  failure,
  isStanding: true,
});
