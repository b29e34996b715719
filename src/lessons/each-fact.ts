import type { StoredFact } from '../core/fact.ts';
import type { IndexedType, Records } from '../core/store.ts';

const PAGE = 1000;

/** Reads all facts of a type, or those after one, a page at a time. */
export async function eachFactOf(
  type: IndexedType,
  records: Pick<Records, 'factsOf'>,
  add: (stored: StoredFact) => void,
  before = 0,
): Promise<void> {
  for (let after = before; ; ) {
    const page = await records.factsOf(type, after, PAGE);
    page.forEach(add);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}
