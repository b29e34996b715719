import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GrowthResults } from '../growth/growth-report.ts';
import type { GatewayResults } from './gateway-goals.ts';

/** What `npm run bench:pace` found, a row for each pace and subject. */
export interface PaceResults {
  readonly date: string;
  readonly machine: string;
  readonly command: string;
  readonly load: number;
  readonly rows: readonly {
    readonly rate: number;
    readonly subject: string;
    readonly turns: number;
    readonly lost: number;
    readonly cpuMs: number;
    readonly writtenKb: number;
    readonly firstP50: number;
    readonly laterP50: number;
  }[];
}

interface StoredResults {
  readonly gateway: GatewayResults;
  readonly pace: PaceResults;
  readonly growth: GrowthResults;
}

/** Results are kept beside the documents that show them, so that tables and pictures can be made again without measuring. */
const DIR = 'lab/results/measured';
const fileOf = (name: keyof StoredResults): string => path.join(DIR, `${name}.json`);

export function storeResults<K extends keyof StoredResults>(name: K, results: StoredResults[K]): void {
  mkdirSync(DIR, { recursive: true });
  const rounded = (_key: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(5)) : value;
  writeFileSync(fileOf(name), `${JSON.stringify(results, rounded, 1)}\n`);
}

/** Undefined when nothing was stored yet. */
export const readResults = <K extends keyof StoredResults>(name: K): StoredResults[K] | undefined =>
  existsSync(fileOf(name)) ? (JSON.parse(readFileSync(fileOf(name), 'utf8')) as StoredResults[K]) : undefined;

/** Subjects of the bench as a reader knows them. */
export const SUBJECT_NAMES: Readonly<Record<string, string>> = {
  'instar + block': 'Instar, with lessons in the prompt',
  instar: 'Instar, recording',
  'record off': 'Instar, record off',
  'pass-through': 'a proxy that only copies bytes',
  portkey: 'Portkey',
  bifrost: 'Bifrost',
  litellm: 'LiteLLM',
};
