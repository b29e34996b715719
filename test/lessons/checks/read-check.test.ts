import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckTest } from '../../../src/core/check.ts';
import type { Change } from '../../../src/core/lesson.ts';
import { whyNotPermitted } from '../../../src/lessons/change-permissions.ts';
import { describeCheck, withPersonsCheck } from '../../../src/lessons/checks/persons-check.ts';
import { checkRuleCheck, readCheck, sampleTexts } from '../../../src/lessons/checks/read-check.ts';
import { lessonOf } from '../effect/sample-lessons.ts';
import { ruleCheck } from './make-check.ts';

const hasSecret = (text: string): boolean => text.includes('sk-secret');
const whyOf = (parts: Parameters<typeof ruleCheck>[0]): string => {
  const result = readCheck(ruleCheck(parts), hasSecret);
  return result.ok ? 'ok' : result.why;
};
const holding = (test: CheckTest): string => whyOf({ holdsWhen: [test] });

describe('reading a check', () => {
  it('refuses patterns that explode, loop, match everything or nothing, and says why', () => {
    expect(holding({ is: 'pattern', pattern: '(a)\\1' })).toMatch(/back reference/);
    expect(holding({ is: 'pattern', pattern: '(?=a)b' })).toMatch(/cannot be used/);
    expect(holding({ is: 'pattern', pattern: '(?:a{1,99}){1,99}' })).toMatch(/cannot be used/);
    expect(holding({ is: 'pattern', pattern: 'x*' })).toMatch(/matches the empty text/);
    expect(holding({ is: 'pattern', pattern: '.' })).toMatch(/matches every text/);
    expect(holding({ is: 'pattern', pattern: '[\\s\\S]' })).toMatch(/matches every text/);
    expect(holding({ is: 'pattern', pattern: 'a^b' })).toMatch(/no text was found/);
    expect(holding({ is: 'pattern', pattern: '[^\\s\\S]' })).toMatch(/no text was found/);
    expect(holding({ is: 'pattern', pattern: 'a', min: 3, max: 2 })).toMatch(/no number/);
    expect(holding({ is: 'pattern', pattern: 'a'.repeat(901) })).toMatch(/shorten it to 900/);
    expect(holding({ is: 'pattern', pattern: 'a', flags: 'g' })).toMatch(/flags may be i, m and s/);
  });

  it('takes patterns that people write', () => {
    for (const pattern of [
      '\\bnpm\\b',
      '(?:^|\\s)npm(?:\\s|$)',
      '\\d{4}-\\d{2}-\\d{2}',
      '^.{81,}$',
      '[^\\x00-\\x7f]',
      '[\\u{1F300}-\\u{1FAFF}\\u2600-\\u27BF]',
      "'[^'\\n]*'",
      '\\p{Lu}{3,}',
      'Kind regards,\\s+Team Nord\\s*$',
    ])
      expect([pattern, holding({ is: 'pattern', pattern, flags: 'm' })]).toEqual([pattern, 'ok']);
  });

  it('finds a text for any alternation of plain words', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const pattern = `\\b(?:${words.join('|')})+\\b`;
        expect(sampleTexts(pattern).some((text) => new RegExp(pattern, 'u').test(text))).toBe(true);
      }),
    );
  });

  it('refuses a secret, too many tests, and a check that says nothing', () => {
    expect(holding({ is: 'pattern', pattern: 'sk-secret' })).toMatch(/contains a secret/);
    const tests = Array.from({ length: 9 }, (): CheckTest => ({ is: 'pattern', pattern: 'a' }));
    expect(whyOf({ holdsWhen: tests })).toMatch(/more than 8 tests/);
    expect(whyOf({ holdsWhen: [] })).toMatch(/needs at least one test/);
    expect(holding({ is: 'length', unit: 'words' })).toMatch(/needs a min or a max/);
    expect(holding({ is: 'program', run: 'npm; ls' })).toMatch(/no program/);
    expect(holding({ is: 'language', language: 'xx' })).toMatch(/must be one of/);
  });

  it('refuses a check that words in an answer could switch off', () => {
    const holdsWhen: readonly CheckTest[] = [{ is: 'pattern', pattern: 'ok', max: 0 }];
    const exemption: CheckTest = { is: 'pattern', pattern: 'exempt', max: 0 };
    expect(whyOf({ appliesWhen: [exemption], holdsWhen })).toMatch(
      /only for a pattern or a program that is there/,
    );
    expect(whyOf({ appliesWhen: [{ is: 'length', unit: 'words', max: 9 }], holdsWhen })).toMatch(/only for/);
    expect(whyOf({ appliesWhen: [{ ...exemption, in: 'request' }], holdsWhen })).toBe('ok');
    expect(whyOf({ appliesWhen: [{ is: 'pattern', pattern: 'date' }], holdsWhen })).toBe('ok');
  });

  it('refuses a command that looks at no file, and slow tests that would decide where the check applies', () => {
    const command = (line: string): CheckTest => ({ is: 'command', command: line });
    const files = (test: CheckTest): string => whyOf({ looksAt: 'files', holdsWhen: [test] });
    expect(files(command('grep -q x a.ts'))).toBe('ok');
    for (const line of ['true', 'exit 0', 'echo fine', ':'])
      expect([line, files(command(line))]).toEqual([line, expect.stringContaining('looks at no file')]);
    expect(files(command('x'.repeat(501)))).toMatch(/shorten it to 500/);
    expect(files({ is: 'command', command: 'ls a', timeoutMs: 3_600_000 })).toMatch(/timeoutMs must be/);
    expect(holding(command('ls a'))).toMatch(/needs looksAt "files"/);
    const judge: CheckTest = { is: 'judge', asks: 'Be kind.' };
    expect(whyOf({ appliesWhen: [judge], holdsWhen: [judge] })).toMatch(/move it to holdsWhen/);
    expect(whyOf({ holdsWhen: [judge, judge] })).toMatch(/at most one test/);
  });

  it('lets only the owner set a check that runs a command, and no learner say that a person did', () => {
    const check = ruleCheck({
      looksAt: 'files',
      by: 'person',
      holdsWhen: [{ is: 'command', command: 'grep -q x a.ts' }],
    });
    const change: Change = { op: 'check', id: 'a', check };
    expect(withPersonsCheck(change, true)).toMatchObject({ op: 'check', check: { by: 'person' } });
    expect(withPersonsCheck(change, false)).toMatchObject({
      status: 'refused',
      why: expect.stringContaining('owner'),
    });
    const lesson = lessonOf('a');
    const view = {
      lesson: () => lesson,
      text: () => undefined,
      wasEver: () => true,
      holder: () => undefined,
    };
    const whyBy = (kind: 'learner' | 'person'): string | undefined =>
      whyNotPermitted({ kind, name: 'checks' }, view, [{ ...lesson, check }]);
    expect(whyBy('learner')).toContain('only a person sets it');
    expect(whyBy('person')).toBeUndefined();
  });

  it('says of any value whether it is a check, without throwing', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof checkRuleCheck(value) === 'string'));
    expect(checkRuleCheck(ruleCheck({ holdsWhen: [{ is: 'pattern', pattern: '(' }] }))).toBeUndefined();
  });

  it('is told to people in plain words', () => {
    const dates = ruleCheck({
      appliesWhen: [{ is: 'pattern', pattern: '\\d\\d', means: 'a date' }],
      holdsWhen: [{ is: 'pattern', pattern: '/', max: 0, means: 'date that is not like 2026-11-18' }],
    });
    expect(describeCheck(dates)).toBe(
      'applies to replies where there is a date; kept when there is no date that is not like 2026-11-18',
    );
    const end = ruleCheck({ holdsWhen: [{ is: 'pattern', pattern: 'Team Nord$', in: 'last-line' }] });
    expect(describeCheck(end)).toBe('applies to all replies; kept when the last line has “Team Nord”');
  });
});
