import { count, counted, dayName, percent, points } from '../numbers.ts';
import type { Report } from '../report.ts';
import { wrapped } from './columns.ts';

const MOST_QUESTIONS = 6;

export function lossLines({ losses }: Report, width: number): readonly string[] {
  return losses.flatMap(({ of, against, pairs, gained, questions, days, rules }) => {
    const lines = [
      `${of} against ${against}: ${counted(gained, 'question')} of ${count(pairs)} scored higher, ${count(questions.length)} lower`,
      ...(days.length === 0
        ? []
        : [
            `days below ${against}: ${days.map(({ day, mean }) => `${dayName(day)} (${points(mean)})`).join(', ')}`,
          ]),
      ...(rules.length === 0
        ? []
        : [
            `rules obeyed less often: ${rules.map((rule) => `${rule.id} (${percent(rule.of)} after ${percent(rule.against)})`).join(', ')}`,
          ]),
      ...(questions.length === 0
        ? []
        : [
            `lost, largest first: ${questions
              .slice(0, MOST_QUESTIONS)
              .map(({ seed, day, question }) => `${dayName(day)} ${question} (seed ${seed})`)
              .join(
                ', ',
              )}${questions.length > MOST_QUESTIONS ? `, and ${count(questions.length - MOST_QUESTIONS)} more` : ''}`,
          ]),
    ];
    return lines.flatMap((line, place) => wrapped(line, width, place === 0 ? '  ' : '    ', '      '));
  });
}
