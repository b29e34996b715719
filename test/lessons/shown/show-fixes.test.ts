import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { HoldoutLot } from '../../../src/lessons/effect/hold-out.ts';
import type { ConversationView, ShowRequest } from '../../../src/lessons/shown/block-update.ts';
import type { RecallChoice } from '../../../src/lessons/shown/prompt-thread.ts';
import { createFixes } from '../../../src/lessons/shown/show-fixes.ts';
import { createShownBlocks } from '../../../src/lessons/shown/shown-blocks.ts';
import { createSmallLibrary, writeLesson } from './small-library.ts';

const fix = (id: string, error: string, agent?: string): Lesson => {
  const lesson = writeLesson(id, `fix-${id}`, 'It came up before.');
  const payload = { type: 'fix_template' as const, error, repair: [`repair ${id}`] };
  const scope = agent === undefined ? {} : { agent };
  return { ...lesson, kind: 'fix', text: { ...lesson.text, scope, overlay: { payload } } };
};

/** Links stand for messages; the newest one has these lines, each of which is the digest of an error. */
const conversationOf = (links: string, newest: string): ConversationView => {
  const list = links.split(' ');
  const link = list.at(-1) ?? '';
  return {
    links: list,
    newestIsUser: false,
    task: 't',
    taskLink: list[0],
    newest: { link, texts: [newest] },
  };
};

function setUp(
  fixes: readonly Lesson[],
  lot: HoldoutLot = 'shown',
  digestsOf = (text: string) => text.split('\n'),
) {
  const library = createSmallLibrary();
  // A fix is in a library, which has a generation then.
  library.put(writeLesson('l1', 'sorting', 'Sort.'));
  const recorded: RecallChoice[] = [];
  const faults: unknown[] = [];
  const start = () =>
    createShownBlocks({
      ...library,
      lessonCount: () => 0,
      fixes: createFixes({
        library: { shown: () => fixes },
        digestsOf,
        lotOf: () => lot,
        onFault: (error) => faults.push(error),
      }),
      record: (choice) => void recorded.push(choice),
      restore: async () => recorded.slice(),
    });
  let shown = start();
  const ask = async (links: string, newest: string, more: Partial<ShowRequest> = {}) =>
    shown.show({
      ...{ turn: 't', session: 's', thread: 'main', now: 0, query: { agent: 'a' } },
      conversation: () => conversationOf(links, newest),
      ...more,
    });
  return { ask, recorded, faults, restart: () => (shown = start()) };
}

describe('fixes', () => {
  it('are found by the error without its line, and not by digests that name none', async () => {
    const { ask } = setUp([fix('f1', 'TypeError @ a.ts:1'), fix('f2', 'exit 1')]);
    const { additions } = await ask('A b', 'TypeError @ a.ts:99\nexit 1');
    expect(additions).toMatchObject([{ link: 'b', text: expect.stringContaining('repair f1') }]);
    expect(additions[0]?.text).not.toContain('repair f2');
    expect((await ask('A b c d', 'TypeError @ b.ts:1')).additions).toHaveLength(1);
  });

  it('are at most two for a message; a third one comes when the error is still there', async () => {
    const { ask } = setUp([1, 2, 3].map((n) => fix(`f${n}`, `Fault${n} @ a.ts`)));
    const error = 'Fault1 @ a.ts\nFault2 @ a.ts\nFault3 @ a.ts';
    expect((await ask('A b', error)).lessons).toEqual(['f1', 'f2']);
    expect((await ask('A b c d', error)).lessons).toEqual(['f1', 'f2', 'f3']);
    expect((await ask('A b c d e f', error)).additions).toHaveLength(2);
  });

  it('that are held out are recorded once as such and never shown, also after a restart', async () => {
    const { ask, recorded, restart } = setUp([fix('f1', 'Fault @ a.ts')], 'held-out');
    expect(await ask('A b', 'Fault @ a.ts')).toMatchObject({ lessons: [], additions: [] });
    restart();
    expect((await ask('A b c d', 'Fault @ a.ts')).additions).toEqual([]);
    const told = recorded.filter(({ fact }) => fact.why === 'error');
    expect(told).toMatchObject([
      { fact: { lessons: [], heldOut: ['f1'], considered: [{ id: 'f1', verdict: 'held-out' }] } },
    ]);
  });

  it('of another scope cost nothing: the conversation is not read', async () => {
    const { ask } = setUp([fix('f1', 'Fault @ a.ts', 'other')]);
    await ask('A b', '');
    const unread = (): ConversationView => {
      throw new Error('the conversation was read');
    };
    expect((await ask('A b c', '', { conversation: unread })).additions).toEqual([]);
  });

  it('that cannot be looked for leave the request as it is', async () => {
    const { ask, faults } = setUp([fix('f1', 'Fault @ a.ts')], 'shown', () => {
      throw new Error('no digest');
    });
    expect((await ask('A b', 'Fault @ a.ts')).additions).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});
