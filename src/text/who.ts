const NAMES: Readonly<Record<string, string>> = {
  person: 'you',
  chat: 'you',
  practice: 'practice',
  judge: 'the judge',
  verifier: 'a verifier',
  agent: 'the agent',
  signal: 'signals',
  file: 'a file',
  import: 'an import',
  starter: 'the starter set',
};

/** What a learner learns from, where its name is the code's. */
const SOURCES: Readonly<Record<string, string>> = { distiller: 'your words', evolver: 'failures' };

/** What Instar learned from, for people and for the log. */
export const sourceOf = (learner: string): string => SOURCES[learner] ?? learner;

/** Who changed a lesson or judged an answer, for people: all that learns is Instar. */
export const whoOf = (by: string): string => NAMES[by] ?? 'Instar';
