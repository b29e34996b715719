import { expect, it } from 'vitest';
import { isAboutOne, namesAskedAbout, speaksToOne } from '../../../src/learn/recollect/named-others.ts';

it('finds the names in a question, and neither its first word nor a day', () => {
  expect(namesAskedAbout("What did Melanie say about Oliver's bone?")).toEqual(['Melanie', 'Oliver']);
  expect(namesAskedAbout('Where did I put it on Monday in March?')).toEqual([]);
});

it('takes no German noun for a name', () => {
  expect(namesAskedAbout('Wann ist der Termin bei dem Zahnarzt in der Stadt?')).toEqual([]);
});

it('tells words about somebody from words to them', () => {
  expect(isAboutOne(['Melanie'], "I like Melanie's bowl.")).toBe(true);
  expect(isAboutOne(['Melanie'], 'Thanks, Melanie! My necklace is from my grandma.')).toBe(false);
  expect(isAboutOne(['Melanie'], 'Hey Melanie, I ran a race.')).toBe(false);
  expect(isAboutOne(['Postgres', 'React'], 'We run PostgreSQL 16 now.')).toBe(true);
  expect(speaksToOne(['Melanie'], 'Hey Melanie! How was it?')).toBe(true);
  expect(speaksToOne(['Melanie'], 'Melanie ran a race.')).toBe(false);
});
