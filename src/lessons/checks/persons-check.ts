import { type CheckTest, hasCommand, type RuleCheck, type TestPlace } from '../../core/check.ts';
import { compact, type JsonObject, toJson } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { plural } from '../../text/phrases.ts';
import type { RefusedChange } from '../codec.ts';
import { isPersonsWord } from '../told.ts';
import { draftChecks } from './draft-check.ts';
import { readCheck } from './read-check.ts';

/**
 * A check that a person sets or confirms is accepted by that; it is refused when it cannot be run. A command is run on the owner's machine:
 * only they set one.
 */
export function withPersonsCheck(change: Change | RefusedChange, isOwner: boolean): Change | RefusedChange {
  if (!('op' in change) || (change.op !== 'check' && change.op !== 'add') || change.check === undefined)
    return change;
  if (!isOwner && hasCommand(change.check))
    return {
      status: 'refused',
      id: change.id,
      why: 'only the owner of this home sets a check that runs a command',
    };
  if (change.op === 'add') return change;
  const { hasSecret } = openRedactor();
  const proof = change.check.by === 'person' ? 'set by a person' : 'confirmed by a person';
  const read = readCheck({ ...change.check, standing: 'accepted', by: 'person', proof }, hasSecret);
  return read.ok ? { ...change, check: read.check } : { status: 'refused', id: change.id, why: read.why };
}

/** The check of a lesson as people see it, or why it has none. */
export const encodeCheck = (lesson: Lesson): JsonObject =>
  lesson.check === undefined
    ? { noCheck: whyNoCheck(lesson) }
    : { check: compact({ ...toJson(lesson.check), words: describeCheck(lesson.check) }) };

function whyNoCheck(lesson: Lesson): string {
  if (!isPersonsWord(lesson)) return 'only rules that people stated are given one';
  const rule = lesson.text.description.replace(/^"([\s\S]*)"$/, '$1');
  return draftChecks({ rule }).length === 0
    ? 'its words name nothing that a check could look for'
    : 'there is no answer that broke it and no answer that kept it to test one on';
}

const PARTS = { reply: 'replies', files: 'written files', commands: 'commands', work: 'work' } as const;
const PLACES: Readonly<Record<TestPlace, string>> = {
  request: 'the request',
  whole: '',
  all: 'all of them together',
  'first-line': 'the first line',
  'last-line': 'the last line',
  headings: 'the headings',
  code: 'the code',
  fences: 'the line that opens a code block',
  prose: 'the text outside code',
  subject: 'the subject line of the commit',
  path: 'the path',
};

/** A check in plain words: `applies to replies with a date; kept when there is no date that is not like 2026-11-18`. */
export function describeCheck({ looksAt, appliesWhen, holdsWhen }: RuleCheck): string {
  const conditions = describeTests(appliesWhen);
  const applies = `applies to ${conditions === '' ? `all ${PARTS[looksAt]}` : `${PARTS[looksAt]} where ${conditions}`}`;
  return `${applies}; kept when ${describeTests(holdsWhen)}`;
}

/** Tests of one place that differ only in what they look for are said together: `there is no date like 18.11.2026 or November 18`. */
function describeTests(tests: readonly CheckTest[]): string {
  const grouped = new Map<string, { readonly joint: string; readonly things: string[] }>();
  for (const test of tests) {
    const [lead, thing] = test.is === 'pattern' ? patternWords(test) : [describeTest(test), ''];
    const group = grouped.get(lead) ?? { joint: lead.endsWith(' no ') ? 'or' : 'and', things: [] };
    grouped.set(lead, group);
    const shared = /^.* like /.exec(group.things[0] ?? '')?.[0] ?? '\n';
    group.things.push(thing.startsWith(shared) ? thing.slice(shared.length) : thing);
  }
  return [...grouped].map(([lead, { joint, things }]) => lead + enumerate(things, joint)).join(' and ');
}

const enumerate = (things: readonly string[], joint: string): string =>
  things.length < 2 ? things.join('') : `${things.slice(0, -1).join(', ')} ${joint} ${things.at(-1)}`;

function patternWords(test: CheckTest & { readonly is: 'pattern' }): readonly [lead: string, thing: string] {
  const { means, pattern, min, max } = test;
  const isOne = max === undefined && (min === undefined || min === 1);
  const article =
    isOne && means !== undefined && !/^an? /.test(means) ? `${/^[aeiou]/i.test(means) ? 'an' : 'a'} ` : '';
  return [`${hasIn(test)} ${amount(test)}`, `${article}${means ?? quotedPattern(pattern)}`];
}

function describeTest(test: CheckTest): string {
  if (test.is === 'command') return `“${test.command}” exits with 0 in a sandbox with those files`;
  if (test.is === 'judge') return `a model can quote that it keeps to “${test.asks}”`;
  const place = PLACES[test.in ?? 'whole'];
  const has = hasIn(test);
  switch (test.is) {
    case 'pattern':
      return patternWords(test).join('');
    case 'program': {
      const times = test.max === 0 ? 'is not run' : 'is run';
      return `${test.run.replaceAll('|', ' or ')} ${times}${test.with === undefined ? '' : ` with ${quotedPattern(test.with)}`}`;
    }
    case 'order':
      return `${quotedPattern(test.first)} comes before ${quotedPattern(test.second)}`;
    case 'length':
      return `${has} ${lengthOf(test)}`;
    case 'json': {
      const value = test.pointer === undefined ? '' : ` with a value at ${test.pointer}`;
      return `${place === '' ? 'it' : place} is JSON${value}${test.pattern === undefined ? '' : ` like ${quotedPattern(test.pattern)}`}`;
    }
    case 'language':
      return `${place === '' ? 'it' : place} is in ${new Intl.DisplayNames(['en'], { type: 'language' }).of(test.language) ?? test.language}`;
  }
}

function hasIn({ in: at = 'whole' }: { readonly in?: TestPlace }): string {
  const place = PLACES[at];
  return place === '' ? 'there is' : `${place} ${at === 'headings' ? 'have' : 'has'}`;
}

interface Amount {
  readonly min?: number;
  readonly max?: number;
}

function amount({ min, max }: Amount): string {
  if (max === 0) return 'no ';
  if (max !== undefined) return min === undefined ? `at most ${max} × ` : `${min} to ${max} × `;
  return min === undefined || min === 1 ? '' : `at least ${min} × `;
}

function lengthOf({ unit, min, max }: CheckTest & { readonly is: 'length' }): string {
  const noun = unit.slice(0, -1);
  if (max === undefined) return `at least ${plural(min ?? 0, noun)}`;
  return min === undefined ? `at most ${plural(max, noun)}` : `${min} to ${plural(max, noun)}`;
}

/** A pattern that is only a literal is shown as that. */
function quotedPattern(pattern: string): string {
  const bare = pattern.replace(/\\b|\(\?:\^\|[^)]*\)|\(\?:[^)]*\|?\$\)|^\^|\$$/g, '');
  return /(?<!\\)[[\](){}*+?|.^$]|\\[A-Za-z]/.test(bare)
    ? `something like /${pattern}/`
    : `“${bare.replace(/\\(.)/g, '$1')}”`;
}
