import { within } from '../../base/within.ts';
import type { AdherenceFact, RuleOutcome, RuleResult } from '../../core/adherence-fact.ts';
import type { CheckedWork } from '../../core/check.ts';
import type { StoredFact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import type { FailureCase } from '../../core/learn.ts';
import { isInUse, type Lesson, PROMPT_KINDS, type Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isAttemptId, principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records, TurnView } from '../../core/store.ts';
import { workUpTo } from '../../evidence/checked-work.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readCases } from '../../evidence/failure-case.ts';
import { awaitsSlowTest, runCheck } from '../../lessons/checks/run-check.ts';
import { libraryOwnedBy } from '../../lessons/member-library.ts';
import { hasPersonsCommand, sandboxFiles } from '../checks/sandbox-files.ts';
import { type CompareQuotes, readRuleWords, UNKNOWN_LIKENESS } from '../compare-words.ts';
import {
  createReadKnown,
  findSameRule,
  isTakenBack,
  lessonsNear,
  lessonsToRead,
  quotesToCompare,
} from '../distiller/known-lessons.ts';
import { readMatter } from '../distiller/matter.ts';
import { readSayings, type Saying } from '../distiller/sayings.ts';
import { readStatements } from '../memory/write/read-statements.ts';
import { scopeOfSession } from '../queued-items.ts';

interface RuleObserverOptions {
  readonly records: Pick<Records, 'judgements' | 'recalls' | 'sampled' | 'session' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'affectedTurns' | 'turns'>;
  readonly library: Library;
  readonly compareQuotes: CompareQuotes;
  /** The rules whose check applies to what the agent of a session did last. */
  readonly onWork?: ((session: string, rules: readonly string[]) => void) | undefined;
}

/** What turns of a session say about the rules that they were given with, as facts to append. `changed` absent: all turns. */
export type ObserveRules = (
  session: string,
  changed: readonly string[] | undefined,
  now: number,
) => Promise<readonly NewFact[]>;

/** Checks every answer that rules were shown for, also where nobody says a word, and hears when a person has to say a rule again. */
export function createRuleObserver(options: RuleObserverOptions): ObserveRules {
  const { records, evidence, library, onWork } = options;
  const findToldAgain = createFindToldAgain(options);
  return async (session, changed, now) => {
    // Attempts of practice are graded there.
    if (isAttemptId(session)) return [];
    const turns = await evidence.affectedTurns(session, changed);
    const toldAgain = await findToldAgain(session, turns, now);
    const answers: AnswerRules[] = [];
    for (const turn of turns) {
      const rules = await rulesShown(session, turn, records, library);
      if (rules.length === 0 || turn.evidence.status !== 'complete') continue;
      const work = rules.some(({ check }) => check !== undefined) ? workUpTo(turn) : undefined;
      answers.push({ turn, rules, work });
    }
    if (answers.length === 0) return toldAgain;
    const history = readHistory(await records.judgements(session, 'rules-observed'));
    const isGraded = answers.some(({ rules }) => rules.some(({ check }) => check?.standing === 'accepted'));
    for (const { fact } of isGraded ? await records.sampled(session) : [])
      if (fact.type === 'turn-sampled') history.sampled.add(fact.turn);
    const scope = history.sampled.size === 0 ? undefined : await scopeOfSession(session, records);
    const observed = answers.flatMap((answer) => checkAnswer(session, answer, history, now));
    const checked = (await withRemembered(session, observed, records)).map((one) =>
      withSample(one, history.sampled, scope, turns),
    );
    const last = answers.at(-1);
    if (last?.work !== undefined) onWork?.(session, applyingRules(last));
    return [...checked, ...toldAgain];
  };
}

interface AnswerRules {
  readonly turn: AppraisedTurn;
  /** Those in force that it was given with. */
  readonly rules: readonly Lesson[];
  /** Undefined where no rule has a check. */
  readonly work: CheckedWork | undefined;
}

async function rulesShown(
  session: string,
  { shown, conversation }: AppraisedTurn,
  records: Pick<Records, 'recalls'>,
  library: Pick<Library, 'lesson'>,
): Promise<readonly Lesson[]> {
  // An episode has no request that would name what it was shown.
  const ids = shown ?? (conversation === undefined ? recalledIn(await records.recalls(session)) : []);
  return ids.flatMap((id) => {
    const lesson = library.lesson(id);
    const isInForce = lesson?.state === 'trial' || lesson?.state === 'live';
    return lesson !== undefined && isInForce && PROMPT_KINDS.has(lesson.kind) ? [lesson] : [];
  });
}

const recalledIn = (recalls: readonly StoredFact[]): readonly string[] => [
  ...new Set(recalls.flatMap(({ fact }) => (fact.type === 'lessons-recalled' ? fact.lessons : []))),
];

/** What the session's record says of its rules so far. */
interface RuleHistory {
  readonly outcomes: Map<string, CheckedOutcome>;
  /** Turns that were checked: a check that is changed later does not judge them again. */
  readonly turns: Set<string>;
  /** How many answers a command or a judge was to be asked about, by rule. */
  readonly asked: Map<string, number>;
  /** Turns that weights may be trained on: each of them needs its own outcome. */
  readonly sampled: Set<string>;
}

type CheckedOutcome = Exclude<RuleOutcome, 'told-again'>;

/** A later outcome of a session takes the place of a lower one. */
const RANK: Readonly<Record<CheckedOutcome, number>> = { shown: 0, 'does-not-apply': 1, kept: 2, broken: 3 };

function readHistory(facts: readonly StoredFact[]): RuleHistory {
  const history: RuleHistory = {
    outcomes: new Map(),
    turns: new Set(),
    asked: new Map(),
    sampled: new Set(),
  };
  for (const { fact } of facts) {
    if (fact.type !== 'rules-observed') continue;
    for (const { lesson, outcome, isWaiting } of fact.results) {
      if (outcome === 'told-again') continue;
      if (isWaiting === true) history.asked.set(lesson, (history.asked.get(lesson) ?? 0) + 1);
      history.outcomes.set(lesson, outcome);
      history.turns.add(fact.turn);
    }
  }
  return history;
}

/** The outcome that a session has for a rule so far. */
export const checkedBefore = (facts: readonly StoredFact[], rule: string): CheckedOutcome | undefined =>
  readHistory(facts).outcomes.get(rule);

/** Whether an outcome says more of a session than the one before. Every break counts. */
export const laterOutcome = (outcome: CheckedOutcome, before: CheckedOutcome | undefined): boolean =>
  before === undefined || RANK[outcome] > RANK[before] || outcome === 'broken';

/** Answers of a session that a command looks at, and a judge: it costs money. */
const MOST_ASKED = { command: 20, judge: 1 };

/** Whether a command or a judge is to be asked about an answer. A session that broke the rule already is asked no more. */
function isAskedLater({ id, check }: Lesson, work: CheckedWork | undefined, history: RuleHistory): boolean {
  if (check === undefined || work === undefined || history.outcomes.get(id) === 'broken') return false;
  const isJudged = check.holdsWhen.some(({ is }) => is === 'judge');
  const isAsked = isJudged || (hasPersonsCommand(check) && sandboxFiles(work) !== undefined);
  const most = MOST_ASKED[isJudged ? 'judge' : 'command'];
  return isAsked && (history.asked.get(id) ?? 0) < most && awaitsSlowTest(check, work);
}

type ObservedRules = NewFact & { readonly fact: AdherenceFact };

function checkAnswer(
  session: string,
  { turn, rules, work }: AnswerRules,
  history: RuleHistory,
  at: number,
): readonly ObservedRules[] {
  const { evidence } = turn;
  const { outcomes, turns } = history;
  if (!isOver(turn) || turns.has(evidence.turn)) return [];
  const results = rules.flatMap((rule): readonly RuleResult[] => {
    const before = outcomes.get(rule.id);
    const isWaiting = isAskedLater(rule, work, history) || undefined;
    const now = outcomeOf(rule, work);
    const isTrained = now === 'kept' && before === 'kept' && history.sampled.has(evidence.turn);
    if (!laterOutcome(now, before) && isWaiting === undefined && !isTrained) return [];
    const outcome = laterOutcome(now, before) ? now : (before ?? now);
    outcomes.set(rule.id, outcome);
    if (isWaiting === true) history.asked.set(rule.id, (history.asked.get(rule.id) ?? 0) + 1);
    const isProvisional = rule.check?.standing === 'provisional' || undefined;
    return [compact({ lesson: rule.id, revision: rule.revision, outcome, isProvisional, isWaiting, before })];
  });
  if (results.length === 0) return [];
  const fact: AdherenceFact = { type: 'rules-observed', session, turn: evidence.turn, results };
  return [{ at, fact, key: `rules:${evidence.turn}` }];
}

/** Which of the broken rules were in force without their words. */
async function withRemembered(
  session: string,
  observed: readonly ObservedRules[],
  records: Pick<Records, 'recalls'>,
): Promise<readonly ObservedRules[]> {
  const isBroken = ({ outcome }: RuleResult): boolean => outcome === 'broken';
  if (!observed.some(({ fact }) => fact.results.some(isBroken))) return observed;
  const remembered = new Set(
    (await records.recalls(session)).flatMap(({ fact }) =>
      fact.type === 'lessons-recalled' ? (fact.remembered ?? []) : [],
    ),
  );
  const mark = (result: RuleResult): RuleResult =>
    isBroken(result) && remembered.has(result.lesson) ? { ...result, isRemembered: true } : result;
  return observed.map((one) => ({ ...one, fact: { ...one.fact, results: one.fact.results.map(mark) } }));
}

/** What training needs of a turn that nobody may ever say anything about. */
function withSample(
  { fact, ...rest }: ObservedRules,
  sampled: ReadonlySet<string>,
  scope: Scope | undefined,
  turns: readonly AppraisedTurn[],
): NewFact {
  const generation = turns.find(({ evidence }) => evidence.turn === fact.turn)?.generation;
  if (scope === undefined || generation === undefined || !sampled.has(fact.turn)) return { ...rest, fact };
  return { ...rest, fact: { ...fact, sampled: { generation, scope } } };
}

/** The agent has stopped working on the person's message: it called no further tool, or the person spoke before the results came. */
const isOver = ({ evidence: { reply, next } }: AppraisedTurn): boolean =>
  reply.every(({ type }) => type !== 'tool-call') || next?.user !== undefined;

const outcomeOf = ({ check }: Lesson, work: CheckedWork | undefined): CheckedOutcome =>
  check === undefined || work === undefined ? 'shown' : runCheck(check, work).outcome;

const applyingRules = ({ rules, work }: AnswerRules): readonly string[] =>
  rules.filter((rule) => RANK[outcomeOf(rule, work)] >= RANK.kept).map(({ id }) => id);

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
function createFindToldAgain({ records, evidence, library, compareQuotes }: ToldAgainOptions) {
  const readKnown = createReadKnown();
  return async (
    session: string,
    turns: readonly AppraisedTurn[],
    now: number,
  ): Promise<readonly NewFact[]> => {
    const spoken = turns.filter(isSpoken);
    if (spoken.length === 0) return [];
    const own = libraryOwnedBy(library, principalOfSession(session));
    const inForce = own.lessons().filter(isInUse);
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
const isOpening = ({ task, spans, isFollowUp, askedBefore, earlier }: AppraisedTurn['evidence']): boolean =>
  isFollowUp !== true &&
  askedBefore === undefined &&
  earlier.length === 0 &&
  readStatements(task, '', spans).length > 0;

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
  const opening = readStatements(evidence.task, '', evidence.spans).flatMap(({ quote, kind }) =>
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
