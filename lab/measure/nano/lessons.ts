import { shownSkills } from '../../../nano/policy/render-prompt.ts';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { FailureCase } from '../../../src/core/learn.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { STARTER_SKILLS } from '../../../src/lessons/starter/starter-skills.ts';
import { fill, pick } from '../../workdays/draw.ts';
import type { PlannedQuestion } from '../../workdays/files/make-file-questions.ts';
import type { Plan } from '../../workdays/files/plan.ts';
import { HOUSE_RULES } from '../../workdays/rules/house-rules.ts';
import { createWorkdays } from '../../workdays/workdays.ts';
import type { Split } from '../../workdays/world.ts';
import { createLiveSkill, type PairLesson } from '../recall/synthetic.ts';
import { DISTRACTORS, PHRASINGS } from './phrasings.ts';
import { type PoolRule, RULE_POOL } from './rule-pool.ts';

/** By rule key: lines that teach the rule, as the policy reads them. `''` has distractors. */
export type LessonPool = ReadonlyMap<string, readonly string[]>;

type SkillText = Omit<PairLesson, 'id'>;

const distiller = createDistiller();

/** Nothing was learned before. */
const { library: EMPTY_LIBRARY } = await openLibrary({
  load: async () => [],
  append: async () => {
    throw new Error('nothing is published here');
  },
  clock: systemClock,
  newId: (prefix) => prefix,
  onFault: (error) => {
    throw error;
  },
});

/**
 * Lessons that the built-in distiller makes from the feedback of a split, rendered and read back as the policy reads them. The training pool
 * also has free wordings; the pools of other splits have only the distiller's lessons.
 */
export async function makeLessons(split: Split, perRule: number): Promise<LessonPool> {
  const plans = plansOf(split);
  const pool = new Map<string, readonly string[]>();
  for (const rule of RULE_POOL) {
    const isHouse = /^[PQ]\d$/.test(rule.key);
    if (split !== 'train' && !isHouse) continue;
    const fitting = plans.filter(({ plan }) => rule.appliesTo(plan));
    const lines = new Set<string>();
    const count = isHouse ? 3 * perRule : perRule;
    for (let number = 0; number < count; number++) {
      const random = createRandom(`lesson/${split}/${rule.key}/${number}`);
      const question = pick(random, fitting);
      const said = rule.tell(question.plan, split, random);
      for (const line of await distil(question, said)) lines.add(line);
      if (split === 'train') lines.add(ownWords(rule, question.plan, `${rule.key}/${number}`));
    }
    pool.set(rule.key, [...lines]);
  }
  const others = [...DISTRACTORS, ...STARTER_SKILLS.map(readBack)];
  pool.set(
    '',
    others.filter((line) => line !== ''),
  );
  return pool;
}

/** The tasks whose feedback becomes lessons; none of them is a sample. */
function plansOf(split: Split): readonly PlannedQuestion[] {
  return Array.from({ length: 12 }, (_, at) =>
    createWorkdays({ seed: 900_000 + at, split, form: 'short', rules: HOUSE_RULES }),
  )
    .flatMap(({ days }) => days.flatMap(({ questions }) => questions))
    .flatMap((question) => (question.kind === 'files' ? [question as PlannedQuestion] : []));
}

/** The skill that the distiller makes from this feedback; only the first if it makes several. */
async function distil(question: PlannedQuestion, said: string): Promise<readonly string[]> {
  const failure: FailureCase = {
    turn: 't1',
    session: 's1',
    at: 1_000,
    generation: 0,
    scope: {},
    task: question.text,
    passages: [
      { origin: 'user', text: question.text },
      { origin: 'person', text: said },
    ],
    source: 'person',
    appraisal: {
      turn: 't1',
      verdict: 'failure',
      reward: 0.1,
      source: 'person',
      signals: [],
      digests: [],
    },
  };
  const learned = distiller.learn({
    library: EMPTY_LIBRARY,
    ask: undefined,
    newId: (prefix) => `${prefix}-1`,
    journal: () => undefined,
    signal: new AbortController().signal,
    material: [failure],
  });
  const lines: string[] = [];
  for await (const step of learned)
    if ('change' in step && 'text' in step.change) lines.push(readBack(step.change.text));
  return lines.slice(0, 1);
}

const readBack = ({ name, description, content }: SkillText): string => {
  const block = renderBlock([createLiveSkill({ id: 'a', name, description, content })]);
  const request = {
    model: '',
    system: [{ type: 'text' as const, text: block }],
    messages: [],
    tools: [],
    stream: false,
  };
  return shownSkills(request)[0]?.text ?? '';
};

const WHEN: Readonly<Record<string, readonly string[]>> = {
  times: ['Use when a file has a date.', 'Dates and times.', 'When writing times.'],
  'file-names': ['Use when you create a file.', 'Names of files.', 'When a file is new.'],
  metadata: ['Use when you create a file.', 'What new files carry.', 'For each new document.'],
  backup: ['Use when you edit a file.', 'Careful with files that exist.', 'When changing a file.'],
  'done-log': ['Use when a task is finished.', 'Ending a task.', 'At the end of any task.'],
  'ticket-prefix': ['Use when you mention a ticket.', 'Tickets.', 'When a ticket is written.'],
  units: ['Use when you write an amount.', 'Amounts.', 'When a file has costs or hours.'],
  'sorted-keys': ['Use when you write JSON.', 'Order in JSON.', 'When a JSON file is new.'],
  'header-comment': ['Use when you create a file.', 'How files begin.', 'For each new document.'],
  checksums: ['Use after writing files.', 'Sums of files.', 'When files were written.'],
};
const LEAD = ['', '', 'Always: ', 'Note: ', 'Remember: ', 'Rule: ', 'Here we do it so: '];

/** The rule in a free wording. */
function ownWords({ form, words }: PoolRule, plan: Plan, seed: string): string {
  const random = createRandom(`own/${seed}`);
  const said = fill(pick(random, PHRASINGS[form] ?? []), words(plan));
  const lead = random.next() < 0.35 ? `${pick(random, WHEN[form] ?? [''])} ` : pick(random, LEAD);
  return `${lead}${said}`;
}
