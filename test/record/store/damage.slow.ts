import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTurnBodyKey, type Store, StoreError } from '../../../src/core/store.ts';
import { packBody } from '../../../src/record/store/row-codec.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { runsOf } from '../../support/counts.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';

const TURNS = 40;
const textOf = (n: number): string =>
  n % 2 === 0 ? `short text number ${n}` : Array.from({ length: 300 }, (_, k) => `${n * k * 7919}`).join(' ');
const hashOf = (n: number): string => `aa${n.toString(16).padStart(4, '0')}`;

const replyOf = (n: number): string => formatTurnBodyKey({ turn: `t${n}`, part: 'reply' });

/** The bytes of a closed store, and the positions of the bodies of its facts, blocks and turns in them. */
function buildImage(): {
  readonly bytes: Buffer;
  readonly bodies: readonly (readonly [from: number, to: number])[];
} {
  const file = join(scratch(), 'store.db');
  const store = openSqliteStore({ file });
  for (let n = 0; n < TURNS; n++)
    store.append({
      facts: at(
        n,
        start(`t${n}`, `s${n % 5}`, { request: hashOf(n) }),
        end(`t${n}`, { failure: `failure number ${n}` }),
      ),
      blocks: [
        { hash: hashOf(n), text: textOf(n), session: `s${n % 5}` },
        { hash: replyOf(n), text: `reply ${textOf(n)}`, session: `s${n % 5}` },
      ],
    });
  store.close();
  const bytes = readFileSync(file);
  const bodies = Array.from({ length: TURNS }, (_, n) => [
    Buffer.from(`"failure":"failure number ${n}"`),
    Buffer.from(packBody(textOf(n)).body).subarray(0, 40),
    Buffer.from(packBody(`reply ${textOf(n)}`).body).subarray(0, 40),
  ]).flat();
  return {
    bytes,
    bodies: bodies.map((body) => [bytes.indexOf(body), bytes.indexOf(body) + body.length] as const),
  };
}

/** Runs every query; each may only return or throw a `StoreError`. */
function askAll(
  file: string,
  open: (
    file: string,
  ) => Pick<Store, 'facts' | 'turns' | 'sessions' | 'block' | 'check' | 'totals' | 'close'>,
) {
  const errors: unknown[] = [];
  const ask = <T>(question: () => T): T | undefined => {
    try {
      return question();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const store = ask(() => open(file));
  const facts = store && ask(() => store.facts(0, 999));
  const findings = store && ask(() => store.check());
  if (store) {
    ask(() => store.sessions({ limit: 99 }));
    ask(() => store.totals());
    for (let n = 0; n < TURNS; n++) for (const name of [hashOf(n), replyOf(n)]) ask(() => store.block(name));
    for (let n = 0; n < 5; n++) ask(() => store.turns(`s${n}`));
    ask(() => store.close());
  }
  return { errors, facts, isFound: errors.length > 0 || (findings?.length ?? 0) > 0 };
}

const flips = (least: number, most: number) =>
  fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: least, maxLength: most });

describe('a damaged store', () => {
  it('returns no damaged text, and names the row, for a flipped bit anywhere in a body', () => {
    const { bytes, bodies } = buildImage();
    expect(bodies.every(([from]) => from > 0)).toBe(true);
    const file = join(scratch(), 'store.db');
    writeFileSync(file, bytes);
    const whole = askAll(file, openSqliteReader);
    expect(whole).toMatchObject({ errors: [], isFound: false });
    fc.assert(
      fc.property(fc.constantFrom(...bodies), flips(1, 3), ([from, to], places) => {
        const damaged = Buffer.from(bytes);
        for (const [place, mask] of places) {
          const index = from + (place % (to - from));
          damaged[index] = (damaged[index] ?? 0) ^ mask;
        }
        fc.pre(!damaged.equals(bytes));
        writeFileSync(file, damaged);
        const { facts, isFound, errors } = askAll(file, openSqliteReader);
        expect(isFound).toBe(true);
        expect(errors.filter((error) => !(error instanceof StoreError))).toEqual([]);
        for (const fact of facts ?? []) expect(whole.facts).toContainEqual(fact);
      }),
      runsOf(20, 60),
    );
  });

  it('never ends the process and throws only `StoreError`, whatever was overwritten', () => {
    const { bytes } = buildImage();
    const dir = scratch();
    let found = 0;
    let images = 0;
    fc.assert(
      fc.property(flips(1, 8), fc.boolean(), (places, isWriter) => {
        const file = join(dir, `${images++}.db`);
        const damaged = Buffer.from(bytes);
        for (const [place, mask] of places) {
          const index = place % damaged.length;
          damaged[index] = (damaged[index] ?? 0) ^ mask;
        }
        writeFileSync(file, damaged);
        const { errors, isFound } = askAll(file, (name) =>
          isWriter ? openSqliteStore({ file: name }) : openSqliteReader(name),
        );
        expect(errors.filter((error) => !(error instanceof StoreError))).toEqual([]);
        if (isFound) found++;
      }),
      runsOf(50, 150),
    );
    // Many flips hit unused bytes or indexes.
    expect(found).toBeGreaterThan(images / 4);
  });

  it('is checked when the last writer did not close it, and refused when it is damaged', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    for (let n = 0; n < 200; n++) store.append({ facts: at(n, start(`t${n}`, `s${n}`)) });
    const copy = join(scratch(), 'copy.db');
    store.snapshot(copy);
    store.close();
    // The snapshot of an open store has its `open` flag set.
    const bytes = readFileSync(copy);
    openSqliteStore({ file: copy }).close();
    const broken = join(scratch(), 'broken.db');
    const damaged = Buffer.from(bytes);
    for (let page = 1; page < damaged.length / 4096; page++)
      damaged.fill(0xff, page * 4096 + 3, page * 4096 + 9);
    writeFileSync(broken, damaged);
    expect(() => openSqliteStore({ file: broken })).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });
});
