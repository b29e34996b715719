import { describe, expect, it } from 'vitest';
import { standsInEveryTask } from '../../src/learn/rule-reach.ts';

describe('a rule in a person’s own words', () => {
  it.each([
    'From now on always answer in British English.',
    'Never use em dashes.',
    'Please always use metric units.',
    'in every answer, give the source',
    'Every time you are done, say what you have not tested.',
    'Use pnpm, not npm.',
    'No, we use pnpm here.',
    'Never push to main.',
    'Always run the tests before you commit.',
    'Before you push, ask me first.',
    'Write commit messages in English from now on.',
    'Tests live in spec/, always.',
    'Put exports in out/ from now on.',
    'Always end with a summary line.',
    'Never delete anything without asking.',
    'Going forward, keep it to three sentences at most.',
    'Write everything in TypeScript.',
    'We never hardcode secrets in this repo.',
    'Stop apologising.',
    'Don’t use emojis, ever.',
    'Ab jetzt immer auf Deutsch antworten.',
    'Bitte jedes Mal die Quelle nennen.',
    'Réponds toujours en français.',
    'Siempre usa el sistema métrico.',
    'Amounts are always in cents.',
    'That was wrong. From now on use ISO dates.',
  ])('stands in every task: %s', (quote) => {
    expect(standsInEveryTask(quote)).toBe(true);
  });

  it.each([
    'In shipping reports always use ISO dates.',
    'Always use ISO dates in shipping reports.',
    'in every shipping report, put the date first',
    'Shipping reports always use ISO dates.',
    'Every invoice needs the order number.',
    'For Acme we always quote in dollars.',
    'When you write SQL, always use lower case.',
    'Whenever you review code, list the risks first.',
    'In Python always use type hints.',
    'Use four spaces in Python files.',
    'Never use abbreviations in letters to customers.',
    'For invoices: round to two digits, always.',
    'In unseren Berichten immer ISO-Daten verwenden.',
    'Dans les factures, toujours mettre la TVA.',
    'En las facturas pon siempre el IVA.',
    'If the task is a translation, keep the names.',
    'Never mock the database in tests.',
    'During meetings never take decisions for me.',
  ])('is for the work that it names: %s', (quote) => {
    expect(standsInEveryTask(quote)).toBe(false);
  });

  it.each(['The total is wrong.', 'The report missed the date.', 'The parser is slow.'])(
    'is no rule: %s',
    (quote) => {
      expect(standsInEveryTask(quote)).toBe(false);
    },
  );
});
