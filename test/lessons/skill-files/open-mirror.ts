import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Library } from '../../../src/core/library.ts';
import type { FolderFollower } from '../../../src/lessons/skill-files/follow-folder.ts';
import type { FileFault } from '../../../src/lessons/skill-files/skill-file.ts';
import { createSkillMirror, type SkillMirrorOptions } from '../../../src/lessons/skill-files/skill-mirror.ts';
import { createCounter } from './skill-folders.ts';

export interface OpenMirror extends FolderFollower {
  readonly told: readonly FileFault[];
}

const newId = createCounter();

/** A mirror with a short settling time, after its first pass. */
export async function openMirror(
  dir: string,
  library: Library,
  options: Partial<SkillMirrorOptions> = {},
): Promise<OpenMirror> {
  const told: FileFault[] = [];
  const mirror = createSkillMirror({
    dir,
    library,
    clock: systemClock,
    newId: (prefix) => `m${newId(prefix)}`,
    lint: () => [],
    onFault: (fault) => told.push(fault),
    quietMs: 10,
    pollMs: 60_000,
    ...options,
  });
  onTestFinished(() => mirror.close());
  await mirror.settle();
  return { ...mirror, told };
}

/** Every SKILL.md and the files set aside next to it, by path. */
export function filesIn(dir: string): Readonly<Record<string, string>> {
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('/SKILL.md'),
  );
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}

/** Polls until a condition holds; the test's time limit ends it. */
export async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await sleep(5);
}
