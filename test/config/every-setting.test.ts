import { afterAll, describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.ts';
import { createGatewayProofs } from './settings/gateway-settings.ts';
import { createStage } from './settings/instar-here.ts';
import { createLibraryProofs } from './settings/library-settings.ts';
import { createProviderProofs } from './settings/provider-settings.ts';
import { checkProof, type SettingProofs, settingsOf } from './settings/setting-proof.ts';
import { createVerifierProofs } from './settings/verifier-settings.ts';

const stage = createStage();
const proofs: SettingProofs = {
  ...createGatewayProofs(stage),
  ...createProviderProofs(stage),
  ...createLibraryProofs(stage),
  ...createVerifierProofs(stage),
};
afterAll(() => stage.close());

describe('every setting', () => {
  it.skip('acts, is announced, or has a test elsewhere', () => {
    expect(Object.keys(proofs).sort()).toEqual([...settingsOf(configJsonSchema())].sort());
  });

  it.each(Object.entries(proofs))('%s', checkProof, 60_000);
});
