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

/** Who changed a lesson or judged an answer, for people: all that learns is Instar. */
export const whoOf = (by: string): string => NAMES[by] ?? 'Instar';
