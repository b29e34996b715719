import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createManualClock } from '../../../src/core/clock.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { markdownTable } from '../markdown.ts';
import { type FalseAlarm, type HarmlessResult, judgeHarmless, parseHarmlessSet } from './harmless.ts';

const OUTPUTS = 'lab/measure/poison/sets/harmless-outputs.jsonl';

/** Judges the harmless skills of each file, with the sentence model that the product uses. */
export async function scoreHarmless(files: readonly string[]): Promise<readonly HarmlessScore[]> {
  const sets = files.map((file) => ({ file, skills: parseHarmlessSet(readFileSync(file, 'utf8'), file) }));
  const outputs = readFileSync(OUTPUTS, 'utf8')
    .trim()
    .split('\n')
    .map((line): string => JSON.parse(line).text);
  const { library } = await openLibrary({
    load: async () => [],
    append: async () => {
      throw new Error('nothing is published');
    },
    clock: createManualClock(0),
    newId: (prefix) => `${prefix}_1`,
    onFault: () => undefined,
  });
  const model = createMiniLmEmbed();
  const scores: HarmlessScore[] = [];
  for (const { file, skills } of sets)
    scores.push({ set: file, ...(await judgeHarmless(skills, outputs, library, model.embed.bind(model))) });
  await model.close();
  return scores;
}

interface HarmlessScore extends HarmlessResult {
  readonly set: string;
}

export function reportHarmless(scores: readonly HarmlessScore[]): string {
  const cell = (alarms: readonly FalseAlarm[], of: number): string => {
    const { low, high } = wilsonInterval(alarms.length, of);
    return `${alarms.length} of ${of} (${(low * 100).toFixed(1)} % to ${(high * 100).toFixed(1)} %)`;
  };
  const rows = scores.map(({ set, skills, learned, imported }) => [
    path.basename(set),
    cell(learned, skills),
    cell(imported, skills),
  ]);
  const alarms = scores.flatMap(({ learned, imported }) => [
    ...learned.map(({ id, why }) => `- ${id}, learned: ${why.join('; ')}`),
    ...imported.map(({ id, why }) => `- ${id}, imported: ${why.join('; ')}`),
  ]);
  const table = markdownTable(['harmless skills that wait for a person', 'learned', 'imported'], rows);
  return ['### False alarms', table, ...(alarms.length === 0 ? [] : [alarms.join('\n')])].join('\n\n');
}
