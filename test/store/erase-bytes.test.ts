import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, Store } from '../../src/core/store.ts';
import { packBody } from '../../src/store/body-codec.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const blockOf = (text: string, session: string): Block => ({ hash: hashOf(text), text, session });

/** Everything the store has on disk. */
const bytesOf = (file: string): Buffer =>
  Buffer.concat(['', '-wal', '-shm'].map((end) => `${file}${end}`).filter(existsSync).map((name) => readFileSync(name)));

/** Words that are in no other text, and as many as make a body of that size; unpackable ones stay plain. */
function textOf(session: string, n: number, size: number): string {
  const words: string[] = [];
  for (let length = 0, word = 0; length < size; word++) {
    words.push(`${session}#${n}.${word}:${hashOf(`${session}${n}${word}`).slice(0, 16)}`);
    length += 30;
  }
  return words.join(' ');
}

/** The bytes as they are kept, in pieces: a copy left in a page's gap may have lost its beginning or its end. */
function piecesOf(text: string): readonly Buffer[] {
  const { body } = packBody(text);
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; from += 24) {
    const piece = Buffer.from(body.subarray(from, from + 24));
    if (piece.length >= 16) pieces.push(piece);
  }
  return pieces;
}

const isAnywhere = (bytes: Buffer, text: string): boolean => piecesOf(text).some((piece) => bytes.includes(piece));

describe('an erased session', () => {
  it('is in no byte of the file, the log or the index; shared and other words are', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const own = ['tiny secret of mine', 'a secret that is longer '.repeat(200), textOf('mine', 1, 20_000)];
    const shared = ['words of both of us', textOf('both', 1, 5_000)];
    const project = { id: 'p', label: 'hush-hush-project' };
    store.append({
      facts: at(
        1,
        start('t1', 'mine', { project, request: hashOf('r') }),
        end('t1', { failure: 'a failure that quotes the prompt' }),
        { type: 'reward-given', turn: 't1', source: 'person', score: 1, note: 'a note with a name in it' },
        { type: 'event-reported', kind: 'k', session: 'mine', data: { log: 'a log with a path in it' } },
        start('t2', 'yours', { project: { id: 'q', label: 'an open project for all' } }),
      ),
      blocks: [
        ...own.map((text) => blockOf(text, 'mine')),
        ...shared.flatMap((text) => [blockOf(text, 'mine'), blockOf(text, 'yours')]),
      ],
    });
    const quotes = [
      'hush-hush-project',
      'a failure that quotes the prompt',
      'a note with a name in it',
      'a log with a path in it',
      hashOf('r'),
    ];
    const before = bytesOf(file);
    for (const text of [...own, ...shared, ...quotes]) expect(isAnywhere(before, text)).toBe(true);

    expect(store.erase('mine', 9, 'asked')).toBe(1);
    for (const bytes of [bytesOf(file), (store.close(), bytesOf(file))]) {
      for (const text of [...own, ...quotes]) expect(isAnywhere(bytes, text)).toBe(false);
      for (const text of [...shared, 'an open project for all']) expect(isAnywhere(bytes, text)).toBe(true);
      for (const text of own) expect(bytes.includes(Buffer.from(hashOf(text), 'hex'))).toBe(false);
    }
    const again = openSqliteStore({ file });
    expect(shared.map((text) => again.block(hashOf(text)))).toEqual(shared);
    expect(again.check()).toEqual([]);
    again.close();
  });

  // SQLite's own secure deletion fails this: rows that move between pages leave copies behind.
  it('is in no byte however many sessions came and went before it', () => {
    const size = fc.oneof(fc.integer({ min: 16, max: 400 }), fc.integer({ min: 400, max: 9_000 }));
    const said = fc.tuple(fc.integer({ min: 0, max: 11 }), size);
    fc.assert(
      fc.property(
        fc.array(fc.array(said, { minLength: 5, maxLength: 30 }), { minLength: 2, maxLength: 4 }),
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], { minLength: 3, maxLength: 9 }),
        (rounds, gone) => {
          const file = join(scratch(), 'store.db');
          const store = openSqliteStore({ file });
          const texts = new Map<string, string[]>();
          const erased = new Set<string>();
          for (const [round, blocks] of rounds.entries()) {
            for (const [n, [who, length]] of blocks.entries()) say(store, texts, `s${who}`, round * 100 + n, length);
            for (const who of gone.filter((_, index) => index % rounds.length === round)) {
              store.erase(`s${who}`, 1_000, 'asked');
              erased.add(`s${who}`);
              texts.delete(`s${who}`);
            }
          }
          const victims = [...texts.keys()].slice(0, 3);
          const secrets = victims.flatMap((session) => texts.get(session) ?? []);
          for (const session of victims) store.erase(session, 2_000, 'asked');
          store.close();
          const bytes = bytesOf(file);
          expect(secrets.filter((text) => isAnywhere(bytes, text))).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('leaves the log as soon as a reader that holds it lets go', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const secret = 'what only the log remembers';
    store.append({ facts: at(1, start('t1', 's1')), blocks: [blockOf(secret, 's1')] });
    const reader = openSqliteReader(file);
    expect(reader.block(hashOf(secret))).toBe(secret);
    store.erase('s1', 2, 'asked');
    store.append({ facts: at(3, start('t2', 's2')) });
    expect(isAnywhere(bytesOf(file), secret)).toBe(false);
    expect(reader.block(hashOf(secret))).toBeUndefined();
    reader.close();
    store.close();
  });

  it('gives its room back when there is enough of it', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const texts = Array.from({ length: 40 }, () => randomBytes(800_000).toString('base64'));
    for (const [n, text] of texts.entries())
      store.append({ facts: at(n, start(`t${n}`, `s${n}`)), blocks: [blockOf(text, `s${n}`)] });
    const full = store.totals().bytes;
    expect(store.expire(30, 99, 30)).toBe(30);
    expect(store.totals().bytes).toBeLessThan(full / 2);
    expect(texts.map((text) => store.block(hashOf(text)) === text)).toEqual(texts.map((_, n) => n >= 30));
    expect(store.check()).toEqual([]);
    store.close();
  });
});

function say(store: Store, texts: Map<string, string[]>, session: string, n: number, size: number): void {
  const text = textOf(session, n, size);
  store.append({ facts: at(n, start(`${session}/${n}`, session)), blocks: [blockOf(text, session)] });
  texts.set(session, [...(texts.get(session) ?? []), text]);
}
