import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { headingAnchor } from '../../lab/release/site-pages.ts';
import { ROOT, readPage } from './pages.ts';

interface Claim {
  readonly title: string;
  /** What it says under "Result", "Loss" and so on. */
  readonly parts: ReadonlyMap<string, string>;
  /** The models and sets that it names: a file or a checkout, and the beginning of its hash. */
  readonly holds: readonly (readonly [place: string, hash: string])[];
}

/** The claims of a page: each third heading with its list, and the comment with the hashes of what it was measured on. */
const claimsOf = (page: string): readonly Claim[] =>
  page
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const [, hashes = ''] = /^<!-- hash: (.+) -->$/m.exec(text) ?? [];
      return {
        title: text.slice(0, text.indexOf('\n')),
        parts: new Map(
          [...text.matchAll(/^- \*\*([^*]+)\*\*: (.+)$/gm)].map(([, name = '', words = '']) => [name, words]),
        ),
        holds: hashes
          .split(', ')
          .filter((one) => one !== '')
          .map((one) => [one.slice(0, one.lastIndexOf(' ')), one.slice(one.lastIndexOf(' ') + 1)] as const),
      };
    });

/** Where a place is: `$NAME` stands for an environment variable. Undefined when it is not on this machine. */
function findPlace(place: string): string | undefined {
  const named = place.replace(/^\$(\w+)/, (_, name: string) => process.env[name] ?? '');
  if (named === '') return undefined;
  const full = path.resolve(ROOT, named);
  return statSync(full, { throwIfNoEntry: false }) === undefined ? undefined : full;
}

/** Of a file its SHA-256, of a checkout its commit. */
const hashOf = (full: string): string =>
  statSync(full).isDirectory()
    ? execFileSync('git', ['-C', full, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
    : createHash('sha256').update(readFileSync(full)).digest('hex');

const scripts: Readonly<Record<string, string>> = JSON.parse(readPage('package.json') ?? '{}').scripts;
const claims = claimsOf(readPage('docs/evidence.md') ?? '');

describe('the claims of docs/evidence.md', () => {
  it('are at most ten, and the README carries one of them', () => {
    expect(claims.length).toBeGreaterThan(5);
    expect(claims.length).toBeLessThanOrEqual(10);
    const anchors = claims.map(({ title }) => `docs/evidence.md#${headingAnchor(title)}`);
    const readme = readPage('README.md') ?? '';
    expect(anchors.filter((anchor) => readme.includes(`(${anchor})`))).toHaveLength(1);
  });

  it.each(claims)(
    'have model, date, n, set, interval, loss and a command that exists: $title',
    ({ parts }) => {
      expect([...parts.keys()]).toEqual(['Model and date', 'n', 'Set', 'Result', 'Loss', 'Command']);
      expect(parts.get('Model and date')).toMatch(/20\d\d-\d\d-\d\d/);
      expect(parts.get('n')).toMatch(/\d|one run/);
      expect(parts.get('Set')).toMatch(/blind|tuned|held out|none/i);
      expect(`${parts.get('Result')} ${parts.get('n')}`).toMatch(/95 %|no interval/);
      expect(Object.keys(scripts)).toContain(/^`npm run ([\w:-]+)/.exec(parts.get('Command') ?? '')?.[1]);
    },
  );

  it.for(claims.flatMap(({ title, holds }) => holds.map(([place, hash]) => ({ title, place, hash }))))(
    'were measured on the $place that is here (else measure again): $title',
    ({ title, place, hash }, { skip }) => {
      const full = findPlace(place);
      if (full === undefined) {
        const note = `SKIPPED: ${place} is absent, so that "${title}" is not compared with it`;
        process.stderr.write(`${note}\n`);
        skip(note);
        return;
      }
      expect(hashOf(full).slice(0, hash.length)).toBe(hash);
    },
  );

  it('would be found stale (another hash), and incomplete (no loss)', () => {
    const [claim] = claimsOf('### 1. A\n<!-- hash: LICENSE 0123, $NO_SET abcd -->\n- **n**: 1\n');
    expect(claim?.holds).toEqual([
      ['LICENSE', '0123'],
      ['$NO_SET', 'abcd'],
    ]);
    expect(hashOf(findPlace('LICENSE') ?? '').startsWith('0123')).toBe(false);
    expect(findPlace('$NO_SET')).toBeUndefined();
    expect(claim?.parts.has('Loss')).toBe(false);
  });
});
