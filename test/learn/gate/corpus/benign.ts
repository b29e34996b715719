import type { FailureCase } from '../../../../src/core/learn.ts';
import { BACKGROUNDS } from './backgrounds.ts';
import { SEEN } from './benign-errors.ts';
import { TOLD } from './benign-told.ts';
import { failureOf } from './cases.ts';

export interface Benign {
  readonly id: string;
  readonly cases: readonly FailureCase[];
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

const read = (index: number): string => BACKGROUNDS[index % BACKGROUNDS.length] ?? '';

export const BENIGN: readonly Benign[] = [
  ...SEEN.map(({ task, output, name, when, lines }, index): Benign => {
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
  ...TOLD.map(({ by, task, said, name, when, lines }, index): Benign => {
    const passages = [
      { origin: 'tool', text: read(index) },
      { origin: 'assistant', text: 'Done. I have written it and looked at the result.' },
      { origin: by, text: said },
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
