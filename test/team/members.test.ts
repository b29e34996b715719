import { expect, it } from 'vitest';
import { hashKey } from '../../src/config/key.ts';
import { sessionIdFor } from '../../src/core/caller.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { openMembers } from '../../team/members.ts';

it('two members who give a conversation the same name have two sessions, whichever of their keys they use', async () => {
  const records = toRecords(createMemoryStore(), () => 1);
  const members = await openMembers({ records, now: () => 1 });
  const sessions = [];
  for (const id of ['m_00000000000000aa', 'm_00000000000000bb']) {
    await members.change(id, { do: 'add', name: `person ${id}`, role: 'member' }, 'owner');
    for (const use of ['client', 'person'] as const) {
      const { key } = await members.addKey(id, 'laptop', use, 'owner');
      const caller = members.callerOf(hashKey(key));
      expect(caller).toBeDefined();
      if (caller !== undefined) sessions.push(sessionIdFor(caller, 'main'));
    }
  }
  expect(sessions).toEqual([
    'm_00000000000000aa:main',
    'm_00000000000000aa:main',
    'm_00000000000000bb:main',
    'm_00000000000000bb:main',
  ]);
});
