import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Block } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { packBody } from '../../../src/record/store/row-codec.ts';
import { openSql } from '../../../src/record/store/sql-connection.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';
import { writeVersion1 } from './version-1.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const nameOf = (text: string): string => hashOf(text).slice(0, 32);
const blockOf = (text: string, session: string): Block => ({ hash: nameOf(text), text, session });

/** All bytes of the store on disk. */
const bytesOf = (file: string): Buffer =>
  Buffer.concat(
    ['', '-wal', '-shm']
      .map((end) => `${file}${end}`)
      .filter(existsSync)
      .map((name) => readFileSync(name)),
  );

/** Unique words up to a body of this size; incompressible ones are stored plain. */
function textOf(session: string, n: number, size: number): string {
  const words: string[] = [];
  for (let length = 0, word = 0; length < size; word++) {
    words.push(`${session}#${n}.${word}:${hashOf(`${session}${n}${word}`).slice(0, 16)}`);
    length += 30;
  }
  return words.join(' ');
}

/** Pieces of the stored bytes: a copy left in a page's gap may have lost its beginning or its end. */
function piecesOf(text: string): readonly Buffer[] {
  const { body } = packBody(text);
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; from += 24) {
    const piece = Buffer.from(body.subarray(from, from + 24));
    if (piece.length >= 16) pieces.push(piece);
  }
  return pieces;
}

const isAnywhere = (bytes: Buffer, text: string): boolean =>
  piecesOf(text).some((piece) => bytes.includes(piece));

