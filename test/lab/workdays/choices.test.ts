import { describe, expect, it } from 'vitest';
import {
  DOCUMENT_KINDS,
  type DocumentQuestion,
  makeChoices,
} from '../../../lab/workdays/choices/make-choices.ts';
import { SHORT_QUESTION_KINDS } from '../../../lab/workdays/choices/short-questions.ts';
import { writeDocuments } from '../../../lab/workdays/documents/papers.ts';
import { makeDays } from '../../../lab/workdays/make-world/make-days.ts';
import { type Form, SPLITS } from '../../../lab/workdays/world.ts';
import { type Reader, readAssumptions, readBoard, readBudget, readDeploys } from './read-papers.ts';

interface Asked {
  readonly question: DocumentQuestion;
  readonly texts: Readonly<Record<string, string>>;
  readonly index: number;
}

const askAll = (form: Form, seeds: readonly number[]): readonly Asked[] =>
  SPLITS.flatMap((split) =>
    seeds.flatMap((seed) =>
      makeDays(split, seed).flatMap((facts) => {
        const ids = Array.from({ length: 25 }, (_, at) => `${facts.day.id}-${at}`);
        const texts = writeDocuments(facts);
        return makeChoices({ facts, form, ids, seed: `${split}/${seed}`, asked: new Set() }).map(
          (question) => ({ question, texts, index: facts.day.index }),
        );
      }),
    ),
  );

const full = askAll('full', [1, 2, 3]);
const short = askAll('short', [1, 2, 3]);

/** An option may be two sentences; it is right when both are. */
const sentencesOf = (option: string): readonly string[] => option.replace(/\.$/, '').split('. ');
const lettersOf = (question: DocumentQuestion): readonly string[] => Object.keys(question.options);

describe('makeChoices', () => {
  it('asks every kind, and the requested number', () => {
    expect(full).toHaveLength(3 * 3 * 14 * 25);
    const kinds = new Set([...full, ...short].map(({ question }) => question.about));
    expect([...kinds].toSorted()).toEqual(
      [...DOCUMENT_KINDS, ...SHORT_QUESTION_KINDS].map(({ name }) => name).toSorted(),
    );
  });

  it('asks only about the papers of the day, which contain every quote verbatim', () => {
    let quotes = 0;
    for (const { question, texts } of full) {
      expect(question.evidence.length).toBeGreaterThan(0);
      for (const { path, quote } of question.evidence) {
        quotes++;
        expect(quote.length).toBeGreaterThan(8);
        expect(texts[path]?.includes(quote), `${question.id} ${path}: ${quote}`).toBe(true);
      }
    }
    expect(quotes).toBeGreaterThan(20_000);
  });

  it.each<[string, string, (texts: Readonly<Record<string, string>>) => Reader]>([
    ['tickets', 'board.json', readBoard],
    ['deploys', 'deploy_log.json', readDeploys],
    ['budgets', 'budget.csv and decision_memo.md', readBudget],
    ['assumptions', 'assumptions.md and market_note.md', readAssumptions],
  ])('has the answers to %s that follow from reading %s', (about, _, reader) => {
    let judged = 0;
    for (const { question, texts } of full.filter((one) => one.question.about === about)) {
      const isTrue = reader(texts);
      for (const [letter, option] of Object.entries(question.options)) {
        const verdicts = sentencesOf(option).map((sentence) => isTrue(sentence));
        judged++;
        expect(verdicts, option).not.toContain(undefined);
        expect(question.answer.includes(letter), `${question.id} ${option}`).toBe(verdicts.every(Boolean));
      }
    }
    expect(judged).toBeGreaterThan(300);
  });

  it('letters its options from A without a gap, four on early days and up to six on late ones', () => {
    for (const { question, index } of full) {
      const letters = lettersOf(question);
      expect(letters.join('')).toBe('ABCDEF'.slice(0, letters.length));
      expect(question.answer.length).toBeGreaterThan(0);
      expect(question.answer.every((letter) => letters.includes(letter))).toBe(true);
      expect(new Set(Object.values(question.options)).size).toBe(letters.length);
      if (index === 0) expect(letters).toHaveLength(4 + (letters.length - 4 > 0 ? 1 : 0));
      for (const [letter, option] of Object.entries(question.options)) {
        expect(question.text).toContain(`\n${letter}. ${option}\n`);
      }
    }
    const meanAt = (days: readonly number[]): number => {
      const of = full.filter(({ index }) => days.includes(index));
      return of.reduce((sum, { question }) => sum + lettersOf(question).length, 0) / of.length;
    };
    expect(meanAt([0, 1])).toBeLessThan(4.3);
    expect(meanAt([12, 13])).toBeGreaterThan(5.2);
  });

  it('makes no letter and no number of letters a good guess: choosing all scores the same as chance', () => {
    for (const asked of [full, short]) {
      let [expected, score] = [0, 0];
      for (const { question } of asked) {
        const n = lettersOf(question).length;
        // All non-empty sets as likely: the mean share of right letters is n/2 over those 2^n - 1.
        expected += 0.5 / (1 - 2 ** -n);
        score += question.answer.length / n;
      }
      expect(Math.abs(score - expected) / asked.length).toBeLessThan(0.015);
      for (const letter of 'ABCD') {
        const share = asked.filter(({ question }) => question.answer.includes(letter)).length / asked.length;
        expect(Math.abs(share - 0.52)).toBeLessThan(0.04);
      }
      const sizes = new Set(asked.map(({ question }) => question.answer.length));
      expect([...sizes].toSorted()).toEqual(asked === full ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 4]);
    }
  });

  it('needs more papers at once on later days', () => {
    const papersPer = (days: readonly number[]): number => {
      const of = full.filter(({ index }) => days.includes(index));
      return (
        of.reduce((sum, { question }) => sum + new Set(question.evidence.map(({ path }) => path)).size, 0) /
        of.length
      );
    };
    expect(papersPer([12, 13])).toBeGreaterThan(papersPer([0, 1]) + 0.4);
  });

  it('explains each wrong letter, and no other', () => {
    let [wrong, phrasings] = [0, new Set<string>()];
    for (const { question } of full.slice(0, 1500)) {
      const right = question.feedback(question.answer);
      const letters = lettersOf(question);
      for (const letter of letters) {
        const isRight = question.answer.includes(letter);
        const chosen = isRight
          ? question.answer.filter((other) => other !== letter)
          : [...question.answer, letter];
        const told = question.feedback(chosen);
        wrong++;
        expect(told).not.toBe(right);
        expect(told.split('\n')).toHaveLength(2);
        expect(told).toMatch(new RegExp(`\\b${letter}\\b`));
        phrasings = phrasings.add((told.split('\n')[0] ?? '') + (isRight ? '+' : '-'));
      }
      expect(question.feedback(undefined)).toContain('\\bbox');
    }
    expect(wrong).toBeGreaterThan(6000);
    expect(phrasings.size).toBe(8);
  });
});

