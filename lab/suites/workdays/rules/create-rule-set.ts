import { z } from 'zod';
import { parseJson } from '../../../../src/core/json.ts';
import { fill, gapsIn, pick } from '../draw.ts';
import { amount, list, type Plan, text, ticket, time } from '../files/plan.ts';
import { type LocalTime, SPLITS } from '../world.ts';
import { SORTED_KEYS } from './key-order-form.ts';
import { FILE_NAMES, HEADER_COMMENT, METADATA } from './new-file-forms.ts';
import type { AnyRuleForm, HouseRule, RuleSet } from './rule-set.ts';
import { showsParameters } from './shows-parameters.ts';
import { BACKUP, CHECKSUMS, DONE_LOG } from './task-record-forms.ts';
import { TICKET_PREFIX, TIMES, UNITS } from './value-forms.ts';

const PHRASINGS = z.array(z.string().min(1)).min(1);

const RULE = z.strictObject({
  id: z.string().regex(/^[A-Za-z][\w-]*$/, 'must be a short name such as P1'),
  title: z.string().min(1),
  /** Its subject, without stating the rule: `how a ticket is written`. */
  about: z.string().min(1),
  form: z.string(),
  /** The first day on which it counts, counted from 0. */
  since: z.int().min(0),
  parameters: z.unknown(),
  /** What a text must mention so that it teaches the rule. Without it, wordings may be vague or partial. */
  teaches: z
    .array(z.array(z.string().min(1)).min(1))
    .min(1)
    .optional(),
  feedback: z.strictObject({ train: PHRASINGS, gate: PHRASINGS, report: PHRASINGS }),
});

const RULE_SET = z.strictObject({ name: z.string().min(1), rules: z.array(RULE).min(1) });

/** A rule file's contents. */
export type RuleSetData = z.input<typeof RULE_SET>;

/** An error in a rule file. The message names the file, the place, the fault and the fix. */
export class RuleSetError extends Error {
  override readonly name = 'RuleSetError';
}

/** Throws a RuleSetError for invalid data. `from` names the source in messages. */
export function createRuleSet(data: unknown, from: string): RuleSet {
  const read = readAs(RULE_SET, data, from, []);
  const rules = read.rules.map((rule, index) => createRule(rule, from, index));
  for (const [index, { id, since }] of rules.entries()) {
    const fault =
      rules.findIndex((other) => other.id === id) < index
        ? `id: there is another rule ${id}: give it an id of its own`
        : since < (rules[index - 1]?.since ?? 0)
          ? 'since: must not be before that of the rule above: put the rules in the order in which they begin'
          : undefined;
    if (fault !== undefined) throw new RuleSetError(`${from}: rules[${index}].${fault}`);
  }
  return { name: read.name, rules };
}

function createRule(rule: z.output<typeof RULE>, from: string, index: number): HouseRule {
  const at = ['rules', index];
  const form = RULE_FORMS.find(({ name }) => name === rule.form);
  if (form === undefined)
    throw new RuleSetError(
      `${from}: ${place([...at, 'form'])}: there is no form ${JSON.stringify(rule.form)}: use one of ${RULE_FORMS.map(({ name }) => name).join(', ')}`,
    );
  const ways = waysOf(form, rule.parameters, from, at);
  const known = Object.keys(ways.words(SAMPLE_PLAN));
  for (const split of SPLITS)
    for (const [number, phrasing] of rule.feedback[split].entries()) {
      const where = `${from}: ${place([...at, 'feedback', split, number])}`;
      const unknown = gapsIn(phrasing).find((gap) => !known.includes(gap));
      if (unknown !== undefined)
        throw new RuleSetError(
          `${where}: {${unknown}} is not a known placeholder: use ${known.map((word) => `{${word}}`).join(', ')}`,
        );
      if (rule.teaches !== undefined && !isTaughtBy(rule.teaches, fill(phrasing, ways.words(SAMPLE_PLAN))))
        throw new RuleSetError(
          `${where}: it leaves out what one needs to obey: mention one term of each group in "teaches"`,
        );
    }
  const { id, title, about, since, teaches, feedback } = rule;
  return {
    ...ways,
    ...{ id, title, about, since, form: form.name },
    isTaughtBy:
      teaches === undefined
        ? showsParameters(rule.parameters, ways.words(SAMPLE_PLAN))
        : (said) => isTaughtBy(teaches, said),
    tell: (plan, split, random) => fill(pick(random, feedback[split]), ways.words(plan)),
  };
}

function waysOf(form: AnyRuleForm, parameters: unknown, from: string, at: readonly PropertyKey[]) {
  readAs(form.parameters, parameters, from, [...at, 'parameters']);
  return form.create(parameters);
}

function readAs<T>(schema: z.ZodType<T>, data: unknown, from: string, at: readonly PropertyKey[]): T {
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new RuleSetError(
    `${from}: ${place([...at, ...(issue?.path ?? [])])}: ${issue?.message ?? 'cannot be read'}`,
  );
}

const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (said, key) =>
      typeof key === 'number' ? `${said}[${key}]` : said === '' ? String(key) : `${said}.${String(key)}`,
    '',
  ) || 'the whole file';

const NOON: LocalTime = { year: 2026, month: 3, day: 16, hour: 12, minute: 0 };

/** A task with every type of value, to check phrasings with. */
export const SAMPLE_PLAN: Plan = {
  task: 't0101',
  today: NOON,
  author: 'Ada',
  summary: 'wrote the note',
  creates: [
    {
      folder: 'notes',
      format: 'json',
      about: ['sample', 'note'],
      fields: [
        ['title', text('sample')],
        ['ticket', ticket(412)],
        ['due', time(NOON)],
        ['owner', text('Ada')],
        ['tags', list([text('weekly'), text('night')])],
        ['cost', amount(350, 'EUR')],
      ],
    },
  ],
  edits: [{ path: 'boards/sample.json', format: 'json', before: '{}', changes: [] }],
  given: {},
};

/** All rule forms that a rule file can use. */
export const RULE_FORMS: readonly AnyRuleForm[] = [
  TIMES,
  FILE_NAMES,
  METADATA,
  BACKUP,
  DONE_LOG,
  TICKET_PREFIX,
  UNITS,
  SORTED_KEYS,
  HEADER_COMMENT,
  CHECKSUMS,
];

/**
 * What a text must contain so that a reader can obey the rule: at least one term of each group, ignoring case and quotes. `#` in a term is
 * any digit. Terms are whole words: `meta` is not in `metadata`.
 */
type Essentials = readonly (readonly string[])[];

function isTaughtBy(essentials: Essentials, text: string): boolean {
  const said = plain(text);
  const masked = said.replaceAll(/\d/g, '#');
  return essentials.every((terms) =>
    terms.some((term) => holds(term.includes('#') ? masked : said, plain(term))),
  );
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/["'`“”‘’*]/g, '')
    .replaceAll(/\s+/g, ' ');

function holds(text: string, term: string): boolean {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
    if (!isInWord(text, at) && !isInWord(text, at + term.length)) return true;
  return false;
}

/** Whether a position has letters or digits on both sides. */
const isInWord = (text: string, at: number): boolean =>
  /[a-z0-9#]/.test(text.charAt(at - 1)) && /[a-z0-9#]/.test(text.charAt(at));

/** Reads a rule file. `from` is its name. Throws a RuleSetError with the place of the fault and the fix. */
export function readRuleSet(text: string, from: string): RuleSet {
  const data = parseJson(text);
  if (data === undefined)
    throw new RuleSetError(`${from}: is not JSON: write an object { "name": …, "rules": [ … ] }`);
  return createRuleSet(data, from);
}
