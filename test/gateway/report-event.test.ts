import { expect, it } from 'vitest';
import type { Caller } from '../../src/core/caller.ts';
import { reportEvent } from '../../src/gateway/control-api.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const APP: Caller = {
  kind: 'caller',
  id: 'k_app00000',
  mayRate: false,
  tag: 'k_app00000',
  member: 'k_app00000',
};
const FIRST: Caller = { kind: 'caller', id: 'k_first000', mayRate: false };
const INES = 'u_0123456789abcdef';

it.each([
  ['of an application', APP, `${APP.member}.${INES}`],
  ['of the first key', FIRST, INES],
] as const)(
  'an event without a session that names an end user is about that person, and not about everybody (%s)',
  async (_, caller, expected) => {
    const records = toRecords(createMemoryStore(), () => 0);
    const report = (person?: string) =>
      reportEvent({ records, now: () => 1, ...(person && { person }) }, { kind: 'repeated_retry' }, caller);
    await report(INES);
    await report();
    const facts = await records.facts(0, 10);
    const members = facts.map(({ fact }) => fact.type === 'event-reported' && fact.member);
    expect(members).toEqual([expected, caller.member]);
  },
);
