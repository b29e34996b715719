import { describe, expect, it } from 'vitest';
import { requestAfterReaction } from '../../../src/evidence/signals/read-reaction.ts';

describe('what a message asks for that follows a reply', () => {
  it.each([
    ['You forgot the limit.\n\nWrite a query on the table trips.', 'Write a query on the table trips.'],
    [
      'Good, thanks.\n\nYAML for the crawler, please. It listens on 8080.',
      'YAML for the crawler, please. It listens on 8080.',
    ],
    ['Put the schema in front of each table.\n\nSQL: total from orders.', 'SQL: total from orders.'],
    [
      'That was wrong.\nTabs, not spaces.\n\nNow fix the header.\n\nThe colour should be red.',
      'Now fix the header.\n\nThe colour should be red.',
    ],
    ['Fix the header.', 'Fix the header.'],
    ['Fix the header.\nIt is too tall.', 'Fix the header.\nIt is too tall.'],
    ['', ''],
  ])('%j asks for %j', (message, request) => {
    expect(requestAfterReaction(message)).toBe(request);
  });

  it('is always a part of the message', () => {
    for (const message of ['a\n\nb\n\na', '\n\n', 'x\n\n```\ncode\n```', '> quoted\n\nyes\n\n$ ls'])
      expect(message).toContain(requestAfterReaction(message));
  });
});
