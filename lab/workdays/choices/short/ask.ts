/** How the short form asks, after its facts. */
export const ASK: readonly string[] = [
  'Which are right?',
  'What holds?',
  'Select what follows.',
  'What is true?',
];
