import { CommandError, EXIT } from './command-error.ts';

const NAMES = ['baseline', 'skills', 'full'] as const;
type Condition = (typeof NAMES)[number];

/** `baseline,skills`, in the order they are run and reported. */
export function readConditions(text: string): readonly Condition[] {
  const given = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = given.find((name) => !NAMES.some((one) => one === name));
  if (unknown !== undefined)
    throw new CommandError(
      EXIT.wrongUse,
      `There is no condition "${unknown}".`,
      `there are ${NAMES.join(', ')}`,
    );
  const chosen = NAMES.filter((name) => given.includes(name));
  if (chosen.length === 0)
    throw new CommandError(EXIT.wrongUse, 'Name a condition.', 'such as baseline,skills');
  return chosen;
}
