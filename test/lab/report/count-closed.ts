import { expect } from 'vitest';

const ALONE = new Set(['!doctype', 'meta', 'br']);

/** Fails unless every tag of a page is closed in the right place; returns how many were. */
export function countClosed(page: string): number {
  const open: string[] = [];
  let closed = 0;
  for (const [, slash, name = '', self] of page.matchAll(/<(\/?)([a-z!]+[0-9]?)[^>]*?(\/?)>/gi)) {
    if (slash === '/') {
      expect(open.pop()).toBe(name);
      closed++;
    } else if (self !== '/' && !ALONE.has(name)) open.push(name);
  }
  expect(open).toEqual([]);
  return closed;
}
