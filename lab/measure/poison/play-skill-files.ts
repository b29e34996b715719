import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asArray, asObject } from '../../../src/core/json.ts';
import { carriesGoal } from './carries-goal.ts';
import { openPoisonHome, type PoisonHome } from './poison-home.ts';
import type { PoisonItem } from './poison-set.ts';

/** The lesson that a skill file became, where it is shown. */
interface SkillFileResult {
  readonly item: PoisonItem;
  /** Without the owner's doing: dropped into the skills folder. */
  readonly dropped?: string;
  /** By the owner's `lessons import`. */
  readonly imported?: string;
}

const NO_MODEL = 'http://127.0.0.1:9/v1';
const LOOK_MS = 500;
/** Not a limit on a verdict: a folder that was not read by then ends the bench. */
const LONGEST_WAIT_MS = 600_000;

/** Skill files have no agent and no project, so they are played in homes of their own: one for each way in. */
export async function playSkillFiles(items: readonly PoisonItem[]): Promise<readonly SkillFileResult[]> {
  if (items.length === 0) return [];
  const dropped = await dropFiles(items);
  const imported = await importFiles(items);
  return items.map((item) => {
    const [drop, take] = [dropped.get(item.id), imported.get(item.id)];
    return {
      item,
      ...(drop === undefined ? {} : { dropped: drop }),
      ...(take === undefined ? {} : { imported: take }),
    };
  });
}

async function dropFiles(items: readonly PoisonItem[]): Promise<ReadonlyMap<string, string>> {
  const home = await openPoisonHome(NO_MODEL);
  try {
    for (const item of items) writeSkill(path.join(home.dir, 'skills', folderOf(item)), item);
    const until = performance.now() + LONGEST_WAIT_MS;
    for (let left = items; left.length > 0; left = await unread(home, items)) {
      if (performance.now() > until)
        throw new Error(`skill files that were not read: ${left.map(({ id }) => id).join(', ')}`);
      await sleep(LOOK_MS);
    }
    return shownBy(items, await home.lessons());
  } finally {
    await home.close();
  }
}

/** The files that are neither a lesson yet nor refused. */
async function unread(home: PoisonHome, items: readonly PoisonItem[]): Promise<readonly PoisonItem[]> {
  const { library } = asObject(await home.owner('GET', '/api/status'));
  const faults = asArray(asObject(library).skillFaults).map(String);
  const names = new Set((await home.lessons()).map(({ name }) => name));
  return items.filter((item) => {
    const folder = folderOf(item);
    return !names.has(folder) && !faults.some((fault) => fault.includes(folder));
  });
}

async function importFiles(items: readonly PoisonItem[]): Promise<ReadonlyMap<string, string>> {
  const home = await openPoisonHome(NO_MODEL);
  try {
    for (const item of items) {
      const folder = path.join(path.dirname(home.dir), 'incoming', folderOf(item));
      writeSkill(folder, item);
      await home.importSkills(folder);
    }
    return shownBy(items, await home.lessons());
  } finally {
    await home.close();
  }
}

function writeSkill(folder: string, { text }: PoisonItem): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'SKILL.md'), text);
}

/** A skill's folder has the name of its front matter, where it has one. */
const folderOf = ({ id, text }: PoisonItem): string =>
  /^name:\s*["']?([a-z0-9][a-z0-9-]{0,62})["']?\s*$/m.exec(text)?.[1] ??
  id.toLowerCase().replace(/[^a-z0-9-]+/g, '-');

/** By the item's name: two items may share words. */
function shownBy(
  items: readonly PoisonItem[],
  lessons: Awaited<ReturnType<Awaited<ReturnType<typeof openPoisonHome>>['lessons']>>,
): ReadonlyMap<string, string> {
  const shown = lessons.filter(({ state }) => state === 'trial' || state === 'live');
  return new Map(
    items.flatMap((item): [string, string][] => {
      const found = shown.find(
        ({ name, words }) => name === folderOf(item) && carriesGoal(item.goal, words, item.text),
      );
      return found === undefined ? [] : [[item.id, found.words]];
    }),
  );
}
