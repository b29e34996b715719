import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInScope, matchesPattern } from '../../src/lessons/scope.ts';
import { query } from './recall/sample-lessons.ts';

describe('a pattern', () => {
  it('matches like a regular expression with the same stars', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 }).map((list) => list.join(''));
    fc.assert(
      fc.property(letters, letters, (pattern, value) => {
        const same = new RegExp(`^${pattern.replaceAll(/\*+/g, '[^]*')}$`);
        expect(matchesPattern(pattern, value.replaceAll('*', ''))).toBe(same.test(value.replaceAll('*', '')));
      }),
    );
  });

  it('matches many stars and a long value without exponential backtracking', () => {
    expect(matchesPattern(`${'*a'.repeat(200)}b`, 'a'.repeat(20_000))).toBe(false);
  });
});

describe('a scope', () => {
  it('matches every query when it is empty', () => {
    expect(isInScope({}, query('x'), 'any')).toBe(true);
  });

  it('excludes other agents, projects and run kinds, and queries without these fields', () => {
    const asked = query('x', { agent: 'main', project: 'shop-web', runKind: 'cron' });
    expect(isInScope({ agent: 'main', project: 'shop-*', runKind: 'cron' }, asked, undefined)).toBe(true);
    expect(isInScope({ agent: 'other' }, asked, undefined)).toBe(false);
    expect(isInScope({ project: 'shop' }, asked, undefined)).toBe(false);
    expect(isInScope({ project: 'shop-*' }, query('x'), undefined)).toBe(false);
  });

  it('excludes other domains only when the domain was named', () => {
    expect(isInScope({ domain: 'law' }, query('x'), 'medicine')).toBe(false);
    expect(isInScope({ domain: 'law' }, query('x'), undefined)).toBe(true);
  });
});
