import { setImmediate as nextTick } from 'node:timers/promises';
import { activationOf, type Usefulness } from './activation.ts';
import { type BestOf, createBestOf } from './best-of.ts';
import type { LessonIndex } from './lesson-index.ts';
import { backgroundOf, evidenceOf } from './relevance.ts';
import type { Scan } from './scan.ts';
import type { Candidate } from './select.ts';
import { STANDING } from './standings.ts';

/** More than any budget holds, so that duplicates and lessons hidden by age leave no gap. */
const MOST = 64;
/** Lessons of others, kept only to say why they are not shown. */
const MOST_SHUT = 8;
const PAUSE_AFTER = 16_384;

/** A slot and what speaks for the lesson in it. */
export interface Found {
  readonly slot: number;
  readonly evidence: number;
}

/** The slots with the most evidence, those that are due among them. `doubt` is taken off all evidence. */
export async function findBest(found: Scan, standings: Uint8Array, doubt: number): Promise<readonly Found[]> {
  const background = backgroundOf(found, standings);
  const evidence = (slot: number): number => evidenceOf(found, slot, background) - doubt;
  const lists = new Map([
    [STANDING.due, createBestOf(MOST)],
    [STANDING.open, createBestOf(MOST)],
    [STANDING.shut, createBestOf(MOST_SHUT)],
  ]);
  return [];
}
