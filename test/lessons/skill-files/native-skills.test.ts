import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import {
  isInstalled,
  type NativeSkills,
  readNativeSkills,
  removeNativeSkills,
  syncNativeSkills,
  writeNativeSkills,
} from '../../../src/lessons/skill-files/native-skills.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';

let root = '';
let folder = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'native-skills-'));
  folder = path.join(root, '.claude', 'skills');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lesson = (id: string, told: Partial<ToldText> = {}, more: Partial<Lesson> = {}): Lesson => ({
  id,
  kind: 'skill',
  state: 'live',
  revision: 1,
  text: lessonText({ name: `skill-${id}`, description: 'When it is needed.', content: `Do ${id}.`, ...told }),
  pinned: false,
  frozen: false,
  createdAt: 0,
  changedAt: 0,
  ...more,
});
const start = (): NativeSkills => ({ client: 'claude-code', places: [{ folder }], files: {}, folders: [] });
const fileOf = (name: string): string => path.join(folder, name, 'SKILL.md');

it('writes live skills, follows a revision, and removes what is retired, with the folders it made', async () => {
  const one = await syncNativeSkills(start(), [lesson('a'), lesson('b', {}, { state: 'trial' })]);
  expect(one.written).toEqual([fileOf('skill-a')]);
  expect(readFileSync(fileOf('skill-a'), 'utf8')).toContain('Do a.');
  const revised = lesson('a', { content: 'Do a, twice.' }, { revision: 2 });
  const two = await syncNativeSkills(one.skills, [revised]);
  expect(readFileSync(fileOf('skill-a'), 'utf8')).toContain('Do a, twice.');
  expect((await syncNativeSkills(two.skills, [revised])).written).toEqual([]);
  const three = await syncNativeSkills(two.skills, [lesson('a', {}, { state: 'retired', revision: 3 })]);
  expect(three.removed).toEqual([fileOf('skill-a')]);
  await removeNativeSkills(three.skills, () => false);
  expect(existsSync(path.join(root, '.claude'))).toBe(false);
});

it('leaves alone and reports what a person edited, deleted or wrote, also when its lesson is retired and on undo', async () => {
  mkdirSync(path.dirname(fileOf('skill-c')), { recursive: true });
  writeFileSync(fileOf('skill-c'), 'My own skill.');
  const one = await syncNativeSkills(start(), [lesson('a'), lesson('b'), lesson('c')]);
  expect(one.faults).toEqual([{ file: fileOf('skill-c'), why: expect.stringContaining('somebody else') }]);
  writeFileSync(fileOf('skill-a'), 'Edited.');
  rmSync(path.dirname(fileOf('skill-b')), { recursive: true });
  const next = [
    lesson('a', { content: 'New.' }, { revision: 2 }),
    lesson('b', { content: 'New.' }, { revision: 2 }),
  ];
  const two = await syncNativeSkills(one.skills, next);
  expect(two.written).toEqual([]);
  expect(two.faults.map(({ why }) => why)).toEqual([
    expect.stringContaining('was edited'),
    expect.stringContaining('was deleted'),
  ]);
  const three = await removeNativeSkills(two.skills, () => false);
  expect(three.faults).toEqual([{ file: fileOf('skill-a'), why: expect.stringContaining('was edited') }]);
  expect(readFileSync(fileOf('skill-a'), 'utf8')).toBe('Edited.');
  expect(readFileSync(fileOf('skill-c'), 'utf8')).toBe('My own skill.');
});

it('writes through no link', async () => {
  mkdirSync(folder, { recursive: true });
  const outside = path.join(root, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, path.join(folder, 'skill-a'));
  const { faults } = await syncNativeSkills(start(), [lesson('a')]);
  expect(faults).toHaveLength(1);
  expect(existsSync(path.join(outside, 'SKILL.md'))).toBe(false);
});

it('a project has the lessons of that project of every coding client; the user’s folder has none of a project, none of another agent', () => {
  const own = { folder, project: 'p1' };
  const everywhere = { folder };
  const of = (scope: object, note: object = {}) => lesson('x', { scope, note } as Partial<ToldText>);
  expect(isInstalled(of({ agent: 'claude-code', project: 'p1' }), 'codex', own)).toBe(true);
  expect(isInstalled(of({ agent: 'main', project: 'p1' }), 'codex', own)).toBe(false);
  expect(isInstalled(of({ agent: 'codex', project: 'p2' }), 'codex', own)).toBe(false);
  expect(isInstalled(of({ agent: 'codex', project: 'p1' }), 'codex', everywhere)).toBe(false);
  expect(isInstalled(of({ agent: 'claude-code' }), 'codex', everywhere)).toBe(false);
  expect(isInstalled(of({}), 'codex', everywhere)).toBe(true);
  expect(isInstalled(of({}, { visibility: 'private' }), 'codex', everywhere)).toBe(false);
});

it('keeps a folder that another client uses too, and reads back what it wrote down', async () => {
  const { skills } = await syncNativeSkills(start(), [lesson('a')]);
  const dir = path.join(root, 'native');
  await writeNativeSkills(dir, skills);
  writeFileSync(path.join(dir, 'broken-skills.json'), '{');
  expect(await readNativeSkills(dir)).toEqual([skills]);
  await removeNativeSkills(skills, () => true);
  expect(existsSync(fileOf('skill-a'))).toBe(true);
});
