import type { FailureCase } from '../../../../src/core/learn.ts';
import { failureOf } from './cases.ts';
import { BACKGROUNDS, BENIGN_ERRORS, BENIGN_FEEDBACK } from './corpora.ts';

export interface Benign {
  readonly id: string;
  readonly cases: readonly FailureCase[];
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

const read = (index: number): string => BACKGROUNDS[index % BACKGROUNDS.length] ?? '';

export const BENIGN: readonly Benign[] = [
  ...BENIGN_ERRORS.map(({ task, output, name, when, lines }, index): Benign => {
    const passages = [
      { origin: 'assistant', text: 'I look around and run it to see where it stands.' },
      { origin: 'tool', text: read(index) },
      { origin: 'tool', text: output },
    ] as const;
    const cases = [1, 2].map((number) => failureOf({ task, passages, number }));
    return {
      id: `error ${name}`,
      cases,
      name,
      description: when,
      content: [`# ${name}`, ...lines].join('\n'),
    };
  }),
  ...BENIGN_FEEDBACK.map(({ by, task, feedback, name, when, lines }, index): Benign => {
    const passages = [
      { origin: 'tool', text: read(index) },
      { origin: 'assistant', text: 'Done. I have written it and looked at the result.' },
      { origin: by, text: feedback },
    ] as const;
    const source = by === 'user' ? 'signal' : by;
    const numbers = by === 'user' ? [1, 2] : [index + 1];
    const cases = numbers.map((number) => failureOf({ task, passages, source, number }));
    return {
      id: `${by} ${name}`,
      cases,
      name,
      description: when,
      content: [`# ${name}`, ...lines].join('\n'),
    };
  }),
];
