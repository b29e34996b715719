import { truncateEnd } from '../../text/truncate.ts';
import { oneLine, visibleText } from '../plain-text.ts';
import { activityOf, categoryOf, taskKind } from './activity.ts';
import { quoteLiterals } from './literals.ts';
import { hasMark } from './marks.ts';
import type { RuleGroup } from './merge-rules.ts';
import { nameSkill } from './name-skill.ts';
import { small } from './phrasing.ts';
import type { ToldRule } from './rules-in.ts';
import { withoutShown } from './shown-part.ts';
import { isNewTo, saidBy } from './what-is-new.ts';

const LONGEST_STEP = 480;
const LONGEST_TITLE = 90;
const LONGEST_DESCRIPTION = 280;
const MOST_STEPS = 5;
const MOST_EXAMPLES = 3;
const MOST_SAID = 4;

export interface WrittenSkill {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
}

/** A group of observations as one skill: steps, examples, an anti-pattern, and the quoted feedback. */
export function writeSkill(group: RuleGroup): WrittenSkill {
  const [{ rule: lead }] = group;
  const rules = group.map(({ rule }) => rule);
  const tasks = group.flatMap(({ failure }) => (failure === undefined ? [] : [failure.task]));
  const about = [lead.todo, ...lead.more].join(' ');
  const activity = activityOf(about) ?? taskKind(tasks);
  return {
    name: nameSkill(lead),
    description: truncateEnd(describe(oneLine(lead.todo), activity), LONGEST_DESCRIPTION),
    content: contentOf(lead, rules, activityOf(about)),
    category: categoryOf(about),
  };
}

/** A rule that states its own condition needs no other. */
const describe = (todo: string, activity: string): string =>
  /^(?:when|whenever|before|after|if|once|every time|each time)\b/i.test(todo)
    ? `${todo}.`
    : `When you ${activity}: ${small(todo.replace(/^deliver what is wanted: /i, ''))}.`;

function contentOf(lead: ToldRule, rules: readonly ToldRule[], activity: string | undefined): string {
  const steps = [
    ...stepsOf(lead, rules),
    activity === undefined
      ? 'Hold to this in every task that it could concern, also where the task does not mention it.'
      : `Hold to this whenever you ${activity}, also where the task does not mention it.`,
    'Before you say that you are done, look at what you produced once more and put right what breaks this.',
  ];
  const examples = unique(
    rules.flatMap(({ example }) => (example === undefined ? [] : [example])),
    figureless,
  );
  const code = rules.find((rule) => rule.code !== undefined)?.code;
  const said = unique(
    rules.map((rule) => rule.said.join(' ')),
    withoutShown,
  ).slice(0, MOST_SAID);
  return [
    `## ${truncateEnd(oneLine(lead.todo), LONGEST_TITLE)}`,
    '',
    ...steps.map((step, index) => `${index + 1}. ${step}`),
    '',
    ...examples
      .slice(0, MOST_EXAMPLES)
      .map((example) => `Example: ${truncateEnd(oneLine(example), LONGEST_STEP)}`),
    ...(code === undefined ? [] : ['Example:', ...fenced(code)]),
    `Anti-pattern: ${antiPattern(lead, rules)}`,
    '',
    ...said.map((words) => `> ${truncateEnd(oneLine(words), LONGEST_STEP)}`),
  ].join('\n');
}

/** The leading rule, and of the others what it leaves open: its numbers and literals replace older ones. */
function stepsOf(lead: ToldRule, rules: readonly ToldRule[]): readonly string[] {
  const others = rules.slice(1).filter((rule) => addsTo(lead, rule));
  const sentences = [lead, ...others].flatMap(({ todo, more }) => [todo, ...more]);
  return unique(
    sentences.map((sentence) => `${quoteLiterals(truncateEnd(oneLine(sentence), LONGEST_STEP))}.`),
  ).slice(0, MOST_STEPS);
}

function addsTo(lead: ToldRule, other: ToldRule): boolean {
  const isMore = isNewTo(saidBy([lead]), { rule: other });
  const differs = lead.ownMarks.size > 0 && [...other.ownMarks].some((mark) => !hasMark(lead.marks, mark));
  return isMore && !differs && figuresOf(other).every((figure) => figuresOf(lead).includes(figure));
}

const figuresOf = ({ todo }: ToldRule): readonly string[] => withoutShown(todo).match(/\d+/g) ?? [];

function antiPattern(lead: ToldRule, rules: readonly ToldRule[]): string {
  const wrongs = unique(
    rules.flatMap(({ wrong }) => (wrong === undefined ? [] : [truncateEnd(oneLine(wrong), 200)])),
  );
  if (wrongs.length > 0)
    return `${wrongs.slice(0, 3).map(quoted).join(', ')} in place of what step 1 asks for.`;
  if (lead.kind === 'ban')
    return 'doing what step 1 rules out because it is quicker or was not mentioned this time.';
  if (lead.kind === 'lack') return 'calling the task done while what step 1 asks for is not there.';
  return 'going by habit or by what is usual elsewhere where step 1 says how it is done here.';
}

const quoted = (text: string): string => (/^["'`“«]/.test(text) ? text : `"${text}"`);

function fenced(code: string): readonly string[] {
  const lines = visibleText(code).split('\n').slice(0, 8);
  const fence = code.includes('```') ? '~~~~' : '```';
  return [fence, ...lines.map((line) => truncateEnd(line, 200)), fence];
}

const figureless = (text: string): string => text.replace(/\d/g, '#').replace(/"/g, '');

/** Removes duplicates: of two texts with the same `keyOf`, the first stays. */
const unique = (
  texts: readonly string[],
  keyOf: (text: string) => string = (text) => text,
): readonly string[] => {
  const seen = new Set<string>();
  return texts.filter((text) => {
    const key = figureless(oneLine(keyOf(text)).toLowerCase());
    return seen.has(key) ? false : seen.add(key);
  });
};
