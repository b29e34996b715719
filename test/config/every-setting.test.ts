import { afterAll, describe, expect, it } from 'vitest';
import { writeSettingsReference } from '../../lab/release/settings-reference.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { interfaceExample } from './interface-example.ts';
import { createProofs } from './settings/all-settings.ts';
import { createStage } from './settings/instar-here.ts';
import { checkProof, problemsOf, settingsOf } from './settings/setting-proof.ts';
import { createTrainProofs } from './settings/train-settings.ts';

/** For editors, which read the file that it names. */
const FOR_EDITORS = '$schema';

const stage = createStage();
const proofs = createProofs(stage);
afterAll(() => stage.close());

describe('every setting', () => {
  it('is shown to act, or is announced as one that does not (a new key without a proof fails here)', () => {
    const shown = [...Object.keys(proofs), ...Object.keys(createTrainProofs(stage)), FOR_EDITORS];
    expect([...shown].sort()).toEqual([...settingsOf(configJsonSchema())].sort());
  });

  it.each(Object.entries(proofs).filter(([, proof]) => !('acts' in proof)))('%s', checkProof);
});

it('there are at most sixty settings, each with a sentence about what it changes', () => {
  const rows = writeSettingsReference()
    .split('\n')
    .filter((line) => line.startsWith('| `') && !line.startsWith(`| \`${FOR_EDITORS}`));
  expect(rows.length).toBeLessThanOrEqual(60);
  for (const row of rows) expect(row).toMatch(/^\| `[^`]+` \| [A-Z][^*]{20,}<br>/);
});

describe('a setting that cannot act', () => {
  it.each([
    [
      { store: { url: 'mysql://me@db/instar' } },
      'store.url: must be "sqlite", or the URL of a PostgreSQL: postgres://USER:PASSWORD@HOST/DATABASE',
    ],
    [
      { learn: { verifiers: [{ domain: 'code', kind: 'command', command: 'make test' }] } },
      'learn.verifiers[0].kind: cannot be "command" here: it checks the workspace of an attempt, and a recorded turn has none',
    ],
    [
      { learn: { verifiers: [{ domain: 'text', kind: 'comparative' }] } },
      'learn.verifiers[0].kind: cannot be "comparative" here: it compares several attempts at one task, and a recorded turn is one',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'nubmer' }] } },
      'learn.verifiers[0].kind: must be one of exact, number, regex, schema, rubric, module',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'number', tolerence: 1 }] } },
      'tolerence: is not a setting',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'module', file: 'verify.mjs' }] } },
      'must be an absolute path',
    ],
    [
      { schedule: { calendar: { ics: 'a.ics', user: 'ada' } } },
      'user: has no effect here: it belongs to caldav',
    ],
    [{ schedule: { calendar: { ics: 'a.ics', keyEnv: 'K' } } }, 'keyEnv: has no effect here'],
    [
      { router: { cheap: 'ollama/a', strong: 'ollama/a' } },
      'router.cheap: is the same model as router.strong',
    ],
    [{ router: { cheap: 'mini', strong: 'ollama/a' } }, 'router.cheap: must be "provider/model"'],
    [
      { router: { cheap: 'ollama/a', strong: 'nobody/b' } },
      'router.strong: names a provider that is not configured ("nobody")',
    ],
    [
      {
        providers: { far: { wire: 'openai', baseUrl: 'https://far.example/v1' } },
        router: { cheap: 'ollama/a', strong: 'far/b' },
      },
      "router.strong: is of another provider than the other tier, and far is called with the callers' own credentials",
    ],
    [
      { schedule: { calendar: { caldav: 'https://dav.example/c', clientId: 'c' } } },
      'clientId: has no effect here: it belongs to google',
    ],
  ])('is refused with the reason: %j', (input, why) => {
    expect(problemsOf(input)).toContain(why);
  });

  it("does not make the contract's example invalid, and warns of nothing in it", () => {
    expect(checkConfig(interfaceExample, { env: {} }).warnings).toEqual([]);
    expect(checkConfig({}, { env: {} }).warnings).toEqual([]);
  });
});
