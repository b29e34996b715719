import { describe, expect, it } from 'vitest';
import { negationsIn, promptName, slugOfRule, titleOf, titleOfRule } from '../../src/lessons/title.ts';

const TITLES: readonly (readonly [rule: string, title: string])[] = [
  ['No, we always use ISO dates in shipping reports.', 'Use ISO dates in shipping reports'],
  ['no, we use pnpm here', 'Use pnpm here'],
  ['please never push to main!!', 'Never push to main'],
  ['I want you to answer in British English from now on', 'Answer in British English'],
  ['Nope - use tabs', 'Use tabs'],
  ['Actually, we never deploy on Fridays.', 'Never deploy on Fridays'],
  ["no no, don't touch the lock file please", "Don't touch the lock file"],
  ['From now on, round prices to two digits', 'Round prices to two digits'],
  ['from now on we name branches after tickets', 'Name branches after tickets'],
  ['You must not use npm.', 'You must not use npm'],
  ['could you not use emojis? thanks', 'Could you not use emojis?'],
  ['you should always run the tests first', 'Always run the tests first'],
  ['Could you please sign with "Kind regards"?', 'Sign with "Kind regards"'],
  ["Let's use four spaces", 'Use four spaces'],
  ['Remember that we use CET', 'Use CET'],
  ['Remember to quote the source', 'Quote the source'],
  ['Great, but keep it under 100 words', 'Keep it under 100 words'],
  ['No. We use metric units.', 'Use metric units'],
  ['Wrong! Use the staging database.', 'Use the staging database'],
  ['Push to main? Never.', 'Push to main? Never'],
  ['We only use single quotes.', 'Only use single quotes'],
  ["we don't commit generated files", "Don't commit generated files"],
  ['npm is not used here', 'npm is not used here'],
  ['Always say please', 'Always say please'],
  ['Flag invoices with dates in the future', 'Flag invoices with dates in the future'],
  // In doubt it stays as it was said.
  ['No emojis', 'No emojis'],
  ['No emojis, please', 'No emojis'],
  ['No, no emojis', 'No emojis'],
  ['No - emojis in commit messages', 'No - emojis in commit messages'],
  ['No, pnpm', 'No, pnpm'],
  ['You never run the tests', 'You never run the tests'],
  ['you always use npm', 'You always use npm'],
  ["I don't want you to push to main", "I don't want you to push to main"],
  ['I told you not to use npm', 'I told you not to use npm'],
  ['you should have used pnpm', 'You should have used pnpm'],
  ['We use npm at the moment but want pnpm', 'We use npm at the moment but want pnpm'],
  ['We keep getting npm errors', 'We keep getting npm errors'],
  ['We used npm before', 'We used npm before'],
  ['remember not to push to main', 'Remember not to push to main'],
  // German
  ['nicht npm, wir nehmen pnpm', 'Nicht npm, wir nehmen pnpm'],
  ['Nein, wir nehmen hier pnpm.', 'Wir nehmen hier pnpm'],
  ['Bitte niemals auf main pushen!', 'Niemals auf main pushen'],
  ['Kein Smalltalk in Berichten', 'Kein Smalltalk in Berichten'],
  ['Ab sofort verwenden wir metrische Einheiten', 'Ab sofort verwenden wir metrische Einheiten'],
  ['Schreib Datumsangaben immer ISO, bitte', 'Schreib Datumsangaben immer ISO'],
  // French
  ['Non, on utilise pnpm ici.', 'On utilise pnpm ici'],
  ['ne pousse jamais sur main', 'Ne pousse jamais sur main'],
  ["n'utilise pas npm, s'il te plaît", "N'utilise pas npm"],
  // Spanish
  ['No, usamos pnpm aquí', 'Usamos pnpm aquí'],
  ['No uses npm', 'No uses npm'],
  ['por favor, nunca borres los datos', 'Nunca borres los datos'],
  ['No, nunca subas a main', 'Nunca subas a main'],
  // Others are left alone.
  ['请始终使用 pnpm', '请始终使用 pnpm'],
  ['не используй npm!', 'Не используй npm'],
];

