import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const src = path.join(root, 'src');

/** Who may import whom. Whatever else a room needs, it is given as an argument. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  base: [],
  text: [],
  wire: ['core'],
  store: ['core'],
  stats: ['core'],
  sandbox: ['core'],
  schedule: ['core'],
  wasm: [],
  nano: ['core', 'wasm'],
  policy: ['core'],
  config: ['core'],
  library: ['core', 'stats', 'wasm'],
  signals: ['core', 'stats'],
  learn: ['core', 'stats'],
  train: ['core', 'stats'],
  models: ['core', 'wire'],
  gateway: ['core', 'wire'],
  agent: ['core', 'sandbox'],
  pipeline: ['core'],
  bench: ['core', 'stats', 'sandbox', 'agent', 'pipeline'],
  mcp: ['core'],
  dashboard: ['core'],
  connect: ['core', 'config'],
  cli: ['app', 'config', 'connect'],
};
/** Small things that every room may import. */
const FOR_ALL = new Set(['base', 'text']);
/** The composition root and what a library user sees know everything. */
const KNOWS_ALL = new Set(['app', 'index.ts']);
const EMPTY_NAMES = /manager|service|handler|processor|helper|util|common|misc/i;
const MAX_LINES = 250;

const files = (dir: string): string[] =>
  readdirSync(dir).flatMap((name) => {
    const full = path.join(dir, name);
    return statSync(full).isDirectory() ? files(full) : full.endsWith('.ts') ? [full] : [];
  });

const sources = files(src).map((file) => ({
  name: path.relative(src, file),
  room: path.relative(src, file).split(path.sep)[0] ?? '',
  text: readFileSync(file, 'utf8'),
}));

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');

describe('the house', () => {
  it('has rooms that import only what the list allows', () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const { name, room, text } of sources) {
      for (const target of importsOf(text).filter((spec) => spec.startsWith('.'))) {
        checked++;
        const to = path.relative(src, path.resolve(src, path.dirname(name), target)).split(path.sep)[0] ?? '';
        if (!target.endsWith('.ts')) wrong.push(`${name} imports ${target} without its .ts`);
        if (to === room || KNOWS_ALL.has(room) || (FOR_ALL.has(to) && room !== 'core')) continue;
        if (!MAY_IMPORT[room]?.includes(to)) wrong.push(`${name} imports ${to}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(50);
  });

  it('lists its rooms without a circle', () => {
    const depth = (room: string, seen: readonly string[]): number => {
      if (seen.includes(room)) throw new Error(`${[...seen, room].join(' -> ')}`);
      return 1 + Math.max(0, ...(MAY_IMPORT[room] ?? []).map((next) => depth(next, [...seen, room])));
    };
    for (const room of Object.keys(MAY_IMPORT)) expect(depth(room, [])).toBeGreaterThan(0);
  });

  it('has no source file over 250 lines', () => {
    const long = sources.filter(({ text }) => text.split('\n').length - 1 > MAX_LINES);
    expect(long.map(({ name }) => name)).toEqual([]);
  });

  it('has no name that says nothing', () => {
    const empty = sources.flatMap(({ name, text }) => {
      const exported = [
        ...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm),
      ];
      return [name, ...exported.map((match) => match[1] ?? '')].filter((word) => EMPTY_NAMES.test(word));
    });
    expect(empty).toEqual([]);
  });

  it('leaves nothing half done and mocks nothing', () => {
    const marks = /\bTODO\b|\bFIXME\b|\bXXX\b|vi\.mock\(|jest\.|: any\b|as any\b/;
    const tests = files(path.join(root, 'test')).map((file) => ({
      name: path.relative(root, file),
      text: readFileSync(file, 'utf8'),
    }));
    const left = [...sources, ...tests].filter(
      ({ name, text }) => !name.includes('architecture') && marks.test(text),
    );
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  it('knows no rule of the benchmark outside of it', () => {
    const rules = ['+08:00', '.bak', 'done.log'];
    const knowing = sources
      .filter(({ room }) => room !== 'bench' && room !== 'nano')
      .flatMap(({ name, text }) =>
        rules.filter((rule) => text.includes(rule)).map((rule) => `${name}: ${rule}`),
      );
    expect(knowing).toEqual([]);
  });
});
