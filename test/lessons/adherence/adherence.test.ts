import { describe, expect, it } from 'vitest';
import type { RuleResult } from '../../../src/core/adherence-fact.ts';
import type { Fact, StoredFact } from '../../../src/core/fact.ts';
import {
  createAdherence,
  describeAdherence,
  describeToldRules,
  readAdherence,
} from '../../../src/lessons/adherence/adherence.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { writeLesson } from '../shown/small-library.ts';

let seq = 0;
const observed = (
  session: string,
  outcome: RuleResult['outcome'],
  before?: RuleResult['before'],
): StoredFact => ({
  seq: ++seq,
  at: seq,
  fact: {
    type: 'rules-observed',
    session,
    turn: `${session}-${seq}`,
    results: [{ lesson: 'l', revision: 1, outcome, ...(before === undefined ? {} : { before }) }],
  },
});

describe('adherence', () => {
  it('counts a session once for a rule: kept until an answer breaks it', () => {
    const adherence = createAdherence();
    const facts = [
      observed('a', 'does-not-apply'),
      observed('a', 'kept', 'does-not-apply'),
      observed('b', 'kept'),
      observed('b', 'broken', 'kept'),
      observed('b', 'broken', 'broken'),
      observed('c', 'shown'),
      observed('c', 'told-again'),
    ];
    facts.forEach(adherence.add);
    const counts = { shown: 3, applied: 2, kept: 1, toldAgain: 1 };
    expect(adherence.of('l')).toEqual(counts);
    // A log may be read again.
    facts.forEach(adherence.add);
    expect(adherence.of('l')).toEqual(counts);
    expect(adherence.breaks('l')).toMatchObject([{ session: 'b' }]);
    expect([...adherence.brokenIn('b')]).toEqual([['l', adherence.breaks('l')[0]?.turn]]);
    expect(adherence.brokenIn('a').size).toBe(0);
  });

  it('says what is known of a rule without a check, and of one that was never shown', () => {
    const adherence = createAdherence();
    const rule = writeLesson('l', 'dates', 'ISO');
    expect(describeAdherence(rule, adherence).words).toBe('not shown yet');
    [observed('a', 'shown'), observed('b', 'shown'), observed('b', 'told-again')].forEach(adherence.add);
    expect(describeAdherence(rule, adherence).words).toBe('shown 2, not corrected again 1, told again 1');
    adherence.add(observed('c', 'kept'));
    expect(describeAdherence(rule, adherence)).toEqual({
      ...{ shown: 3, applied: 1, kept: 1, toldAgain: 1 },
      words: 'kept 1 of 1, told again 1',
    });
  });

  it('sums the rules in force that people told', () => {
    const adherence = createAdherence();
    const lesson = writeLesson('l', 'dates', 'ISO');
    const note = { ...lesson.text.note, source: 'told' as const };
    const rule = { ...lesson, text: { ...lesson.text, note } };
    expect(describeToldRules([lesson], adherence)).toBeUndefined();
    expect(describeToldRules([rule], adherence)?.words).toBe('1 rule you told: not shown yet');
    adherence.add(observed('a', 'kept'));
    expect(describeToldRules([rule, { ...rule, state: 'retired' }], adherence)).toMatchObject({
      rules: 1,
      words: '1 rule you told: kept 1 of 1',
    });
  });

  it('is gone with its session', async () => {
    const records = toRecords(createMemoryStore(), () => 0);
    const start: Fact = {
      type: 'turn-start',
      turn: 't',
      session: 'a',
      agent: 'x',
      role: 'main',
      wire: 'openai-chat',
      model: 'm',
      generation: 1,
      policy: 'm',
      lessons: ['l'],
    };
    const { fact } = observed('a', 'broken');
    await records.append([
      { at: 1, fact: start },
      { at: 2, fact },
    ]);
    expect((await readAdherence(records)).of('l')).toMatchObject({ shown: 1, applied: 1, kept: 0 });
    await records.erase('a', 'a person asked');
    const after = await readAdherence(records);
    expect(after.of('l')).toEqual({ shown: 0, applied: 0, kept: 0, toldAgain: 0 });
    expect(after.brokenIn('a').size).toBe(0);
  });
});