describe('makeChoices in the short form', () => {
  it('has at most sixty words, options included, and four options', () => {
    let longest = 0;
    for (const { question } of short) {
      longest = Math.max(longest, question.text.split(/\s+/).length);
      expect(lettersOf(question)).toHaveLength(4);
      for (const option of Object.values(question.options))
        expect(option.split(/\s+/).length).toBeLessThan(13);
    }
    expect(longest).toBeLessThanOrEqual(60);
    expect(longest).toBeGreaterThan(30);
  });

  it('can be answered from its own text', () => {
    let judged = 0;
    for (const { question } of short) {
      const [stem = ''] = question.text.split('\n');
      const isTrue = readStem(question.about, stem);
      if (isTrue === undefined) continue;
      for (const [letter, option] of Object.entries(question.options)) {
        judged++;
        expect(question.answer.includes(letter), `${stem} ${option}`).toBe(isTrue(option.replace(/\.$/, '')));
      }
    }
    expect(judged).toBeGreaterThan(8000);
  });
});

/** Reads the facts of a stem back and judges an option by them. */
function readStem(about: string, stem: string): ((option: string) => boolean) | undefined {
  const budgets = [...stem.matchAll(/(\w+) planned (\d+), spent (\d+)/g)];
  const tickets = [...stem.matchAll(/(\d+) \(([^)]+)\) (not begun|under way|finished)/g)];
  const deploys = [...stem.matchAll(/([\d.]+\d) (staging|production) (succeeded|rolled back|failed)/g)];
  if (about === 'short-budgets') {
    const said = budgets.flatMap(([, project, planned, spent]) => [
      `${project} spent ${spent}`,
      `${project} is ${Number(spent) > Number(planned) ? 'over' : 'within'} plan`,
    ]);
    return (option) => said.includes(option);
  }
  if (about === 'short-due') {
    const due = [...stem.matchAll(/(\d+) (\d+ [A-Z]\w+ \d{4}), (\d+) h/g)];
    const [one, two] = due.map(([, , date]) => Date.parse(`${date} UTC`));
    const first = due[0]?.[1] ?? '';
    const said = due.flatMap(([, number, date, hours]) => [
      `${number} is due ${date}`,
      `${number} takes ${hours} h`,
    ]);
    const isFirst = one !== undefined && two !== undefined && one < two;
    return (option) => [...said, `${first} ${isFirst ? 'comes' : 'does not come'} first`].includes(option);
  }
  if (about === 'short-tickets') {
    const said = tickets.flatMap(([, number, owner, state]) => [
      `${owner} has ${number}`,
      `${number} is ${state}`,
    ]);
    return (option) => said.includes(option);
  }
  if (about === 'short-deploys') {
    const said = deploys.flatMap(([, version, place, outcome]) => [
      `${version} went to ${place}`,
      `${version} ${outcome}`,
    ]);
    return (option) => said.includes(option);
  }
  return undefined;
}
