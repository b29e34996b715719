import { createRandom, type Random } from '../../../src/base/random.ts';
import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import { writeLesson } from '../../../src/learn/distiller/write-lesson.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { pick, shuffled } from '../../workdays/draw.ts';
import { makeFileQuestions, type PlannedQuestion } from '../../workdays/files/make-file-questions.ts';
import { makeDays } from '../../workdays/make-world/make-days.ts';
import { drawRuleSet, type RuleOrigin } from '../../workdays/rules/draw-rules.ts';
import { HOUSE_RULES } from '../../workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../workdays/rules/other-rules.ts';
import type { HouseRule, RuleSet } from '../../workdays/rules/rule-set.ts';
import type { Split } from '../../workdays/world.ts';
import { createLiveSkill } from '../recall/synthetic.ts';

/**
 * How the rule is told. `quote`: a lesson that quotes the user. `prose`: a skill as a model writes it. `line`: one line of the index.
 * `said`: feedback that stands earlier in the conversation. `notes`: the same in a file of notes. `none`: not at all. `together`: with the
 * lessons of the other rules of its set.
 */
export const TELLINGS = ['quote', 'prose', 'line', 'said', 'notes', 'none', 'together'] as const;
export type Telling = (typeof TELLINGS)[number];
type TrialOrigin = RuleOrigin | 'house';
export const ORIGINS: readonly TrialOrigin[] = ['seen', 'unseen-parameters', 'unseen-forms', 'house'];

/** One task with lessons in its prompt, and the rules that are judged in it. */
export interface Trial {
  readonly origin: TrialOrigin;
  readonly condition: Telling;
  /** One rule, or for `together` those of the set that apply. */
  readonly rules: readonly HouseRule[];
  readonly request: ChatRequest;
  readonly question: PlannedQuestion;
}

interface TrialOptions {
  readonly seed: string;
  /** Rules per origin. */
  readonly count: number;
  /** Tasks for each rule and condition. */
  readonly tasks: number;
  readonly split: Split;
  readonly origins?: readonly TrialOrigin[];
}

const SET_SIZE = 5;

/** Trials in a fixed order, the same for the same options. */
export function makeTrials({ seed, count, tasks, split, origins = ORIGINS }: TrialOptions): readonly Trial[] {
  return origins.flatMap((origin) =>
    setsFor(origin, seed, count).flatMap((set, at) => {
      const name = `${seed}/${origin}/${at}`;
      const together = shuffledTrials(origin, set, `${name}/together`, 2 * tasks * set.rules.length, split);
      return [
        ...set.rules.flatMap((rule) => aloneTrials(origin, rule, `${name}/${rule.id}`, tasks, split)),
        ...together,
      ];
    }),
  );
}

/** Sets of five until there are enough rules. Each rule counts from the first day on. */
function setsFor(origin: TrialOrigin, seed: string, count: number): readonly RuleSet[] {
  if (origin === 'house') return [HOUSE_RULES, OTHER_RULES].map(fromTheStart);
  const sets: RuleSet[] = [];
  for (let at = 0, left = count; left > 0 && at < 4 * count; at++) {
    const set = drawRuleSet({ seed: `${seed}/${at}`, origin, count: Math.min(SET_SIZE, left) });
    left -= set.rules.length;
    sets.push(fromTheStart(set));
  }
  return sets;
}

const fromTheStart = ({ name, rules }: RuleSet): RuleSet => ({
  name,
  rules: rules.map((rule) => ({ ...rule, since: 0 })),
});

const worldOf = (random: Random): number => 100_000 + random.below(900_000);

/** Tasks of several days in which at least one of the rules applies. */
function questionsFor(set: RuleSet, name: string, count: number, split: Split): readonly PlannedQuestion[] {
  const random = createRandom(`obedience/${name}/tasks`);
  const found: PlannedQuestion[] = [];
  for (let tries = 0; found.length < count && tries < 60; tries++) {
    const { day } = pick(random, makeDays(split, worldOf(random)));
    const { questions } = makeFileQuestions({
      day,
      rules: set,
      form: 'short',
      count: 6,
      seed: `${name}/${tries}`,
      split,
    });
    found.push(
      ...shuffled(
        random,
        questions.filter(({ rules }) => rules.length > 0),
      ).slice(0, 2),
    );
  }
  return found.slice(0, count);
}

