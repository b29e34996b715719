import { afterAll, describe, expect, it } from 'vitest';
import { asObject } from '../../src/core/json.ts';
import { createStage, replyWith } from '../config/settings/instar-here.ts';
import { lessonText } from '../support/lesson-text.ts';

const stage = createStage();
afterAll(stage.close);

describe('consolidation by a running daemon', () => {
  it('is planned and made over the API, and is in the audit trail', async () => {
    const here = await stage.open('here', {});
    const add = (id: string) => ({
      op: 'add',
      id,
      kind: 'skill',
      state: 'live',
      text: asObject(
        lessonText({
          name: `sort-${id}`,
          description: 'When you sort a ledger.',
          content: 'Sort the rows of the ledger by their booking day.',
        }),
      ),
    });
    await here.owner('POST', '/api/lessons', { changes: [add('one'), add('two')] });
    const plan = await here.owner('POST', '/api/consolidate', {});
    expect(plan).toMatchObject({
      done: false,
      changes: [{ step: 'merge', titles: ['Sort one', 'Sort two'] }],
    });
    expect(await here.owner('POST', '/api/consolidate', { apply: true })).toMatchObject({
      done: true,
      refused: [],
    });
    expect(await here.owner('GET', '/api/lessons/two')).toMatchObject({
      state: 'retired',
      mergedInto: 'one',
    });
    expect(JSON.stringify(await here.owner('GET', '/api/audit?limit=5'))).toContain('lessons.consolidate');
  });

  it('brings an archived lesson back when a session is about it: the next session is shown it', async () => {
    const provider = await stage.provider('p', (_, response) => replyWith(response, 'done'));
    const p = { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' };
    const here = await stage.open('asked', { providers: { p } }, { env: { P_KEY: 'k-000000000000' } });
    await here.addLesson(
      {
        name: 'rotate-keys',
        description: 'When you rotate the api keys of the payment service.',
        content: 'Rotate the api keys of the payment service with the vault tool.',
      },
      'keys',
    );
    const reason = 'archived: no session needed it for 130 days';
    await here.owner('POST', '/api/lessons', { changes: [{ op: 'retire', id: 'keys', reason }] });
    const task = 'Please rotate the api keys of the payment service.';
    const messages = [{ role: 'user', content: task }];
    await here.chat(task, { session: 'one' });
    const reply = { role: 'assistant', content: 'done' };
    await here.chat('', {
      session: 'one',
      messages: [...messages, reply, { role: 'user', content: 'Thanks, perfect.' }],
    });
    const stateNow = async () => {
      await here.daemon.settle();
      return (await here.owner('GET', '/api/lessons/keys')).state;
    };
    await expect.poll(stateNow, { timeout: 100_000 }).toBe('live');
    await here.chat(task, { session: 'two' });
    expect(provider.seen.at(-1)?.body.toString()).toContain('with the vault tool');
  });
});
