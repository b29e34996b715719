import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSbom, packagesIn } from '../lab/release/sbom.ts';

const root = path.resolve(import.meta.dirname, '..');

describe('the software bill of materials', () => {
  const files = { 'a.bin': Buffer.from('weights') };
  const make = (): string =>
    createSbom({
      manifest: readFileSync(path.join(root, 'package.json'), 'utf8'),
      lockfile: readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
      model: { name: 'nano', files },
    });

  it('has every package that an installation gets and none for development, with hash, licence and dependants', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(path.join(root, 'package.json'), 'utf8'),
    );
    const page = JSON.parse(readFileSync(path.join(root, 'web/package.json'), 'utf8'));
    const bundled = Object.keys(page.dependencies);
    const sbom = JSON.parse(make());
    const names = packagesIn(make());
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), ...bundled]));
    expect(names.filter((name) => name in devDependencies && !(name in dependencies))).toEqual([]);
    const libraries = sbom.components.filter(({ type }: { type: string }) => type === 'library');
    for (const { hashes, licenses, purl } of libraries) {
      expect(hashes[0].content).toMatch(/^[0-9a-f]{128}$/);
      expect(licenses[0].license?.id ?? licenses[0].expression).toMatch(/\w/);
      expect(purl).toMatch(/^pkg:npm\/.+@\d/);
    }
    const edges = new Map<string, string[]>(
      sbom.dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, dependsOn]),
    );
    expect(edges.get(sbom.metadata.component['bom-ref'])).toHaveLength(
      Object.keys(dependencies).length + bundled.length,
    );
    const reached = new Set<string>();
    const visit = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of edges.get(ref) ?? []) visit(next);
    };
    visit(sbom.metadata.component['bom-ref']);
    expect(
      libraries
        .map((one: { 'bom-ref': string }) => one['bom-ref'])
        .filter((ref: string) => !reached.has(ref)),
    ).toEqual([]);
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
  });

  it('has a version in every row, also of the model and its files', () => {
    interface Row {
      readonly name: string;
      readonly version?: string;
      readonly components?: readonly Row[];
    }
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const rows = (of: readonly Row[]): readonly Row[] =>
      of.flatMap((row) => [row, ...rows(row.components ?? [])]);
    const all = rows(JSON.parse(make()).components);
    expect(all.filter((row) => !/^\d+\.\d+/.test(row.version ?? '')).map(({ name }) => name)).toEqual([]);
    expect(all.find(({ name }) => name === 'nano')?.version).toBe(version);
    expect(all.find(({ name }) => name === 'models/nano/a.bin')?.version).toBe(version);
  });

  it('is the same every time, without a time, a host or a path', () => {
    expect(make()).toBe(make());
    const text = make().replace('http://cyclonedx.org/schema/bom-1.6.schema.json', '');
    expect(text).not.toMatch(/timestamp|https?:|registry|\/(var|home|tmp|Users)\//);
    expect(text).toMatch(/urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8/);
  });
});

describe('the workflow of a release', () => {
  const folder = path.join(root, '.github/workflows');
  const steps = readdirSync(folder).flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => /\buses:/.test(line))
      .map((line) => line.trim()),
  );

  it('names every action by its commit, with the version beside it (a tag can be moved)', () => {
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });
});

describe('the manifest', () => {
  it('has no address of an example', () => {
    const manifest = readFileSync(path.join(root, 'package.json'), 'utf8');
    expect(manifest).not.toMatch(/\.example\b/);
  });
});

describe('an installation', () => {
  it('has no file of the laboratory', () => {
    const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const laboratory = ['lab/measure/recall/pairs.jsonl', 'dist/lab/commands/demo.js'];
    const covers = (entry: string, file: string): boolean =>
      path.matchesGlob(file, entry) || path.matchesGlob(file, `${entry}/**`);
    expect(files.some((entry: string) => covers(entry, 'dist/src/cli/main.js'))).toBe(true);
    expect(files.filter((entry: string) => laboratory.some((file) => covers(entry, file)))).toEqual([]);
  });

  it('says in one sentence that the demo and the benchmarks run in a checkout (not a stack trace)', () => {
    const copy = mkdtempSync(path.join(tmpdir(), 'instar-installed-'));
    try {
      for (const part of ['dist/src', 'dist/chunks'])
        cpSync(path.join(root, part), path.join(copy, part), { recursive: true });
      cpSync(path.join(root, 'package.json'), path.join(copy, 'package.json'));
      symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
      for (const words of [['demo'], ['bench', 'list'], ['bench', 'run', 'workdays']]) {
        const main = path.join(copy, 'dist/src/cli/main.js');
        const run = spawnSync(process.execPath, [main, ...words, '--home', path.join(copy, 'home')], {
          encoding: 'utf8',
        });
        expect(run.status).toBe(1);
        // Before it, what the command is called now.
        const [old, sentence, ...more] = run.stderr.trim().split('\n');
        expect([old, sentence, ...more]).toEqual([
          expect.stringContaining(`instar lab ${words[0]}`),
          expect.stringContaining('run in a checkout of Instar'),
        ]);
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});
