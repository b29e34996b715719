const STATES: Readonly<Record<string, string>> = {
  waiting: 'Paused',
  open: 'Nobody is here, so background work may run',
  running: 'Background work is running',
  pausing: 'You are back, so background work is stopping',
  off: 'Background work is off',
};

/** What tells whether somebody is there, and what it says then. Other sources are named as they are. */
const PRESENT: Readonly<Record<string, string>> = {
  traffic: 'an agent is working',
  idle: 'you are active',
  calendar: 'you are not in a meeting',
  sleep: 'it is not the time of the quiet hours',
};

/** The state of the schedule in a sentence: `Paused because an agent is working`. */
export function scheduleWords(state: string, reasons: readonly string[]): string {
  const why = reasons.map((reason) => {
    const [, source = '', is] = /^([\w-]+): (\w+)$/.exec(reason) ?? [];
    return is === 'present' ? (PRESENT[source] ?? `somebody is here (${source})`) : reason;
  });
  return `${STATES[state] ?? state}${why.length === 0 ? '' : ` because ${why.join(' and ')}`}`;
}

/** Jobs that wait for a window, in words, and the view that shows what they did. */
export const JOB_WORDS: Readonly<Record<string, readonly [words: string, view: string]>> = {
  training: ['training', 'lab/training'],
  practice: ['practice', 'lab/practice'],
  reflection: ['reflection on who the agents are', 'lessons'],
  'earlier-sessions': ['making earlier conversations searchable', 'sessions'],
  'library-consolidation': ['tidying up the lessons', 'lessons'],
};
