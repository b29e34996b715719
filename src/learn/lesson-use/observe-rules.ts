import type { AdherenceFact, RuleOutcome, RuleResult } from '../../core/adherence-fact.ts';
import type { CheckedWork } from '../../core/check.ts';
import type { StoredFact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import { type Lesson, PROMPT_KINDS } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isAttemptId } from '../../core/practice.ts';
import type { NewFact, Records } from '../../core/store.ts';
import { workUpTo } from '../../evidence/checked-work.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { runCheck } from '../../lessons/checks/run-check.ts';
import type { CompareQuotes } from '../distiller/same-rule.ts';
import { createFindToldAgain } from './told-again.ts';

export interface RuleObserverOptions {
  readonly records: Pick<Records, 'judgements' | 'recalls' | 'session' | 'turns'>;
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
    const checked = answers.flatMap((answer) => checkAnswer(session, answer, history, now));
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
}

type CheckedOutcome = Exclude<RuleOutcome, 'told-again'>;

/** A later outcome of a session takes the place of a lower one. */
const RANK: Readonly<Record<CheckedOutcome, number>> = { shown: 0, 'does-not-apply': 1, kept: 2, broken: 3 };

function readHistory(facts: readonly StoredFact[]): RuleHistory {
  const history: RuleHistory = { outcomes: new Map(), turns: new Set() };
  for (const { fact } of facts) {
    if (fact.type !== 'rules-observed') continue;
    for (const { lesson, outcome } of fact.results) {
      if (outcome === 'told-again') continue;
      history.outcomes.set(lesson, outcome);
      history.turns.add(fact.turn);
    }
  }
  return history;
}

function checkAnswer(
  session: string,
  { turn, rules, work }: AnswerRules,
  { outcomes, turns }: RuleHistory,
  at: number,
): readonly NewFact[] {
  const { evidence } = turn;
  if (!isOver(turn) || turns.has(evidence.turn)) return [];
  const results = rules.flatMap((rule): readonly RuleResult[] => {
    const outcome = outcomeOf(rule, work);
    const before = outcomes.get(rule.id);
    const isNew = before === undefined || RANK[outcome] > RANK[before] || outcome === 'broken';
    if (!isNew) return [];
    outcomes.set(rule.id, outcome);
    const isProvisional = rule.check?.standing === 'provisional' || undefined;
    return [compact({ lesson: rule.id, revision: rule.revision, outcome, isProvisional, before })];
  });
  if (results.length === 0) return [];
  const fact: AdherenceFact = { type: 'rules-observed', session, turn: evidence.turn, results };
  return [{ at, fact, key: `rules:${evidence.turn}` }];
}

/** The agent has stopped working on the person's message: it called no further tool, or the person spoke before the results came. */
const isOver = ({ evidence: { reply, next } }: AppraisedTurn): boolean =>
  reply.every(({ type }) => type !== 'tool-call') || next?.user !== undefined;

const outcomeOf = ({ check }: Lesson, work: CheckedWork | undefined): CheckedOutcome =>
  check === undefined || work === undefined ? 'shown' : runCheck(check, work).outcome;

const applyingRules = ({ rules, work }: AnswerRules): readonly string[] =>
  rules.filter((rule) => RANK[outcomeOf(rule, work)] >= RANK.kept).map(({ id }) => id);
