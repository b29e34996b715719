import { describe, expect, it } from 'vitest';
import { digestError } from '../../../src/evidence/digest/digest-error.ts';
import { messUp, type RecordedOutput, readOutputs } from './recorded-outputs.ts';

const OUTPUTS = readOutputs();
const words = (kind: string): string => ` ${kind.toLowerCase().replace(/[-_']/g, ' ')} `;

/** The same kind and the same place. A generic file name may have its folder. */
function isRight(digest: string, wanted: string): boolean {
  const [kind = '', place = ''] = digest.split(' @ ');
  const [wantedKind = '', wantedPlace = ''] = wanted.split(' @ ');
  const isPlace = place === wantedPlace || (wantedPlace !== '' && place.endsWith(`/${wantedPlace}`));
  return isPlace && words(kind).includes(words(wantedKind));
}

const missed = (outputs: readonly RecordedOutput[]): readonly string[] =>
  outputs.flatMap((output) => {
    const [first = ''] = digestError(messUp(output));
    const [wanted = ''] = output.digests;
    return isRight(first, wanted) ? [] : [`${output.id}: ${first} (not ${wanted})`];
  });

describe('the digest of recorded outputs, coloured, stamped and inside long logs', () => {
  it('has kind and place first, for every output it was written for', () => {
    expect(missed(OUTPUTS.filter(({ split }) => split === 'dev'))).toEqual([]);
  });

  it('has them for the other half too (all but two of a hundred and eighty-seven)', () => {
    expect(missed(OUTPUTS.filter(({ split }) => split === 'test')).length).toBeLessThanOrEqual(2);
  });

  it('finds nothing in the log around them', () => {
    const quiet: RecordedOutput = {
      ...(OUTPUTS[0] as RecordedOutput),
      text: 'done\n',
      mess: ['long', 'colour'],
    };
    expect(digestError(messUp(quiet))).toEqual([]);
  });
});
