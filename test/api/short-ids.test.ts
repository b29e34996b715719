import { describe, expect, it } from 'vitest';
import { createLazyLessonsApi } from '../../src/api/offline-api.ts';
import { withShortIds } from '../../src/api/short-ids.ts';
import { createStoreApi } from '../../src/api/store-api.ts';
import { createIds } from '../../src/base/ids.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { OwnerApis } from '../../src/core/daemon-api.ts';
import { asObject } from '../../src/core/json.ts';
import { shortId } from '../../src/text/short-id.ts';
import { lessonText } from '../support/lesson-text.ts';
import { createRecord } from './recorded-home.ts';

const newId = createIds(systemClock);

function open(): OwnerApis & Pick<ReturnType<typeof createRecord>, 'add'> {
  const { records, add } = createRecord();
  const api = { ...createStoreApi(records, Date.now), confirmTime: async () => ({}) };
  const keysApi = {} as OwnerApis['keysApi'];
  return { ...withShortIds({ api, lessonsApi: createLazyLessonsApi(records), keysApi }, records), add };
}

describe('a short id', () => {
  it('finds its session, its turn, and the reasons for its lessons', async () => {
    const { api, lessonsApi, add } = open();
    const [turn, session] = [newId('t'), newId('s')];
    add({ turn, session });
    add({ turn: newId('t'), session: newId('s') });
    expect(await api.session(shortId(session))).toMatchObject({ id: session });
    expect(await api.trajectory(shortId(session))).toMatchObject({ id: session });
    expect(await api.turn(shortId(turn))).toMatchObject({ id: turn, session });
    expect(await lessonsApi.why(shortId(turn))).toMatchObject({ turn });
    expect(await api.session(session)).toMatchObject({ id: session });
    expect(await api.session('s_nobody')).toBeUndefined();
    expect(await api.session('s_')).toBeUndefined();
  });

  it('that can mean several is refused with the candidates (not answered with one of them)', async () => {
    const { api, add } = open();
    add({ turn: 'turn-abc-1', session: 'work-on-monday' });
    add({ turn: 'turn-abc-2', session: 'work-on-tuesday' });
    await expect(api.session('work')).rejects.toThrow('work-on-monday, work-on-tuesday');
    await expect(api.turn('turn-abc')).rejects.toMatchObject({ status: 400 });
    expect(await api.session('work-on-t')).toMatchObject({ id: 'work-on-tuesday' });
  });

  it('of a conversation does not mean its sub-agents’ conversations, which have short ids of their own', async () => {
    const { api, add } = open();
    const parent = '0b9d8f9e-3c1f-4f6b-9d5c-0c2d5b1a7e11';
    add({ turn: 't1', session: `${parent}:agent-1` });
    add({ turn: 't2', session: parent });
    add({ turn: 't3', session: `${parent}:agent-2` });
    expect(await api.session('0b9d8f9e')).toMatchObject({ id: parent });
    expect(await api.session(shortId(`${parent}:agent-2`))).toMatchObject({ id: `${parent}:agent-2` });
  });

  it('erases nothing: what is erased is named in full', async () => {
    const { api, add } = open();
    const session = newId('s');
    add({ turn: newId('t'), session });
    expect(await api.erase(shortId(session))).toMatchObject({ erased: 0 });
  });

  it('finds its lesson, beside the name', async () => {
    const { lessonsApi } = open();
    const ids = [newId('lesson'), newId('lesson')];
    const texts = ids.map((_, n) =>
      lessonText({
        name: `dates-${n}`,
        description: 'Use it when dates are written.',
        content: 'Write ISO dates.',
      }),
    );
    await lessonsApi.change({
      reason: 'test',
      changes: ids.map((id, n) =>
        asObject({ op: 'add', id, kind: 'skill', state: 'proposed', text: texts[n] }),
      ),
    });
    const made = (await lessonsApi.list({})).map(({ id }) => String(id));
    expect(made.toSorted()).toEqual(ids.toSorted());
    expect(await lessonsApi.show(shortId(ids[1] ?? ''))).toMatchObject({ id: ids[1], name: 'dates-1' });
    expect(await lessonsApi.show('dates-0')).toMatchObject({ id: ids[0] });
    await expect(lessonsApi.show('lesson_')).rejects.toThrow('several lessons');
    expect(await lessonsApi.show('lesson_zzzz')).toBeUndefined();
  });
});