/** Tasks in which the rule applies, each told in all ways. */
export function aloneTrials(
  origin: TrialOrigin,
  rule: HouseRule,
  name: string,
  tasks: number,
  split: Split,
): readonly Trial[] {
  // The examples in feedback come from other tasks than the ones that are asked.
  const [examples, asked] = cutAt(questionsFor({ name, rules: [rule] }, name, 2 * tasks, split), tasks);
  return asked.flatMap((question, at) =>
    TELLINGS.filter((condition) => condition !== 'together').map((condition): Trial => {
      const random = createRandom(`obedience/${name}/${at}/${condition}`);
      const told = toldBy(rule, pick(random, examples.length === 0 ? asked : examples), split, random);
      return { origin, condition, rules: [rule], question, request: requestFor([told], condition, question) };
    }),
  );
}

function shuffledTrials(
  origin: TrialOrigin,
  set: RuleSet,
  name: string,
  tasks: number,
  split: Split,
): readonly Trial[] {
  return questionsFor(set, name, tasks, split).map((question, at): Trial => {
    const random = createRandom(`obedience/${name}/${at}`);
    const told = shuffled(random, set.rules).map((rule) => {
      const [example] = questionsFor({ name, rules: [rule] }, `${name}/${rule.id}/${at % 4}`, 1, split);
      return toldBy(rule, example ?? question, split, random);
    });
    const rules = set.rules.filter(({ id }) => question.rules.includes(id));
    return {
      origin,
      condition: 'together',
      rules,
      question,
      request: requestFor(told, 'together', question),
    };
  });
}

const cutAt = <T>(list: readonly T[], at: number): readonly [readonly T[], readonly T[]] => [
  list.slice(0, Math.max(0, list.length - at)),
  list.slice(Math.max(0, list.length - at)),
];

interface Told {
  readonly said: string;
  readonly again: string;
  readonly task: string;
  readonly about: string;
}

const toldBy = (rule: HouseRule, { plan, text }: PlannedQuestion, split: Split, random: Random): Told => ({
  said: rule.tell(plan, split, random),
  again: rule.tell(plan, split, random),
  task: text,
  about: rule.about,
});

const SYSTEM = 'You help the office. Questions: letters in \\bbox{A,C}. Tasks: run_command, then `done`.';

/** The request as the gateway would send it. */
function requestFor(told: readonly Told[], condition: Telling, { text }: PlannedQuestion): ChatRequest {
  const user = (said: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text: said }] });
  const ask = (system: string, messages: readonly ChatMessage[]): ChatRequest => ({
    model: 'nano',
    system: [{ type: 'text', text: system }],
    messages,
    tools: [{ name: 'run_command', description: '', parameters: {} }],
    stream: false,
  });
  switch (condition) {
    case 'none':
      return ask(SYSTEM, [user(text)]);
    case 'said':
      return ask(SYSTEM, [
        user(told[0]?.task ?? ''),
        { role: 'assistant', content: [{ type: 'text', text: 'That is done.' }] },
        user(`${told.map(({ said }) => said).join('\n')}\n\n${text}`),
      ]);
    case 'notes':
      return ask(`${SYSTEM}\n\n## Notes\n\n${told.map(({ said }) => `- ${said}`).join('\n')}`, [user(text)]);
    case 'line':
      return ask(`${SYSTEM}\n\n${renderBlock([], told.map(quoting))}`, [user(text)]);
    case 'prose':
      return ask(`${SYSTEM}\n\n${renderBlock(told.map(asSkill))}`, [user(text)]);
    case 'quote':
    case 'together':
      return ask(`${SYSTEM}\n\n${renderBlock(told.map(quoting))}`, [user(text)]);
  }
}

const quoting = ({ said, task }: Told, at: number): Lesson =>
  createLiveSkill({
    id: `lesson-${at}`,
    ...writeLesson({ speaker: 'user', count: 1 + (at % 3), quotes: [said], tasks: [task] }),
  });

/** As a model writes a skill: when to use it, what to do in steps, what to check. */
const asSkill = ({ said, about }: Told, at: number): Lesson =>
  createLiveSkill({
    id: `lesson-${at}`,
    name: `house-convention-${at + 1}`,
    description: `Use when a task is about ${about}.`,
    content: `# Convention\n\n1. ${said}\n2. Compare the result with this before the task is closed.`,
  });