describe('titleOfRule', () => {
  it.each(TITLES)('%s → %s', (rule, title) => {
    expect(titleOfRule(rule)).toBe(title);
  });

  it('never loses a negation, whatever stands around it and however long it is', () => {
    const openings = [
      '',
      'no, ',
      'Actually, ',
      'please ',
      'From now on, ',
      'hey - ',
      'Nein, ',
      'Non, ',
      'Great, but ',
    ];
    const clauses = [
      'do not push to main',
      "don't use npm",
      'never answer in French',
      'no emojis in commit messages',
      'we use pnpm, not npm',
      'you must not deploy without a review',
      'we never merge without a green build',
      'nicht npm verwenden, sondern pnpm',
      'kein Smalltalk',
      'ne pousse pas sur main',
      'no uses npm nunca',
      'pushing to the branch that the release is built from is not allowed',
      'write the report without a summary and never with a table that has more than three columns in it',
    ];
    const endings = [
      '',
      '.',
      '!!',
      ' from now on',
      ', please',
      ' in every report that you write for the team on the second floor',
    ];
    for (const opening of openings)
      for (const clause of clauses)
        for (const ending of endings) {
          const rule = `${opening}${clause}${ending}`;
          const title = titleOfRule(rule);
          const own = negationsIn(clause);
          if (own.length < 2) expect(title.length, rule).toBeLessThanOrEqual(70);
          expect(negationsIn(title).slice(-own.length), `${rule} → ${title}`).toEqual(own);
        }
  });

  it('keeps the words of the clause in their order', () => {
    for (const [rule, title] of TITLES) {
      const words =
        title
          .replace('Do not', 'not')
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? [];
      let from = 0;
      for (const word of words) {
        const at = rule.toLowerCase().indexOf(word, from);
        expect(at, `${word} of "${title}" in "${rule}"`).toBeGreaterThanOrEqual(from);
        from = at;
      }
    }
  });
});

const text = (name: string, description: string, content = '') => ({ name, description, content });

describe('titleOf', () => {
  it('takes the rule of a lesson that was written by a model, not the situation', () => {
    const content = '# Dates\n\n1. Write dates as YYYY-MM-DD in every report. Then check them.';
    expect(titleOf({ text: text('iso-dates', 'When writing reports.', content) })).toBe(
      'Write dates as YYYY-MM-DD in every report',
    );
    expect(titleOf({ text: text('iso-dates', 'Write dates as YYYY-MM-DD.', content) })).toBe(
      'Write dates as YYYY-MM-DD',
    );
  });

  it('falls back to the name where nothing else is left', () => {
    expect(titleOf({ text: text('iso-dates', '') })).toBe('Iso dates');
  });
});

describe('slugOfRule', () => {
  it.each([
    ['No, we always use ISO dates in shipping reports.', 'use-iso-dates-in-shipping-reports'],
    ['no, we use pnpm here', 'use-pnpm-here'],
    ['please never push to main!!', 'never-push-to-main'],
    ["don't use npm", 'dont-use-npm'],
    // It may mean either: the name says what it is about, and no more.
    ['No - emojis in commit messages', 'about-emojis-in-commit-messages'],
    ['не используй npm', 'about-npm'],
    ['请始终使用', undefined],
  ])('%s → %s', (rule, slug) => {
    expect(slugOfRule(rule)).toBe(slug);
  });
});

describe('promptName', () => {
  it('is the title where an old name says the opposite of the rule', () => {
    expect(promptName(text('no-pnpm', '"no, we use pnpm here"'))).toBe('Use pnpm here');
    expect(promptName(text('no-emojis', '"No emojis"'))).toBe('no-emojis');
    expect(promptName(text('use-pnpm-here', '"no, we use pnpm here"'))).toBe('use-pnpm-here');
    expect(promptName(text('no-deploys', 'Deploy on weekdays.'))).toBe('no-deploys');
  });
});
