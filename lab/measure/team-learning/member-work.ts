import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import { createRandom } from '../../../src/base/random.ts';
import type { FileQuestion, TaskVerdict } from '../../suite/suite.ts';
import { pick, shuffled } from '../../workdays/draw.ts';
import { type DrawnRule, drawRuleSet } from '../../workdays/rules/draw-rules.ts';
import type { RuleSet } from '../../workdays/rules/rule-set.ts';
import { type WorkQuestion, workQuestions } from '../../workdays/task-source.ts';

/** A rule of the house, and tasks that it alone counts for. */
export interface TeamRule extends DrawnRule {
  readonly work: readonly WorkQuestion[];
  /** Other tasks, for measuring. */
  readonly probes: readonly WorkQuestion[];
}

/** Who meets what. Members are counted from 0. */
export interface TeamWork {
  /** They count for every member. */
  readonly house: readonly TeamRule[];
  /** One for each member: it counts for that member's work alone, and nobody shares it. */
  readonly own: readonly TeamRule[];
  /** By day and member: the rules of the day's tasks, one each. */
  readonly days: readonly (readonly (readonly TeamRule[])[])[];
}

interface TeamWorkOptions {
  readonly seed: number;
  readonly days: number;
  /** Tasks of a member in a day. */
  readonly tasks: number;
  /** The chance that a task is about a rule that the member seldom meets. */
  readonly seldom: number;
}

export const MEMBERS: readonly string[] = ['ada', 'bob', 'cyd'];
/** By member: the house rules that the daily work is about. The first, the third and the fifth are met by two of them. */
const PARTS: readonly (readonly number[])[] = [
  [0, 1, 2],
  [2, 3, 4],
  [4, 5, 0],
];
const HOUSE = 6;
const DRAWN = 30;
/** Of each rule, for work and for measuring. */
const TASKS = 12;
const FEWEST = 2;
const WORLDS = { first: 90_000, perSeed: 400, perRule: 10 };
/** Names, tasks and wordings of a split that no pre-training saw. */
const SPLIT = 'report';

/** The same for the same options: all arms of a seed have the same days. Undefined where too few of the drawn rules are apart. */
export function drawTeamWork({ seed, days, tasks, seldom }: TeamWorkOptions): TeamWork | undefined {
  const rules = drawTeamRules(seed);
  if (rules.length < HOUSE + MEMBERS.length) return undefined;
  const house = rules.slice(0, HOUSE);
  const own = rules.slice(HOUSE, HOUSE + MEMBERS.length);
  const random = createRandom(`team-learning/${seed}/days`);
  const drawTask = (member: number): TeamRule => {
    const mine = house.filter((_, at) => PARTS[member]?.includes(at));
    const others = house.filter((_, at) => !PARTS[member]?.includes(at));
    const daily = [...mine, ...own.slice(member, member + 1)];
    return pick(random, random.next() < seldom ? others : daily);
  };
  return {
    house,
    own,
    days: Array.from({ length: days }, () =>
      MEMBERS.map((_, member) => Array.from({ length: tasks }, () => drawTask(member))),
    ),
  };
}

/** Rules of which no one's feedback teaches another: what is obeyed was learned from this rule. */
function drawTeamRules(seed: number): readonly TeamRule[] {
  const chosen: TeamRule[] = [];
  const drawn = drawRuleSet({ seed: `team/${seed}`, origin: 'unseen-parameters', count: DRAWN }).rules;
  for (const [at, rule] of drawn.entries()) {
    if (chosen.length === HOUSE + MEMBERS.length) break;
    const from = WORLDS.first + WORLDS.perSeed * seed + WORLDS.perRule * at;
    const made = withTasks(rule, from);
    if (made === undefined) continue;
    const said = allFeedback(made);
    const isApart = chosen.every((other) => !made.isTaughtBy(allFeedback(other)) && !other.isTaughtBy(said));
    if (isApart) chosen.push(made);
  }
  return chosen;
}

function withTasks(rule: DrawnRule, world: number): TeamRule | undefined {
  const rules = { name: rule.title, rules: [rule] };
  const found = tasksOf(rules, world).filter(
    ({ question }) => question.rules.length > 0 && rule.isTaughtBy(feedbackOn(question, rule.id)),
  );
  const tasks = shuffled(createRandom(`team-learning/${world}`), found);
  if (tasks.length < 2 * FEWEST) return undefined;
  const half = Math.min(TASKS, Math.floor(tasks.length / 2));
  return { ...rule, work: tasks.slice(0, half), probes: tasks.slice(half, 2 * half) };
}

/** None where the suite cannot ask about this rule alone. */
function tasksOf(rules: RuleSet, seed: number): readonly WorkQuestion[] {
  try {
    return [...workQuestions({ split: SPLIT, seed, count: 4 * TASKS, rules })].flat();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('too few ways')) return [];
    throw error;
  }
}

const feedbackOn = (question: FileQuestion, rule: string): string =>
  question.feedback({ status: 'ok', passed: false, isDone: true, broken: [rule], reasons: [] });

/** Everything that a person would say about it. */
const allFeedback = ({ work, id }: TeamRule): string =>
  work.map(({ question }) => feedbackOn(question, id)).join('\n');

const NEVER = new AbortController().signal;

/** Carries commands out in an empty folder and looks at what is there. */
export async function judgeAnswer({ question, files }: WorkQuestion, answer: string): Promise<TaskVerdict> {
  const workspace = await createWorkspace();
  try {
    for (const [file, text] of Object.entries(files)) await workspace.write(file, text);
    const lines = answer.split('\n').filter((line) => line.trim() !== 'done');
    await workspace.runPlain(lines.join('\n'), {});
    return await question.check(workspace, NEVER);
  } finally {
    await workspace.dispose();
  }
}
