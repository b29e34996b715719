import { createRandom } from '../../../src/base/random.ts';
import type { ChoiceQuestion, FileQuestion, Suite, SuiteDay, SuiteQuestion, SuiteRule } from '../suite.ts';
import { makeChoices } from './choices/make-choices.ts';
import { shuffled } from './draw.ts';
import { makeFileQuestions } from './files/make-file-questions.ts';
import { makeDays, seedOf, WORKDAYS } from './make-world/make-days.ts';
import { HOUSE_RULES } from './rules/house-rules.ts';
import { makeRuleChoice } from './rules/make-rule-choice.ts';
import type { RuleSet } from './rules/rule-set.ts';
import type { DayFacts, Split, World } from './world.ts';

interface WorkdaysOptions {
  readonly seed: number;
  readonly split: Split;
  /** The house rules by default. */
  readonly rules?: RuleSet;
  /** Only this many first days; all fourteen by default. */
  readonly days?: number;
}

const CHOICES = 31;
const FILES = 11;
/** Choices per day that depend on a house rule. */
const RULE_CHOICES = 6;
const RULE_TRIES = 20;

interface Making {
  readonly seed: string;
  readonly split: Split;
  readonly rules: RuleSet;
  /** The question texts of the suite so far. */
  readonly asked: Set<string>;
}

/** Fourteen days of work in an invented company; byte-identical for the same options. */
export function createWorkdays(options: WorkdaysOptions): Suite {
  const { split, rules = HOUSE_RULES, days = WORKDAYS } = options;
  if (!Number.isInteger(days) || days < 1 || days > WORKDAYS) throw new RangeError(`days: 1 to ${WORKDAYS}`);
  const arcs = arcsOf(rules.rules, WORKDAYS);
  const making: Making = { seed: seedOf(split, options.seed), split, rules, asked: new Set() };
  return {
    name: 'workdays',
    rules: rules.rules.toSorted((a, b) => a.since - b.since),
    days: makeDays(split, options.seed)
      .slice(0, days)
      .map((facts, index): SuiteDay => {
        const { world, id } = facts.day;
        const arc = arcs[index];
        const { questions, files } = makeQuestions(facts, making);
        return {
          id,
          about: `${world.product} at ${world.company}`,
          ...(arc !== undefined && { arc }),
          system: identityOf(world),
          files: { texts: files },
          // What the user said about earlier answers stays in the conversation, as with any assistant.
          conversation: 'day',
          shell: 'plain',
          questions,
        };
      }),
  };
}

/** A day's questions: file tasks spread over the day, rule questions among the document questions. */
function makeQuestions(
  facts: DayFacts,
  making: Making,
): { readonly questions: readonly SuiteQuestion[]; readonly files: Readonly<Record<string, string>> } {
  const { seed, split, rules, asked } = making;
  const { day } = facts;
  const tasks = makeFileQuestions({ day, rules, count: FILES, seed: `${seed}/${day.id}/files`, split });
  const ids = Array.from({ length: CHOICES }, (_, at) => `${day.id}-c${String(at + 1).padStart(2, '0')}`);
  for (const { text } of tasks.questions) asked.add(text);

  const places = createRandom(`${seed}/${day.id}/places`);
  const onRules = new Set(shuffled(places, ids).slice(0, RULE_CHOICES));
  const byId = new Map<string, ChoiceQuestion>();
  for (const [at, id] of [...onRules].entries()) {
    const question = askRule(facts, making, id, at);
    if (question === undefined) continue;
    asked.add(question.text);
    byId.set(id, question);
  }
  const open = ids.filter((id) => !byId.has(id));
  for (const question of makeChoices({ facts, ids: open, seed, asked })) {
    asked.add(question.text);
    byId.set(question.id, question);
  }
  const choices = ids.flatMap((id) => byId.get(id) ?? []);
  return { questions: interleave(choices, tasks.questions), files: tasks.files };
}

/** A question on an active rule, the newest most often; undefined when no rule is active or every question was asked. */
function askRule({ day }: DayFacts, making: Making, id: string, turn: number): ChoiceQuestion | undefined {
  const { seed, split, rules, asked } = making;
  const active = rules.rules.filter(({ since }) => since <= day.index).toSorted((a, b) => b.since - a.since);
  for (let attempt = 0; attempt < RULE_TRIES && active.length > 0; attempt++) {
    const rule = active[(turn + attempt) % active.length];
    if (rule === undefined) break;
    const question = makeRuleChoice({
      rule,
      day,
      id,
      seed: `${seed}/${id}/${attempt}`,
      split,
      rules,
    });
    if (!asked.has(question.text)) return question;
  }
  return undefined;
}

/** Both lists in their order, each spread evenly over the day. */
function interleave(
  choices: readonly ChoiceQuestion[],
  tasks: readonly FileQuestion[],
): readonly SuiteQuestion[] {
  const placed = [choices, tasks].flatMap((list: readonly SuiteQuestion[]) =>
    list.map((question, at) => ({ question, place: (at + 0.5) / list.length })),
  );
  return placed.toSorted((a, b) => a.place - b.place).map(({ question }) => question);
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * The learning arc of each day. An arc begins with each day on which rules begin to count; the last arc is the second half of the days
 * after the last rule, with all rules together. Five rules make six arcs.
 */
function arcsOf(rules: readonly Pick<SuiteRule, 'id' | 'since'>[], days: number): readonly string[] {
  const starts = [...new Set(rules.map(({ since }) => since))]
    .filter((since) => since < days)
    .sort((x, y) => x - y);
  const last = starts.at(-1);
  const together = last === undefined ? 0 : last + Math.max(1, Math.floor((days - last) / 2));
  return Array.from({ length: days }, (_, day) => {
    const begun = starts.filter((since) => since <= day).length;
    if (last !== undefined && day >= together) return `${LETTERS[starts.length] ?? 'Z'}: all rules together`;
    if (begun === 0) return 'before any rule';
    const since = starts[begun - 1];
    const ids = rules.filter((rule) => rule.since === since).map(({ id }) => id);
    return `${LETTERS[begun - 1] ?? 'Z'}: ${ids.join(', ')} begins`;
  });
}

/** The system prompt: whom the agent helps, and how to answer and finish. It states no house rule. */
const identityOf = ({ people }: World): string =>
  `You help ${people[0]?.name ?? 'the team'}. Questions: letters in \\bbox{A,C}. Tasks: run_command, then \`done\`.`;
