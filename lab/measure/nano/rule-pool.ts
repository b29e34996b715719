import { createRandom, type Random } from '../../../src/base/random.ts';
import { fill, pick, shuffled } from '../../workdays/draw.ts';
import type { Plan } from '../../workdays/files/plan.ts';
import { RULE_FORMS } from '../../workdays/rules/create-rule-set.ts';
import { HOUSE_RULES } from '../../workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../workdays/rules/other-rules.ts';
import type { HouseRule, RuleSet } from '../../workdays/rules/rule-set.ts';
import type { Split } from '../../workdays/world.ts';
import { PHRASINGS } from './phrasings.ts';

/** Further parameters for each rule form, so that a policy learns to read rules instead of recognising ten. */
const PARAMETERS: Readonly<Record<string, readonly unknown[]>> = {
  times: [
    ...['+02:00', '+05:30', '-03:00', '+01:00', '+09:00', '-05:00', 'Z', '+08:00', '+10:00', '+00:00'].map(
      (zone) => ({
        format: `YYYY-MM-DDTHH:mm:ss${zone}`,
      }),
    ),
    ...[
      'DD.MM.YYYY HH:mm',
      'YYYY/MM/DD HH:mm',
      'DD/MM/YYYY HH:mm',
      'YYYY-MM-DD HH:mm:ss',
      'HH:mm, DD.MM.YYYY',
    ].map((format) => ({ format })),
    ...['YYYY-MM-DDTHH:mm', 'YYYY.MM.DD HH:mm', 'YYYYMMDD HH:mm'].map((format) => ({ format })),
  ],
  'file-names': ['YYYYMMDD', 'YYYY-MM-DD'].flatMap((date) =>
    ['front', 'end'].flatMap((place) =>
      ['snake_case', 'kebab-case'].map((words) => ({ date, place, words })),
    ),
  ),
  metadata: ['meta', 'info', 'about', 'record', 'header', 'origin'].flatMap((under, at) =>
    [0, 1].map((more) => ({
      under,
      time: ['created_at', 'made_at', 'written_at', 'date', 'created'][(at + 2 * more) % 5],
      author: ['author', 'writer', 'made_by', 'editor'][(at + more) % 4],
      state: ['status', 'state', 'stage'][(at + more) % 3],
      states: [
        ['pending', 'in_progress', 'done'],
        ['open', 'closed'],
        ['draft', 'final'],
        ['new', 'checked', 'ready'],
        ['started', 'complete'],
      ][(at + more) % 5],
    })),
  ),
  backup: ['.bak', '.old', '.orig', '.prev', '.save', '.copy', '_backup', '~1'].map((suffix) => ({ suffix })),
  'done-log': [
    ['done.log', '[DONE] <timestamp> | <task id> | <summary>', 80],
    ['done.log', '<timestamp> / <task id>: <summary>', 60],
    ['work.log', '[OK] <task id> | <timestamp> | <summary>', 100],
    ['journal.txt', '* <task id> (<timestamp>) <summary>', 80],
    ['finished.txt', 'DONE <task id>, <summary>, <timestamp>', 70],
    ['tasks.log', '<task id>; <timestamp>; <summary>', 80],
    ['log.txt', '[<timestamp>] <task id> <summary>', 90],
    ['diary.log', '<timestamp> | <task id> | <summary>', 80],
  ].map(([file, line, longest]) => ({ file, line, longest })),
  'ticket-prefix': ['OPS-', 'DEV-', 'BUG/', 'JOB:', 'TASK-', 'TK-', 'WEB-', 'SHOP/', 'IT-', 'CASE:'].map(
    (prefix) => ({ prefix }),
  ),
  units: [' ', '_', '-', ''].map((separator) => ({ separator })),
  'sorted-keys': ['ascending', 'descending'].map((order) => ({ order })),
  'header-comment': [
    ['_comment', 'Internal - not for customers'],
    ['_note', 'For the office only'],
    ['_remark', 'Not to be sent out'],
    ['_comment', 'Draft'],
    ['_head', 'Made by the assistant'],
    ['_notice', 'Ask before you share'],
  ].map(([key, text]) => ({ key, text })),
  checksums: ['checksums.txt', 'sums.txt', 'hashes.txt', 'files.sum', 'sha256.txt'].map((file) => ({ file })),
};

/** A rule of the pool; its key selects the lessons that teach it. */
export interface PoolRule extends HouseRule {
  readonly key: string;
}

export interface PoolRules extends RuleSet {
  readonly rules: readonly PoolRule[];
}

const ABOUT = new Map(
  [...HOUSE_RULES.rules, ...OTHER_RULES.rules].map(({ form, about }) => [form, about] as const),
);

/** All rules that lessons are made from, the two rule sets with their own wordings included. */
export const RULE_POOL: readonly PoolRule[] = [
  ...[...HOUSE_RULES.rules, ...OTHER_RULES.rules].map((rule) => ({ ...rule, since: 0, key: rule.id })),
  ...Object.entries(PARAMETERS).flatMap(([form, list]) =>
    list.map((parameters, at): PoolRule => {
      const ways = RULE_FORMS.find(({ name }) => name === form)?.create(parameters);
      if (ways === undefined) throw new Error(`there is no form ${form}`);
      const key = `${form.replaceAll('-', '_')}${at}`;
      return {
        ...ways,
        ...{ id: key, key, form, title: key, about: ABOUT.get(form) ?? form, since: 0 },
        isTaughtBy: () => false,
        tell: (plan: Plan, _, random) => fill(pick(random, PHRASINGS[form] ?? []), ways.words(plan)),
      };
    }),
  ),
];

/** The rule that sorts keys in descending order. */
const TURNED = 'sorted_keys1';

const keyed = (keys: readonly string[], name: string): PoolRules => ({
  name,
  rules: keys.flatMap((key) => RULE_POOL.find((rule) => rule.key === key) ?? []),
});
export const HOUSE_POOL_RULES = keyed(['P1', 'P2', 'P3', 'P4', 'P5'], 'house');
const OTHER = keyed(['Q1', 'Q2', 'Q3', 'Q4', 'Q5'], 'other');

/** The house rules in 45 % of the worlds, the other set in 13 %, otherwise a mixture with one rule per form. */
export function drawRules(split: Split, seed: string): PoolRules {
  const random = createRandom(`rules/${seed}`);
  const luck = random.next();
  if (luck < 0.45) return HOUSE_POOL_RULES;
  // Other splits have wordings only for the two rule sets.
  if (luck < 0.58 || split !== 'train') return OTHER;
  const forms = shuffled(random, [...new Set(RULE_POOL.map(({ form }) => form))]).slice(
    0,
    3 + random.below(4),
  );
  const rules = forms.map((form) => drawOf(form, random));
  // With descending keys, the header comment could not be the first key.
  const isTurned = rules.some(({ key }) => key === TURNED);
  return {
    name: `mixed ${seed}`,
    rules: rules.filter(({ form }) => !(isTurned && form === 'header-comment')),
  };
}

const drawOf = (form: string, random: Random): PoolRule =>
  pick(
    random,
    RULE_POOL.filter((rule) => rule.form === form),
  );
