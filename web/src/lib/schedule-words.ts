const STATES: Readonly<Record<string, string>> = {
  waiting: 'Background work waits',
  open: 'Nobody is present: background work may run',
  running: 'Background work is running',
  pausing: 'Somebody is back: background work is stopping',
  off: 'Background work is off',
};

/** What tells whether somebody is there, and what it says then. Other sources are named as they are. */
const PRESENT: Readonly<Record<string, string>> = {
  traffic: 'an agent was at work a short time ago',
  idle: 'somebody uses this machine',
  calendar: 'the calendar shows no meeting',
  sleep: 'it is not the time of the sleep hours',
};

/** The state of the schedule in a sentence: `Background work waits: an agent was at work a short time ago`. */
export function scheduleWords(state: string, reasons: readonly string[]): string {
  const why = reasons.map((reason) => {
    const [, source = '', is] = /^([\w-]+): (\w+)$/.exec(reason) ?? [];
    return is === 'present' ? (PRESENT[source] ?? `somebody is present (${source})`) : reason;
  });
  return `${STATES[state] ?? state}${why.length === 0 ? '' : `: ${why.join('; ')}`}`;
}

/** Jobs that wait for a window, in words, and the view that shows what they did. */
export const JOB_WORDS: Readonly<Record<string, readonly [words: string, view: string]>> = {
  training: ['training', 'training'],
  practice: ['practice', 'practice'],
  reflection: ['reflection on who the agents are', 'lessons'],
  'library-review': ['a review of the lessons', 'memory'],
  'library-consolidation': ['tidying up the notes', 'memory'],
};
