import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import type { NewFact } from '../../src/core/store.ts';
import { createAudit, readAuditTrail } from '../../src/record/audit-trail.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const open = () => {
  const clock = createManualClock(1000);
  return { clock, records: toRecords(createMemoryStore(), clock.now) };
};
const entry = (subject: string) => ({ action: 'lessons.change', subject, key: 'owner_1' });

describe('the audit trail', () => {
  it('keeps the order of calls that are made at once, numbered without a gap', async () => {
    const { records, clock } = open();
    const audit = createAudit(records, clock.now);
    await Promise.all(['a', 'b', 'c', 'd'].map((subject) => audit(entry(subject))));
    const { entries, fault } = await readAuditTrail(records);
    expect(entries.map(({ n, subject, key }) => [n, subject, key])).toEqual([
      [1, 'a', 'owner_1'],
      [2, 'b', 'owner_1'],
      [3, 'c', 'owner_1'],
      [4, 'd', 'owner_1'],
    ]);
    expect(fault).toBeUndefined();
  });

  it('continues after another process, and after a restart', async () => {
    const { records, clock } = open();
    const [one, two] = [createAudit(records, clock.now), createAudit(records, clock.now)];
    await one(entry('a'));
    await two(entry('b'));
    await one(entry('c'));
    const { entries, fault } = await readAuditTrail(records);
    expect(entries.map(({ subject }) => subject)).toEqual(['a', 'b', 'c']);
    expect(fault).toBeUndefined();
  });

  it('is not taken in by an event of a caller that names it as its session', async () => {
    const { records, clock } = open();
    const fake: NewFact = { at: 1, fact: { type: 'event-reported', kind: 'k', session: 'audit', data: {} } };
    await records.append([fake]);
    await createAudit(records, clock.now)(entry('a'));
    expect(await readAuditTrail(records)).toMatchObject({ entries: [{ n: 1, subject: 'a' }] });
  });

  it('says which entry does not fit, when one was changed or removed', async () => {
    const { records, clock } = open();
    const audit = createAudit(records, clock.now);
    for (const subject of ['a', 'b', 'c']) await audit(entry(subject));
    const events = await records.events('audit');
    const changed = events.map((one, index) =>
      index === 1 && one.fact.type === 'action-taken' ? { ...one, fact: { ...one.fact, subject: 'x' } } : one,
    );
    expect((await readAuditTrail({ events: async () => changed })).fault).toContain('entry 2');
    const removed = events.filter((_, index) => index !== 1);
    expect((await readAuditTrail({ events: async () => removed })).fault).toContain('entry 2');
  });
});
