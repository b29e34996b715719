import { afterAll, describe, expect, it } from 'vitest';
import { asObject } from '../../src/core/json.ts';
import { createStage } from '../config/settings/instar-here.ts';
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
      changes: [{ step: 'merge', names: ['sort-one', 'sort-two'] }],
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
});
