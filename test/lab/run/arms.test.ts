import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConditions } from '../../../lab/commands/bench.ts';
import { ARMS, armLabel, CONDITIONS } from '../../../lab/suites/arms.ts';
import { loadBenchJournal, openBenchJournal } from '../../../lab/suites/bench-journal.ts';
import { NOTES_LIMIT, openPromptNotes } from '../../../lab/suites/prompt-notes.ts';
import { loadSuite, type SuiteChoice } from '../../../lab/suites/suites.ts';
import { rulesOfSeed, UNTUNED_RULES } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import { createWorkdays } from '../../../lab/suites/workdays/workdays.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'instar-arms-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORKDAYS: SuiteChoice = {
  suite: 'workdays',
  split: 'report',
  rules: UNTUNED_RULES,
  set: '',
};

describe('the arms', () => {
  it('name oracle rewards wherever weights are trained on the hidden checks, and nowhere else', () => {
    for (const { name, label, gives, training } of ARMS)
      expect([name, /oracle/.test(label), /oracle/.test(gives)]).toEqual([
        name,
        training === 'oracle',
        training === 'oracle',
      ]);
    expect(armLabel('full-oracle')).toBe('full (oracle rewards)');
  });

  it('are compared with arms that come before them, the baseline among them', () => {
    for (const [at, { name, against }] of ARMS.entries()) {
      expect(against.every((other) => CONDITIONS.indexOf(other) < at)).toBe(true);
      expect(against.includes('baseline')).toBe(name !== 'baseline');
    }
  });

  it('can be chosen by name, or all at once, in the order of reports', () => {
    expect(readConditions('skills,notes')).toEqual(['notes', 'skills']);
    // An arm where the model writes lessons needs a model that can.
    expect(readConditions('all')).toEqual(CONDITIONS.filter((name) => name !== 'skills-evolver'));
    expect(() => readConditions('magic')).toThrow('no condition is named "magic"');
  });
});

describe('a journal of an earlier version', () => {
  const head = {
    run: 'old',
    suite: 'workdays',
    options: {},
    policy: 'nano',
    conditions: ['baseline', 'full'] as const,
    seeds: [1],
    questions: 1,
    rules: [],
    startedAt: '2026-11-15T00:00:00Z',
    version: '0',
    notes: [],
  };
  const night = { seed: 1, day: 0, steps: 1, pairs: 0, moves: [], serving: 0, ms: 1 };

  it('is read with its full as full-oracle, because that is what it was; a newer one keeps its full', () => {
    const old = path.join(folder, 'old.jsonl');
    const writer = openBenchJournal(old, head);
    writer.night({ condition: 'full', ...night });
    writer.endDay('full', 1, 0);
    writer.close();
    const read = loadBenchJournal(old);
    expect(read?.head.conditions).toEqual(['baseline', 'full-oracle']);
    expect(read?.nights.map(({ condition }) => condition)).toEqual(['full-oracle']);
    expect([read?.lastDay('full-oracle', 1), read?.lastDay('full', 1)]).toEqual([0, undefined]);

    const now = path.join(folder, 'now.jsonl');
    const newer = openBenchJournal(now, { ...head, arms: 2 });
    newer.night({ condition: 'full', ...night });
    newer.endDay('full', 1, 0);
    newer.close();
    expect(loadBenchJournal(now)?.nights.map(({ condition }) => condition)).toEqual(['full']);
  });
});

describe('notes in the prompt', () => {
  it('have the feedback of earlier days only, newest last, each line once, and survive a restart', () => {
    const file = path.join(folder, 'notes', 'notes.md');
    const notes = openPromptNotes(file);
    notes.add('Use .bak copies.\nTimes end in +08:00.');
    expect(notes.section()).toBe('');
    notes.endDay();
    notes.add('Use .bak copies.');
    notes.endDay();
    const section = openPromptNotes(file).section();
    expect(section).toMatch(/^## Notes\n/);
    expect(section.split('\n').slice(2)).toEqual(['- Times end in +08:00.', '- Use .bak copies.']);
  });

  it('are cut at their limit, the oldest first (not the newest)', () => {
    const notes = openPromptNotes(path.join(folder, 'long', 'notes.md'));
    for (let nth = 0; nth < 200; nth++) notes.add(`note ${nth} ${'x'.repeat(90)}`);
    notes.endDay();
    expect(notes.section().length).toBeLessThan(NOTES_LIMIT + 200);
    expect(notes.section()).toContain('note 199 ');
    expect(notes.section()).not.toContain('note 0 ');
  });
});

describe('drawn rules', () => {
  it('are another set for each seed of a run, with ids that name the seed', async () => {
    const loaded = await loadSuite({ ...WORKDAYS, days: 1 }, {});
    const titles = [1, 2].map((seed) => loaded.of(seed).rules.map(({ title }) => title));
    expect(titles[0]).not.toEqual(titles[1]);
    expect(loaded.of(2).rules.every(({ id }) => id.startsWith('s2-'))).toBe(true);
    expect(rulesOfSeed('seed:4', 3)).toBe('seed:6');
    expect(rulesOfSeed('house', 3)).toBe('house');
  });

  it('cannot be misspelt unnoticed', async () => {
    await expect(loadSuite({ ...WORKDAYS, rules: 'seed:1:unseen' }, {})).rejects.toThrow('seed:N');
  });

  it('are told in a day that is one conversation, so that feedback stays in the context (not one per question)', () => {
    const { days } = createWorkdays({ seed: 1, split: 'report', days: 1 });
    expect(days.map(({ conversation }) => conversation)).toEqual(['day']);
  });
});
