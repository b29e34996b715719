import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createFrameReader, openTorchEngine } from '../../../lab/real-model/torch-engine.ts';
import { EngineError } from '../../../train/nano/engine.ts';

const frame = (header: object, payload: Uint8Array = new Uint8Array()): Buffer => {
  const text = Buffer.from(JSON.stringify({ ...header, bytes: payload.length }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, payload]);
};

describe('frames of the torch engine', () => {
  const sent = [
    frame({ id: 1, name: 'ä' }, Buffer.from([1, 2, 3])),
    frame({ id: 2 }),
    frame({ id: 3 }, Buffer.from('{}')),
  ];
  const expected = [
    [1, [1, 2, 3]],
    [2, []],
    [3, [123, 125]],
  ];
  const read = (...parts: readonly Buffer[]) => {
    const heard: unknown[] = [];
    const reader = createFrameReader(({ header, payload }) => heard.push([header.id, [...payload]]));
    for (const part of parts) reader(part);
    return heard;
  };

  it('are the same wherever the bytes are cut in two, and one byte at a time', () => {
    const bytes = Buffer.concat(sent);
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut)), `cut at ${cut}`).toEqual(expected);
    expect(read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  it('are not heard while a byte of them is missing', () => {
    const bytes = Buffer.concat(sent);
    for (let missing = 1; missing <= (sent[2]?.length ?? 0); missing++)
      expect(read(bytes.subarray(0, -missing))).toEqual(expected.slice(0, 2));
  });
});

/** What the engine does with a request, in the words of a program. `answer` writes one frame. */
const startProgram = (onRequest: string) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-torch-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const python = path.join(folder, 'python');
  writeFileSync(
    python,
    `#!${process.execPath}
const frame = (header) => {
  const text = Buffer.from(JSON.stringify({ ...header, bytes: 0 }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text]);
};
const answer = (header) => process.stdout.write(frame(header));
answer({ id: 0, vocabulary: 7, context: 8, layers: 1, width: 2 });
process.stdin.on('data', (bytes) => {
  const request = JSON.parse(bytes.toString('utf8', 4, 4 + bytes.readUInt32LE(0)));
  ${onRequest}
});
process.stdin.on('end', () => process.exit(0));
`,
  );
  chmodSync(python, 0o700);
  return openTorchEngine({ python, folder, more: [] });
};

describe('a torch engine', () => {
  it('gives an error reply to the request that it belongs to: the caller’s fault or the engine’s', async () => {
    const engine = await startProgram(`
      if (request.name === 'unknown') answer({ id: request.id, error: 'no such weights', isInvalid: true });
      else if (request.name === 'full') answer({ id: request.id, error: 'out of memory' });
      else answer({ id: request.id });`);
    expect(engine.model).toMatchObject({ vocabulary: 7, contextLength: 8 });
    const invalid = await engine.dispose('unknown').catch((error: unknown) => error);
    expect(invalid).toBeInstanceOf(EngineError);
    const failed = await engine.dispose('full').catch((error: unknown) => error);
    expect(failed).not.toBeInstanceOf(EngineError);
    expect(String(failed)).toContain('out of memory');
    await engine.dispose('fine');
    await engine.close();
  });

  it('rejects what it waits for, and every later request, when its process ends in the middle of a frame', async () => {
    const engine = await startProgram(
      `process.stdout.write(frame({ id: request.id }).subarray(0, -1), () => process.exit(3));`,
    );
    await expect(engine.dispose('one')).rejects.toThrow('ended with 3');
    await expect(engine.dispose('two')).rejects.toThrow('ended with 3');
  });
});
