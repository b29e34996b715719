import type { CheckedWork, CheckResult } from '../core/check.ts';
import { compact } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { CheckedRule, PracticeTask } from '../core/practice.ts';
import { type PersonsPlace, placeOfSession } from '../core/principal.ts';
import type { DecodedTurn, Records, TurnView } from '../core/store.ts';
import type { Submission, Verification } from '../core/verifier.ts';
import type { VerifierRow } from '../core/verifier-row.ts';
import { workInConversation } from '../evidence/checked-work.ts';
import { isPractisedOn } from '../evidence/learned-from.ts';
import { taskOf } from '../evidence/turn-evidence.ts';
import { checkOfDomain } from '../evidence/verifiers/verify-task.ts';
import { type AskSlowTest, awaitsSlowTest, runCheck, runWholeCheck } from '../lessons/checks/run-check.ts';
import { admit, audienceOf } from '../lessons/scope.ts';
import { isPersonsWord } from '../lessons/told.ts';
import { oneLine } from '../text/visible-text.ts';

/*
 * Work of practice and training is graded by the rules that its person told: an accepted check of a rule in force, in whose scope the
 * work is. A provisional check grades nothing, since nothing but the words of the rule speaks for it.
 */

interface RulePlace extends PersonsPlace {
  readonly domain?: string | undefined;
}

/** Whether a lesson grades work in its scope. */
export const isGradingRule = (lesson: Lesson): boolean =>
  lesson.check?.standing === 'accepted' && isPersonsWord(lesson);

/** `lessons`: those that are shown now. */
export function rulesFor(lessons: readonly Lesson[], place: RulePlace): readonly CheckedRule[] {
  const { domain, agent = '', ...whose } = place;
  // An agent's work is graded by what that agent was told.
  const asker = { ...compact(whose), agent, sharesAgents: false };
  return lessons.flatMap((lesson): readonly CheckedRule[] => {
    const { id, check, text } = lesson;
    if (check === undefined || !isGradingRule(lesson)) return [];
    const admittance = admit(audienceOf(lesson, undefined), asker, domain);
    if (admittance !== 'yes' && admittance !== 'shared') return [];
    return [{ lesson: id, rule: oneLine(text.description).replace(/^"(.+)"$/, '$1'), check }];
  });
}

/** `rules`: the lessons whose checks applied. */
interface RuleGrade {
  readonly reward: number;
  readonly reasons: readonly string[];
  readonly rules: readonly string[];
}

/** The share of rules that the work kept, among those whose check applies. Undefined when none does: avoiding a subject earns nothing. */
export const gradeByRules = (rules: readonly CheckedRule[], work: CheckedWork): RuleGrade | undefined =>
  gradeOf(rules.map((one) => ({ ...one, result: runCheck(one.check, work) })));

/** Whether an attempt at this could be graded, by what can be told of this work at once. */
export const isGradable = (rules: readonly CheckedRule[], work: CheckedWork): boolean =>
  gradeByRules(rules, work) !== undefined || rules.some(({ check }) => awaitsSlowTest(check, work));

interface AskedRule extends CheckedRule {
  readonly result: CheckResult;
}

function gradeOf(asked: readonly AskedRule[]): RuleGrade | undefined {
  const results = asked.filter(({ result }) => result.outcome !== 'does-not-apply');
  if (results.length === 0) return undefined;
  const keeping = results.filter(({ result }) => result.outcome === 'kept');
  return {
    reward: keeping.length / results.length,
    reasons: results.map(({ rule, result }) => {
      if (result.outcome !== 'broken') return `kept “${rule}”`;
      return `broke “${rule}”${result.quote === undefined ? '' : `: ${result.quote}`}`;
    }),
    rules: results.map(({ lesson }) => lesson),
  };
}

type VerifyTask = (task: PracticeTask, submission: Submission, signal: AbortSignal) => Promise<Verification>;

/** Grades attempts at tasks that rules grade; the others as before. `slow`: answers what needs a process or a model. */
export const withRuleChecks =
  (
    verify: VerifyTask,
    slow: (signal: AbortSignal) => AskSlowTest,
  ): ((...of: Parameters<VerifyTask>) => Promise<Verification | { readonly status: 'does-not-apply' }>) =>
  async (task, submission, signal) => {
    if (task.check?.kind !== 'rules') return verify(task, submission, signal);
    const { task: prompt, messages = [], output } = submission;
    const work = workInConversation(prompt, messages, [{ type: 'text', text: output }]);
    const asked: AskedRule[] = [];
    for (const rule of task.check.rules)
      asked.push({ ...rule, result: await runWholeCheck(rule.check, work, slow(signal)) });
    const grade = gradeOf(asked);
    if (grade === undefined) return { status: 'does-not-apply' };
    return { status: 'ok', reward: grade.reward, reasons: grade.reasons };
  };

interface TaskCheckParts {
  /** Those that are shown now. */
  readonly lessons: () => readonly Lesson[];
  /** The configured verifiers, by domain. */
  readonly verifiers: readonly VerifierRow[];
  readonly records: Pick<Records, 'turns'>;
  /** Undefined for a turn that cannot be read any more. */
  readonly decodeTurn: (turn: TurnView) => Promise<DecodedTurn | undefined>;
}

/**
 * What grades attempts at a task: its own check, else the verifier that the owner configured for its domain, else the rules of its person
 * where one of them applied to the recorded answer or the task is about one. Criteria that were concluded from a remark grade only where
 * no rule does: a model reads them.
 */
export async function findTaskCheck(
  task: PracticeTask,
  hasModel: boolean,
  parts: TaskCheckParts,
): Promise<PracticeTask['check']> {
  const { check } = task;
  const isConcluded = check?.kind === 'rubric' && task.isApproximate === true;
  if (check !== undefined && !isConcluded) return check;
  const configured = check === undefined ? checkOfDomain(task, parts.verifiers, hasModel) : undefined;
  if (configured !== undefined) return configured;
  const { from, about = [], agent, project, domain } = task;
  const place = from === undefined ? { agent, project } : placeOfSession(from.session, { agent, project });
  const rules = rulesFor(parts.lessons(), { ...place, domain });
  if (rules.length === 0) return check;
  if (rules.some(({ lesson }) => about.includes(lesson))) return { kind: 'rules', rules };
  const work = from && (await readRecordedWork(from, parts));
  return work !== undefined && isGradable(rules, work) ? { kind: 'rules', rules } : check;
}

/** What was done for a recorded request, up to the last turn of it. Undefined when it may not be practised on, or cannot be read any more. */
async function readRecordedWork(
  { session, turn }: NonNullable<PracticeTask['from']>,
  { records, decodeTurn }: Pick<TaskCheckParts, 'records' | 'decodeTurn'>,
): Promise<CheckedWork | undefined> {
  const turns = (await records.turns(session)).filter(({ role }) => role === 'main');
  const first = turns.findIndex(({ id }) => id === turn);
  let work: CheckedWork | undefined;
  for (const view of first < 0 ? [] : turns.slice(first)) {
    const read = isPractisedOn(view) ? await decodeTurn(view) : undefined;
    if (read === undefined) break;
    const { messages } = read.request;
    const next = workInConversation(taskOf(messages), messages, read.reply);
    if (work !== undefined && next.request !== work.request) break;
    work = next;
  }
  return work;
}
