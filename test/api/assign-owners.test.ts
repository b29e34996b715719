import { expect, it } from 'vitest';
import { assignOwners } from '../../src/api/assign-owners.ts';
import { createCallerKey, firstKey, readCallerKeys } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { readOrCreateKey } from '../../src/config/key.ts';
import { credentialCaller } from '../../src/config/valid-keys.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { Fact } from '../../src/core/fact.ts';
import type { Lesson, Scope } from '../../src/core/lesson.ts';
import { openLibrary } from '../../src/lessons/library.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { scratch } from '../record/store/scratch.ts';
import { lessonText } from '../support/lesson-text.ts';

/** A home in which every key spoke for every agent, as an earlier version left it. */
async function openOldHome() {
  const home = openHome(scratch());
  readOrCreateKey(home, {});
  const [first, app, codex] = [
    firstKey(home, {})?.id ?? '',
    createCallerKey(home, { name: 'app', mayRate: false, at: 0 }).entry.id,
    createCallerKey(home, { name: 'codex', mayRate: false, at: 0, isOwn: true }).entry.id,
  ];
  const store = createMemoryStore();
  const records = toRecords(store, () => 1);
  let turns = 0;
  const turnOf = async (caller: string, agent: string, client?: string): Promise<string> => {
    const turn = `t${++turns}`;
    const fact = {
      type: 'turn-start',
      turn,
      session: `s${turns}`,
      agent,
      role: 'main',
      wire: 'openai-chat',
      model: 'm',
      generation: 0,
      policy: 'anthropic/m',
      lessons: [],
      caller,
      ...(client === undefined ? {} : { client }),
    } satisfies Fact;
    await records.append([{ at: turns, fact }]);
    return turn;
  };
  const { library } = await openLibrary({
    load: async (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [appended] = store.append({ facts: [fact] });
      if (appended === undefined) throw new Error('nothing was appended');
      return appended;
    },
    clock: createManualClock(1_000),
    newId: (prefix) => `${prefix}_1`,
    onFault: (error) => {
      throw error;
    },
  });
  const add = async (id: string, learner: string, evidence: readonly string[], scope: Scope = {}) => {
    const text = lessonText({
      name: id,
      description: `When you use ${id}.`,
      content: `Use ${id}.`,
      scope,
      evidence: { turns: evidence, quotes: [], learner },
    });
    const changes = [{ op: 'add', id, kind: 'skill', state: 'live', text } as const];
    await library.publish({
      id: `add-${id}`,
      by: { kind: 'person', name: 'person' },
      reason: 'a test',
      changes,
    });
  };
  const assign = () =>
    assignOwners({ home, env: {}, records, library, now: () => 1, log: { info: () => undefined } });
  return { home, keys: { first, app, codex }, turnOf, add, library, assign };
}

it('a home of an earlier version gets owners once: keys by what they used, lessons by whose conversations they rest on', async () => {
  const { home, keys, turnOf, add, library, assign } = await openOldHome();
  const [ofFirst, ofApp, ofCodex] = [
    await turnOf(keys.first, 'clerk'),
    await turnOf(keys.app, 'support'),
    await turnOf(keys.codex, 'codex'),
  ];
  const ofLogin = await turnOf('c_0123456789abcdef', 'claude-code', 'claude-code');
  await add('own', 'distiller', [ofFirst, ofCodex]);
  await add('apps', 'distiller', [ofApp]);
  await add('logins', 'distiller', [ofLogin]);
  await add('mixed', 'distiller', [ofFirst, ofApp]);
  await add('starred', 'distiller', [ofFirst], { agent: '*' });
  await add('noted', 'notes', [await turnOf(keys.first, 'unknown')]);
  await add('owners', 'import', [], { agent: 'build*' });
  await assign();

  const seen = (id: string): readonly [Lesson['state'] | undefined, string | undefined] => [
    library.lesson(id)?.state,
    library.lesson(id)?.text.scope.member,
  ];
  expect(seen('own')).toEqual(['live', undefined]);
  expect(seen('apps')).toEqual(['live', keys.app]);
  expect(seen('logins')).toEqual(['live', credentialCaller('anthropic', 'claude-code').member]);
  for (const id of ['mixed', 'starred', 'noted']) expect(seen(id), id).toEqual(['proposed', undefined]);
  expect(library.lesson('mixed')?.reason).toContain('several keys');
  expect(seen('owners')).toEqual(['live', undefined]);
  expect(firstKey(home, {})?.used?.agents).toEqual(['clerk']);
  expect(readCallerKeys(home).map(({ used }) => used?.agents)).toEqual([['support'], ['codex']]);

  await library.publish({
    id: 'approve',
    by: { kind: 'person', name: 'person' },
    reason: 'the owner decides',
    changes: [{ op: 'move', id: 'mixed', to: 'live' }],
  });
  await assign();
  expect(seen('mixed'), 'a decision of the owner stands').toEqual(['live', undefined]);
});
