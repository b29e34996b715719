import { sayPresence } from '../../../src/text/presence-words.ts';

const STATES: Readonly<Record<string, string>> = {
  waiting: 'Paused',
  open: 'Nobody is here, so background work may run',
  running: 'Background work is running',
  pausing: 'You are back, so background work is stopping',
  off: 'Background work is off',
};

/** The state of the schedule in a sentence: `Paused because an agent is working`. */
export function scheduleWords(state: string, reasons: readonly string[]): string {
  return `${STATES[state] ?? state}${reasons.length === 0 ? '' : ` because ${sayPresence(reasons)}`}`;
}

/** Jobs that wait for a window, in words, and the view that shows what they did. */
export const JOB_WORDS: Readonly<Record<string, readonly [words: string, view: string]>> = {
  training: ['training', 'lab/training'],
  practice: ['practice', 'lab/practice'],
  reflection: ['reflection on who the agents are', 'lessons'],
  'earlier-sessions': ['making earlier conversations searchable', 'sessions'],
  'library-consolidation': ['tidying up the lessons', 'lessons'],
};
