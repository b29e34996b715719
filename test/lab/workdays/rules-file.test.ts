import { describe, expect, it } from 'vitest';
import { RuleSetError, readRuleSet } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { countOf } from '../../support/counts.ts';
import { mutate } from './files-mutate.ts';

const rule = (id: string, form: string, parameters: unknown, teaches: readonly string[][], said: string) => ({
  ...{ id, form, parameters, teaches },
  title: id,
  about: `how ${id} is done`,
  since: 0,
  feedback: { train: [said], gate: [said], report: [said] },
});

/** All ten forms in one house, each with other parameters than ours. */
const ALL = {
  name: 'elsewhere',
  rules: [
    rule('R1', 'times', { format: 'DD.MM.YYYY HH:mm' }, [['##.##.####']], 'Write times like {example}.'),
    rule(
      'R2',
      'file-names',
      { date: 'YYYY-MM-DD', place: 'end', words: 'kebab-case' },
      [['kebab-case']],
      'Name files in {words}: {example}.',
    ),
    rule(
      'R3',
      'metadata',
      { under: 'info', time: 'written_at', author: 'writer', state: 'stage', states: ['raw', 'final'] },
      [['written_at'], ['writer'], ['stage'], ['final']],
      'New files need {time}, {author} and {state} ({states}) under {under}.',
    ),
    rule('R4', 'backup', { suffix: '.orig' }, [['.orig']], 'Copy {file} to {copy} first.'),
    rule(
      'R5',
      'done-log',
      { file: 'logs/finished.txt', line: '<task id>: <summary> (<timestamp>)', longest: 60 },
      [['finished.txt'], ['<summary>']],
      'Add a line {line} to {file}, at most {longest} long.',
    ),
    rule('R6', 'ticket-prefix', { prefix: 'NW/' }, [['nw/']], 'Tickets are written {example}.'),
    rule('R7', 'units', { separator: '_' }, [['unit']], 'Put the unit behind, {example}.'),
    rule('R8', 'sorted-keys', { order: 'ascending' }, [['alphabet']], 'Keys follow the alphabet: {example}.'),
    rule(
      'R9',
      'header-comment',
      { key: '_owner', text: 'Northwind' },
      [['_owner']],
      'Begin with {example} or {line}.',
    ),
    rule('R10', 'checksums', { file: 'sums/all.txt' }, [['sums/all.txt']], 'List {path} in {file}.'),
  ],
};

/** Days for each form and split. */
const DAYS = countOf(1, 3);

const changed = (change: (data: typeof ALL) => unknown): string =>
  JSON.stringify(change(structuredClone(ALL)));

describe('a rule file', () => {
  it.each(SPLITS)(
    'with all ten forms at once and other parameters is kept and broken as well, in %s',
    (split) => {
      const set = readRuleSet(JSON.stringify(ALL), 'rules.json');
      const seen = { right: 0, removed: 0, slips: 0 };
      for (let seed = 0; seed < DAYS; seed++) mutate(set, split, `${split}/own/${seed}`, 13, seen);
      expect(seen.right).toBe(8 * DAYS);
      expect(seen.removed).toBeGreaterThan(20 * DAYS);
      expect(seen.slips).toBeGreaterThan(100 * DAYS);
    },
  );

  it.each([
    ['{', 'rules.json: is not JSON'],
    ['[]', 'rules.json: the whole file: '],
    [JSON.stringify({ name: 'x', rules: [] }), 'rules.json: rules: '],
    [
      changed((data) => ({ ...data, rules: [{ ...data.rules[0], id: undefined }] })),
      'rules.json: rules[0].id: ',
    ],
    [
      changed((data) => ({ ...data, rules: [{ ...data.rules[0], since: -1 }] })),
      'rules.json: rules[0].since: ',
    ],
    [
      changed((data) => ({ ...data, rules: [{ ...data.rules[0], form: 'clocks' }] })),
      'rules.json: rules[0].form: there is no form "clocks": use one of times, file-names',
    ],
    [
      changed((data) => ({ ...data, rules: [{ ...data.rules[0], parameters: { format: 'soon' } }] })),
      'rules.json: rules[0].parameters.format: must hold YYYY',
    ],
    [
      changed((data) => ({
        ...data,
        rules: [{ ...data.rules[4], parameters: { file: 'a', line: 'x', longest: 80 } }],
      })),
      'rules.json: rules[0].parameters.line: must hold <timestamp>',
    ],
    [
      changed((data) => ({
        ...data,
        rules: [{ ...data.rules[5], parameters: { prefix: 'NW/', extra: 1 } }],
      })),
      'rules.json: rules[0].parameters: ',
    ],
    [
      changed((data) => ({
        ...data,
        rules: [rule('A', 'units', { separator: ' ' }, [['unit']], 'unit {exampel}')],
      })),
      'rules.json: rules[0].feedback.train[0]: {exampel} is not a known placeholder: use {number}',
    ],
    [
      changed((data) => ({
        ...data,
        rules: [rule('A', 'units', { separator: ' ' }, [['unit']], 'Please.')],
      })),
      'rules.json: rules[0].feedback.train[0]: it leaves out what one needs to obey',
    ],
    [
      changed((data) => ({ ...data, rules: [data.rules[0], data.rules[0]] })),
      'rules.json: rules[1].id: there is another rule R1',
    ],
    [
      changed((data) => ({ ...data, rules: [{ ...data.rules[0], since: 4 }, data.rules[1]] })),
      'rules.json: rules[1].since: must not be before',
    ],
  ])('with an error is refused with the place and the fix: %.60s', (text, message) => {
    expect(() => readRuleSet(text, 'rules.json')).toThrow(RuleSetError);
    expect(() => readRuleSet(text, 'rules.json')).toThrow(message);
  });
});
