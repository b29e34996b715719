import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';

const whole = {
  url: 'http://127.0.0.1:9',
  baseModel: 'any',
  selfTest: false,
  fetch,
  clock: systemClock,
  random: createRandom('options'),
} as const;

/** As a caller without types would. */
const connectLoosely = (options: object): Promise<unknown> =>
  Reflect.apply(connectTinker, undefined, [options]);

describe('connecting', () => {
  it.each(['url', 'baseModel', 'fetch', 'clock', 'random'] as const)(
    'without %s is refused at once by its name, instead of being retried for ever',
    async (name) => {
      const { [name]: _, ...rest } = whole;
      await expect(connectLoosely(rest)).rejects.toMatchObject({
        name: 'TrainingError',
        category: 'user',
        message: expect.stringMatching(new RegExp(`^connectTinker needs ${name} \\(`)),
      });
    },
  );

  it('names everything that is missing, a url without a scheme, and a profile that does not exist', async () => {
    await expect(connectLoosely({})).rejects.toThrow(
      /needs url .*, baseModel .*, fetch .*, clock .*, random /,
    );
    await expect(connectLoosely({ ...whole, url: '127.0.0.1:8000' })).rejects.toThrow(/http:\/\/ or https:/);
    await expect(connectLoosely({ ...whole, profile: 'skyrll' })).rejects.toThrow(
      'there is no profile skyrll; there are tinker, skyrl, tuft, nano, generic',
    );
  });
});
