import { afterAll, describe, it } from 'vitest';
import { createProofs } from './settings/all-settings.ts';
import { createStage } from './settings/instar-here.ts';
import { checkProof } from './settings/setting-proof.ts';

/** Beside `every-setting.test.ts`, which looks at the whole list: here what Instar does is seen to differ, a minute in all. */
const stage = createStage();
afterAll(() => stage.close());

describe('every setting', () => {
  it.each(Object.entries(createProofs(stage)).filter(([, proof]) => 'acts' in proof))(
    '%s',
    checkProof,
    60_000,
  );
});
