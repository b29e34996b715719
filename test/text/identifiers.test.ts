import { describe, expect, it } from 'vitest';
import { hasIdentifier } from '../../src/text/identifiers.ts';

describe('identifiers of people', () => {
  it.each([
    'My user id is mia_li_3668.',
    'Please look at reservation ZFA04Y.',
    'the booking 4OG6T3',
    'Call me at +49 30 1234567.',
    'Write to ines.berg@example.com',
    'My card ends in 4242 4242 4242 4242',
    'My order number is 41.',
    'I live at 12 Rose Hill Road.',
    'Ich wohne in der Lindenstraße 14.',
    'customer ID: K-77',
  ])('are found: %s', (text) => {
    expect(hasIdentifier(text)).toBe(true);
  });

  it.each([
    'Use ISO dates such as 2026-07-14 in reports.',
    'Name files 20260714_report.csv.',
    'Hash with SHA256 and write UTF16.',
    'The gateway is at 127.0.0.1:4600, version 20.19.2.',
    'Times look like 2026-07-14T08:00:00+08:00.',
    'Always use pnpm, never npm; run it with Node 20.',
    'Keep summaries under 1200 words.',
    'Limit lines to 120 characters, 80 in tests.',
  ])('are not seen in a rule about the work: %s', (text) => {
    expect(hasIdentifier(text)).toBe(false);
  });
});
