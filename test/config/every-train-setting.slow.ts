import { afterAll, describe, it } from 'vitest';
import { createStage } from './settings/instar-here.ts';
import { checkProof } from './settings/setting-proof.ts';
import { createTrainProofs } from './settings/train-settings.ts';

/** Beside `every-setting.test.ts`, which looks at the whole list: windows and engines take their time. */
const stage = createStage();
afterAll(() => stage.close());

describe('every setting of training', () => {
  it.each(Object.entries(createTrainProofs(stage)))('%s', checkProof, 60_000);
});