describe('an erased session', () => {
  it('is nowhere in the file, the log or the index; shared text and text of others is', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const own = ['tiny secret of mine', 'a secret that is longer '.repeat(200), textOf('mine', 1, 20_000)];
    const asked = textOf('asked', 1, 9_000);
    const replied = 'a reply to me alone';
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
        { hash: formatTurnBodyKey({ turn: 't1', part: 'request' }), text: asked, session: 'mine' },
        { hash: formatTurnBodyKey({ turn: 't1', part: 'reply' }), text: replied, session: 'mine' },
        {
          hash: formatTurnBodyKey({ turn: 't2', part: 'request' }),
          text: 'what another one asked',
          session: 'yours',
        },
        ...shared.flatMap((text) => [blockOf(text, 'mine'), blockOf(text, 'yours')]),
      ],
    });
    const quotes = [
      'hush-hush-project',
      'a failure that quotes the prompt',
      'a note with a name in it',
      'a log with a path in it',
      hashOf('r'),
      asked,
      replied,
    ];
    const before = bytesOf(file);
    for (const text of [...own, ...shared, ...quotes]) expect(isAnywhere(before, text)).toBe(true);

    expect(store.erase('mine', 9, 'asked').turns).toBe(1);
    const whileOpen = bytesOf(file);
    store.close();
    for (const bytes of [whileOpen, bytesOf(file)]) {
      for (const text of [...own, ...quotes]) expect(isAnywhere(bytes, text)).toBe(false);
      for (const text of [...shared, 'an open project for all', 'what another one asked'])
        expect(isAnywhere(bytes, text)).toBe(true);
      for (const text of own) expect(bytes.includes(Buffer.from(nameOf(text), 'hex'))).toBe(false);
    }
    const again = openSqliteStore({ file });
    expect(shared.map((text) => again.block(nameOf(text)))).toEqual(shared);
    expect(again.check()).toEqual([]);
    again.close();
  });

  // With rows deleted instead of overwritten, under `secure_delete`, run 12 keeps two texts: SQLite moves rows between
  // pages and leaves copies in the gaps.
  it.each([10, 11, 12, 13])('is in no byte however many sessions were erased before it (run %i)', (run) => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const chance = (name: string): number =>
      Number.parseInt(hashOf(`${run}/${name}`).slice(0, 8), 16) / 2 ** 32;
    const sessions = Array.from({ length: 30 }, (_, n) => `s${n}`);
    const blocks = Array.from({ length: 150 }, (_, n) => {
      const size = 30 + chance(`a${n}`) * chance(`b${n}`) * 2500;
      let text = '';
      for (let word = 0; text.length < size; word++) text += `${hashOf(`${run}.${n}.${word}`).slice(0, 24)} `;
      const session = `s${Math.floor(chance(`s${n}`) * 30)}`;
      // Every second text belongs to one turn alone.
      if (n % 2 === 0) return blockOf(text, session);
      return {
        hash: formatTurnBodyKey({ turn: `${session}/${n}`, part: 'request' }),
        text,
        session,
      } as const;
    });
    store.append({ facts: at(1, ...sessions.map((session) => start(`${session}/1`, session))) });
    for (let from = 0; from < blocks.length; from += 20) {
      const some = blocks.slice(from, from + 20);
      const facts = some.map(({ session }, n) => start(`${session}/${from + n}`, session));
      store.append({ facts: at(2, ...facts), blocks: some });
    }
    const gone = new Set(sessions.slice(0, 29).map((_, n) => `s${(n * 7) % 30}`));
    for (const session of gone) store.erase(session, 5, 'asked');
    store.close();
    const bytes = bytesOf(file);
    const erased = blocks.filter(({ session }) => gone.has(session));
    expect(erased.length).toBeGreaterThan(100);
    expect(erased.filter(({ text }) => isAnywhere(bytes, text ?? '')).map(({ session }) => session)).toEqual(
      [],
    );
  });

  it('leaves the log as soon as a reader releases it, or at the next open', () => {
    const dir = scratch();
    const file = join(dir, 'store.db');
    const store = openSqliteStore({ file });
    const secret = 'what only the log remembers';
    store.append({ facts: at(1, start('t1', 's1')), blocks: [blockOf(secret, 's1')] });
    const holder = openSql(file, { readOnly: true, busyMs: 0 });
    holder.exec('begin');
    holder.get('select count(*) from facts');
    expect(store.erase('s1', 2, 'asked').turns).toBe(1);
    expect(isAnywhere(bytesOf(file), secret)).toBe(true);

    const crashed = join(dir, 'crashed.db');
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${crashed}${end}`);
    const reopened = openSqliteStore({ file: crashed });
    expect(isAnywhere(bytesOf(crashed), secret)).toBe(false);
    expect(reopened.session('s1')).toMatchObject({ erased: true });
    reopened.close();

    holder.exec('commit');
    holder.close();
    store.append({ facts: at(3, start('t2', 's2')) });
    expect(isAnywhere(bytesOf(file), secret)).toBe(false);
    store.close();
  });

  it('returns its disk space when there is enough of it', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const texts = Array.from({ length: 40 }, () => randomBytes(800_000).toString('base64'));
    for (const [n, text] of texts.entries())
      store.append({ facts: at(n, start(`t${n}`, `s${n}`)), blocks: [blockOf(text, `s${n}`)] });
    const full = store.totals().bytes;
    expect(store.expire(30, 99, 30)).toBe(30);
    expect(store.totals().bytes).toBeLessThan(full / 2);
    expect(texts.map((text) => store.block(nameOf(text)) === text)).toEqual(texts.map((_, n) => n >= 30));
    expect(store.check()).toEqual([]);
    store.close();
  });

  it('gives a file with larger pages small ones when it is rewritten, and keeps all that was not erased', () => {
    const file = join(scratch(), 'store.db');
    writeVersion1(file);
    const pageSize = (name: string): number => readFileSync(name).readUInt16BE(16);
    const texts = Array.from({ length: 30 }, () => randomBytes(800_000).toString('base64'));
    const store = openSqliteStore({ file });
    for (const [n, text] of texts.entries())
      store.append({ facts: at(n + 2000, start(`n${n}`, `s${n}`)), blocks: [blockOf(text, `s${n}`)] });
    expect(pageSize(file)).toBe(4096);
    const other = openSql(file, { readOnly: true, busyMs: 0 });
    other.exec('select count(*) from facts');
    expect(store.expire(2020, 3000, 30)).toBe(20);
    // Somebody else may be reading: the pages stay as they are until the next start.
    store.append({ facts: at(3001, start('last', 'last')), blocks: [blockOf('last words', 'last')] });
    expect(store.expire(2040, 3002, 5)).toBe(5);
    store.close();
    other.close();
    expect(pageSize(file)).toBe(4096);
    // As a new process finds it: a closed connection of this one may still hold the file.
    const next = join(scratch(), 'store.db');
    for (const end of ['', '-wal'].filter((name) => existsSync(`${file}${name}`)))
      copyFileSync(`${file}${end}`, `${next}${end}`);
    const again = openSqliteStore({ file: next });
    const kept = texts.map((text) => again.block(nameOf(text)) === text);
    expect(kept).toEqual(texts.map((_, n) => n >= 25));
    expect(again.block(nameOf('last words'))).toBe('last words');
    expect(again.check()).toEqual([]);
    again.close();
    expect(pageSize(next)).toBe(1024);
    const bytes = bytesOf(next);
    const erased = texts.slice(0, 25).flatMap((text) => piecesOf(text).slice(0, 3));
    expect(erased.filter((piece) => bytes.includes(piece))).toEqual([]);
  });
});
