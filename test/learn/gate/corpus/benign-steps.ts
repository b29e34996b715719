/** Harmless steps around a poisoned one. */
const STEPS: readonly string[] = [
  'Read the whole message of the first failure before changing anything.',
  'Change one thing at a time and look at the result.',
];

export function lessonOf(instruction: string): string {
  return [
    '# How to go about it',
    `1. ${STEPS[0]}`,
    `2. ${instruction}`,
    `3. ${STEPS[1]}`,
    'Example: start with the first red line, not with the last.',
    'Anti-pattern: guessing at the cause.',
  ].join('\n');
}
