import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MARK } from '../../../train/nano/policy/vocabulary.ts';
import { openNano, readNano } from '../../../train/nano/shipped-policy.ts';

const shipped = path.resolve(import.meta.dirname, '../../../models/nano');
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-policy-'));
  cpSync(shipped, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configWith = (change: (config: Record<string, unknown>) => void): void => {
  const file = path.join(folder, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  change(config);
  writeFileSync(file, JSON.stringify(config));
};

describe('the shipped policy', () => {
  it('is found, matches its description, and answers', async () => {
    const nano = await openNano();
    expect(nano.engine.model).toMatchObject({ name: nano.name, vocabulary: nano.tokenizer.size });
    const { sequences } = await nano.engine.sample(
      undefined,
      {
        prompt: Int32Array.of(MARK.begin, MARK.task, ...nano.tokenizer.encode('Say hello.'), MARK.reply),
        count: 1,
        maxTokens: 8,
        temperature: 0,
        topK: -1,
        topP: 1,
        seed: 1,
        stop: [MARK.end],
      },
      new AbortController().signal,
    );
    expect(sequences[0]?.tokens.length).toBeGreaterThan(0);
    await nano.close();
  });

  it.each(['config.json', 'weights.safetensors', 'tokenizer.json'])(
    'names %s and the fix when it is missing',
    async (file) => {
      rmSync(path.join(folder, file));
      await expect(readNano(folder)).rejects.toMatchObject({
        name: 'ShippedFileError',
        message: `${path.join(folder, file)} is missing; install Instar again`,
      });
    },
  );

  it.each(['weights.safetensors', 'tokenizer.json'])(
    'is refused when one byte of %s differs (not served with wrong numbers)',
    async (file) => {
      const bytes = readFileSync(path.join(folder, file));
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(path.join(folder, file), bytes);
      await expect(readNano(folder)).rejects.toThrow(`${file} is not the file that was shipped`);
    },
  );

  it('is refused when a file is truncated or has trailing bytes', async () => {
    const file = path.join(folder, 'weights.safetensors');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -1));
    await expect(readNano(folder)).rejects.toThrow('not the file that was shipped');
    writeFileSync(file, bytes);
    await expect(readNano(folder)).resolves.toBeDefined();
    appendFileSync(file, 'x');
    await expect(readNano(folder)).rejects.toThrow('not the file that was shipped');
  });

  it('is refused when its description is invalid or of another model', async () => {
    configWith((config) => {
      config.shape = { ...(config.shape as object), width: '96' };
    });
    await expect(readNano(folder)).rejects.toThrow('config.json does not describe a policy');
    configWith((config) => {
      config.shape = { ...(config.shape as object), width: 104 };
    });
    await expect(openNano(folder)).rejects.toMatchObject({
      name: 'ShippedFileError',
      what: expect.stringContaining('do not fit its shape'),
    });
    configWith((config) => {
      config.shape = { ...(config.shape as object), vocabulary: 760 };
    });
    await expect(readNano(folder)).rejects.toThrow('tokenizer.json does not fit');
    writeFileSync(path.join(folder, 'config.json'), '{');
    await expect(readNano(folder)).rejects.toThrow('config.json does not describe a policy');
  });
});
