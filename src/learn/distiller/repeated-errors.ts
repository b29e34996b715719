import type { FailureCase } from '../../core/learn.ts';
import { adviceFor } from './error-advice.ts';
import type { WrittenSkill } from './write-skill.ts';

const FEWEST_SESSIONS = 2;
const PLAIN = /^[A-Za-z][A-Za-z0-9_ -]{2,55}$/;

export interface RepeatedError {
  readonly skill: WrittenSkill;
  readonly failures: readonly FailureCase[];
}

/** Errors of several sessions. Of a tool's output, only the name of the error kind is used. */
export function findRepeatedErrors(failures: readonly FailureCase[]): readonly RepeatedError[] {
  const byKind = new Map<string, FailureCase[]>();
  for (const failure of failures)
    for (const kind of new Set(failure.appraisal.digests.map(kindOf))) {
      const seen = byKind.get(kind);
      if (seen === undefined) byKind.set(kind, [failure]);
      else seen.push(failure);
    }
  return [...byKind].flatMap(([kind, seen]) => {
    const advice = PLAIN.test(kind) ? adviceFor(kind) : undefined;
    const sessions = new Set(seen.map(({ session }) => session)).size;
    return advice === undefined || sessions < FEWEST_SESSIONS
      ? []
      : [{ skill: writeAdvice(kind, advice, sessions), failures: seen }];
  });
}

const kindOf = (digest: string): string => digest.split(' @ ', 1)[0]?.trim() ?? '';

function writeAdvice(kind: string, advice: readonly string[], sessions: number): WrittenSkill {
  const slug = kind
    .replace(/([a-z])(?=[A-Z])/g, '$1-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return {
    name: `when-${slug}`.slice(0, 60).replace(/-$/, ''),
    description: `When \`${kind}\` appears in what a command or a test prints.`,
    content: [
      `## When ${kind} appears`,
      '',
      ...advice.map((look, index) => `${index + 1}. Check ${look}.`),
      `${advice.length + 1}. Run again only after one of these has changed.`,
      '',
      `Example: it ended the work in ${sessions} sessions that went wrong.`,
      'Anti-pattern: running the same command again, or hiding the message, without having looked.',
    ].join('\n'),
    category: 'common_mistakes',
  };
}
