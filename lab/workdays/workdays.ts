import { createRandom } from '../../src/base/random.ts';
import type {
  ChoiceQuestion,
  FileQuestion,
  Suite,
  SuiteDay,
  SuiteQuestion,
  SuiteRule,
} from '../suite/suite.ts';
import { makeChoices } from './choices/make-choices.ts';
import { writeDocuments } from './documents/papers.ts';
import { shuffled } from './draw.ts';
import { makeFileQuestions } from './files/make-file-questions.ts';
import { makeDays, seedOf, WORKDAYS } from './make-world/make-days.ts';
import { HOUSE_RULES } from './rules/house-rules.ts';
import { makeRuleChoice } from './rules/make-rule-choice.ts';
import type { RuleSet } from './rules/rule-set.ts';
import type { DayFacts, Form, Split, World } from './world.ts';

interface WorkdaysOptions {
  readonly seed: number;
  readonly split: Split;
  /** The house rules by default. */
  readonly rules?: RuleSet;
  readonly form?: Form;
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
  readonly form: Form;
  readonly rules: RuleSet;
  /** The question texts of the suite so far. */
  readonly asked: Set<string>;
}

/** Fourteen days of work in an invented company; byte-identical for the same options. */
export function createWorkdays(options: WorkdaysOptions): Suite {
  const { split, rules = HOUSE_RULES, form = 'full', days = WORKDAYS } = options;
  if (!Number.isInteger(days) || days < 1 || days > WORKDAYS) throw new RangeError(`days: 1 to ${WORKDAYS}`);
  const arcs = arcsOf(rules.rules, WORKDAYS);
  const making: Making = { seed: seedOf(split, options.seed), split, form, rules, asked: new Set() };
  return {
    name: 'workdays',
    rules: rules.rules.toSorted((a, b) => a.since - b.since),
    days: makeDays(split, options.seed)
      .slice(0, days)
      .map((facts, index): SuiteDay => {
        const { world, id } = facts.day;
        const arc = arcs[index];
        const { questions, files } = makeQuestions(facts, making);
        const papers = form === 'full' ? writeDocuments(facts) : {};
        return {
          id,
          about: `${world.product} at ${world.company}`,
          ...(arc !== undefined && { arc }),
          system: identityOf(world, form),
          files: { texts: together(papers, files) },
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
  const { seed, split, form, rules, asked } = making;
  const { day } = facts;
  const tasks = makeFileQuestions({ day, rules, form, count: FILES, seed: `${seed}/${day.id}/files`, split });
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
  for (const question of makeChoices({ facts, form, ids: open, seed, asked })) {
    asked.add(question.text);
    byId.set(question.id, question);
  }
  const choices = ids.flatMap((id) => byId.get(id) ?? []);
  return { questions: interleave(choices, tasks.questions), files: tasks.files };
}

/** A question on an active rule, the newest most often; undefined when no rule is active or every question was asked. */
function askRule({ day }: DayFacts, making: Making, id: string, turn: number): ChoiceQuestion | undefined {
  const { seed, split, form, rules, asked } = making;
  const active = rules.rules.filter(({ since }) => since <= day.index).toSorted((a, b) => b.since - a.since);
  for (let attempt = 0; attempt < RULE_TRIES && active.length > 0; attempt++) {
    const rule = active[(turn + attempt) % active.length];
    if (rule === undefined) break;
    const question = makeRuleChoice({
      rule,
      day,
      form,
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

/** Merges the files. Throws when a path has two different texts. */
function together(
  papers: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const twice = Object.keys(files).filter((file) => file in papers && papers[file] !== files[file]);
  if (twice.length > 0) throw new Error(`written twice: ${twice.join(', ')}`);
  return { ...papers, ...files };
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

/** The system prompt: the agent's role, its principal, and how to answer and finish. It states no house rule. */
function identityOf({ company, product, people, projects }: World, form: Form): string {
  const principal = people[0];
  const name = principal?.name ?? 'the team';
  if (form === 'short') {
    return `You help ${name}. Questions: letters in \\bbox{A,C}. Tasks: run_command, then \`done\`.`;
  }
  return [
    '# Who you are',
    '',
    `You are the assistant of ${name}, ${principal?.role ?? 'a lead'} at ${company}. The team builds ${product}; its projects are ${projects.join(', ')}.`,
    `You work in a folder of papers that ${name} also uses. One folder per day holds what is needed on that day.`,
    '',
    '# How you work',
    '',
    '- Read before you answer. A paper counts for what it says, not for what it would be natural to say.',
    '- Tell apart what was measured, what was decided and what somebody merely thinks.',
    '- A newer entry outweighs an older one of the same number.',
    '- What you write is used by others as it is: nothing half done, nothing to be filled in later.',
    `- ${name} says what was wrong with earlier work. This team has its ways; what was said once holds from then on.`,
    '',
    '# How things end',
    '',
    '- A question with options is answered with all right letters: `\\bbox{A}` or `\\bbox{A,C}`.',
    '- A task in the folder is done with the tool `run_command`. When it is finished, run the command `done`.',
  ].join('\n');
}
