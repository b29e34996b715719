import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECKED_PARTS, type CheckTest, LENGTH_UNITS, TEST_PLACES } from '../../../src/core/check.ts';
import { runCheck } from '../../../src/lessons/checks/run-check.ts';
import { ruleCheck, work } from './make-check.ts';

const outcomeOf = (holds: CheckTest, parts: Parameters<typeof work>[0], looksAt = 'reply' as const): string =>
  runCheck(ruleCheck({ looksAt, holdsWhen: [holds] }), work(parts)).outcome;

const ISO = ruleCheck({
  appliesWhen: [{ is: 'pattern', pattern: '\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{2,4}' }],
  holdsWhen: [{ is: 'pattern', pattern: '\\d{1,2}/\\d{1,2}/\\d{2,4}', max: 0 }],
});

describe('running a check', () => {
  it('tells kept, broken and "does not apply" apart, and quotes the line that breaks it', () => {
    expect(runCheck(ISO, work({ reply: 'Sent on 2026-11-18.' }))).toEqual({ outcome: 'kept' });
    expect(runCheck(ISO, work({ reply: 'Hello.\nSent on 11/18/2026, as agreed.\nBye.' }))).toEqual({
      outcome: 'broken',
      quote: 'Sent on 11/18/2026, as agreed.',
    });
    expect(runCheck(ISO, work({ reply: 'No date here.' }))).toEqual({ outcome: 'does-not-apply' });
    expect(runCheck(ISO, work({ commands: ['date +%m/%d/%Y'] }))).toEqual({ outcome: 'does-not-apply' });
  });

  it('is broken by one of several commands, and quotes that one', () => {
    const pnpm = ruleCheck({ looksAt: 'commands', holdsWhen: [{ is: 'program', run: 'npm', max: 0 }] });
    const result = runCheck(
      pnpm,
      work({ commands: ['ls', 'cd app && sudo npm install left-pad', 'pnpm test'] }),
    );
    expect(result).toEqual({ outcome: 'broken', quote: 'cd app && sudo npm install left-pad' });
    expect(runCheck(pnpm, work({ commands: ['git commit -m "npm is gone"', 'pnpm i'] })).outcome).toBe(
      'kept',
    );
  });

  it('knows a program by its subcommand and its arguments', () => {
    const noPush: CheckTest = { is: 'program', run: 'git push', with: '\\bmain\\b', max: 0 };
    const check = ruleCheck({ looksAt: 'commands', holdsWhen: [noPush] });
    const outcome = (command: string): string => runCheck(check, work({ commands: [command] })).outcome;
    expect(outcome('git -C app push origin main')).toBe('broken');
    expect(outcome('git push origin feature')).toBe('kept');
    expect(outcome('git log main')).toBe('kept');
  });

  it('names the file that lacks what every file must have', () => {
    const licence = ruleCheck({
      looksAt: 'files',
      appliesWhen: [{ is: 'pattern', pattern: '\\.ts$', in: 'path' }],
      holdsWhen: [{ is: 'pattern', pattern: 'SPDX', in: 'first-line' }],
    });
    const files = [
      { path: 'README.md', text: 'hello' },
      { path: 'a.ts', text: '// SPDX: MIT\n' },
      { path: 'b.ts', text: 'export {};\n' },
    ];
    expect(runCheck(licence, work({ files }))).toEqual({ outcome: 'broken', quote: 'export {};' });
    expect(runCheck(licence, work({ files: files.slice(0, 2) })).outcome).toBe('kept');
  });

  it('asks all commands together where order counts', () => {
    const check = ruleCheck({
      looksAt: 'commands',
      holdsWhen: [{ is: 'order', first: 'npm test', second: 'git commit', in: 'all' }],
    });
    expect(runCheck(check, work({ commands: ['npm test', 'git commit -m x'] })).outcome).toBe('kept');
    expect(runCheck(check, work({ commands: ['git commit -m x', 'npm test'] })).outcome).toBe('broken');
    expect(runCheck(check, work({ commands: ['ls'] })).outcome).toBe('does-not-apply');
  });

  it('counts words, sentences, bullets and paragraphs', () => {
    const reply = 'Version 2.5 is out. It is small!\n\n- one\n- two';
    for (const [unit, count] of [
      ['words', 9],
      ['sentences', 4],
      ['bullets', 2],
      ['paragraphs', 2],
      ['lines', 3],
    ] as const) {
      expect([unit, outcomeOf({ is: 'length', unit, max: count }, { reply })]).toEqual([unit, 'kept']);
      expect([unit, outcomeOf({ is: 'length', unit, max: count - 1 }, { reply })]).toEqual([unit, 'broken']);
    }
  });

  it('reads JSON, languages, headings, code and the subject of a commit', () => {
    expect(outcomeOf({ is: 'json', pointer: '/a/0', pattern: '^x' }, { reply: '{"a":["xy"]}' })).toBe('kept');
    expect(outcomeOf({ is: 'json', pointer: '/b' }, { reply: '{"a":["xy"]}' })).toBe('broken');
    const german = 'Die Datei ist fertig und wird morgen an das Team geschickt.';
    expect(outcomeOf({ is: 'language', language: 'de' }, { reply: german })).toBe('kept');
    expect(outcomeOf({ is: 'language', language: 'en' }, { reply: german })).toBe('broken');
    expect(outcomeOf({ is: 'language', language: 'en' }, { reply: 'OK' })).toBe('does-not-apply');
    const lower: CheckTest = { is: 'pattern', pattern: '^[a-z]', flags: 'm', in: 'headings' };
    expect(outcomeOf(lower, { reply: '# Plan\ntext' })).toBe('broken');
    expect(outcomeOf(lower, { reply: 'text' })).toBe('does-not-apply');
    const noVar: CheckTest = { is: 'pattern', pattern: '\\bvar\\b', max: 0, in: 'code' };
    expect(outcomeOf(noVar, { reply: 'var is old:\n```js\nlet a;\n```' })).toBe('kept');
    expect(outcomeOf(noVar, { reply: '```js\nvar a;\n```' })).toBe('broken');
    const subject: CheckTest = { is: 'pattern', pattern: '^[A-Z]+-\\d+: ', in: 'subject' };
    const commit = (command: string): string =>
      runCheck(ruleCheck({ looksAt: 'commands', holdsWhen: [subject] }), work({ commands: [command] }))
        .outcome;
    expect(commit('git commit -am "AB-12: fix"')).toBe('kept');
    expect(commit('git commit -m "fix"')).toBe('broken');
    expect(commit('ls')).toBe('does-not-apply');
  });

  it('is not switched off by a fence that is never closed', () => {
    const check: CheckTest = { is: 'pattern', pattern: 'utilize', max: 0, in: 'prose' };
    expect(outcomeOf(check, { reply: '```\nWe utilize it.' })).toBe('broken');
  });

  it('never throws and answers for every check and every work', () => {
    const text = fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom('(', '\\', '(a+)+$', '[', 'x{9999}'));
    const count = fc.option(fc.nat(5), { nil: undefined });
    const test = fc.record(
      {
        is: fc.constantFrom('pattern', 'program', 'order', 'length', 'json', 'language', 'nothing'),
        pattern: text,
        run: text,
        with: text,
        first: text,
        second: text,
        flags: fc.constantFrom('', 'i', 'q'),
        min: count,
        max: count,
        unit: fc.constantFrom(...LENGTH_UNITS),
        pointer: text,
        language: text,
        in: fc.constantFrom(...TEST_PLACES),
      },
      { requiredKeys: ['is'] },
    ) as fc.Arbitrary<object> as fc.Arbitrary<CheckTest>;
    const tests = fc.array(test, { maxLength: 3 });
    fc.assert(
      fc.property(
        fc.record({ looksAt: fc.constantFrom(...CHECKED_PARTS), appliesWhen: tests, holdsWhen: tests }),
        fc.record({
          request: text,
          reply: text,
          files: fc.array(fc.record({ path: text, text }), { maxLength: 3 }),
          commands: fc.array(text, { maxLength: 3 }),
        }),
        (parts, done) => {
          const result = runCheck(ruleCheck(parts), done);
          expect(['kept', 'broken', 'does-not-apply']).toContain(result.outcome);
          if (result.outcome === 'broken') expect((result.quote ?? '').length).toBeLessThanOrEqual(160);
          if (result.outcome === 'broken') expect(result.quote ?? '').not.toContain('\n');
        },
      ),
    );
  });

  it('takes a long text and a pattern that would explode elsewhere', () => {
    const check = ruleCheck({ holdsWhen: [{ is: 'pattern', pattern: '(?:a+)+$', max: 0 }] });
    expect(runCheck(check, work({ reply: `${'a'.repeat(2_000_000)}!` })).outcome).toBe('broken');
    const commands = Array.from({ length: 5000 }, () => 'npm i');
    const npm = ruleCheck({ looksAt: 'commands', holdsWhen: [{ is: 'program', run: 'npm', max: 0 }] });
    expect(runCheck(npm, work({ commands })).outcome).toBe('broken');
  });
});
