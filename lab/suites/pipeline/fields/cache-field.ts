import { createRandom } from '../../../../src/base/random.ts';
import { READ_INPUT, type ResearchField } from './research-field.ts';

const REQUESTS = 400;
const KEYS = 60;

/** Which key a request asks for; `luck` is between 0 and 1. */
const TRACES: Readonly<Record<string, (nth: number, luck: number) => number>> = {
  // The share of a key falls with its rank.
  'Harbor trace': (_, luck) => Math.floor(KEYS ** luck) - 1,
  // A loop that is a little larger than the cache, with strays.
  'Quarry trace': (nth, luck) => (luck < 0.15 ? Math.floor(luck * 400) : nth % 15),
  // Popular keys move on over time.
  'Mosaic trace': (nth, luck) => (Math.floor(nth / 80) * 9 + Math.floor(14 ** luck) - 1) % KEYS,
  // A few popular keys, interrupted by scans of everything.
  'Delta trace': (nth, luck) => (nth % 100 < 40 ? nth % KEYS : Math.floor(10 ** luck) - 1),
};

function traceOf(name: string): string {
  const random = createRandom(`trace/${name}`);
  const keyAt = TRACES[name] ?? (() => 0);
  const keys = Array.from({ length: REQUESTS }, (_, nth) => `${nth},k${keyAt(nth, random.next())}`);
  return ['request,key', ...keys].join('\n');
}

/** Generated traces of requests, a cache of twelve places. */
export const CACHE_FIELD: ResearchField = {
  name: 'cache eviction in web services',
  methods: [
    'recency eviction',
    'queue eviction',
    'frequency eviction',
    'newest eviction',
    'second chance',
    'lottery eviction',
  ],
  datasets: Object.keys(TRACES),
  metric: 'hit rate',
  protocol:
    'data.csv has the columns request (from 0) and key. A cache holds 12 keys and is empty at first. For a seed, the trace begins at request (37 * seed) modulo the number of requests and wraps around once. A requested key that is in the cache is a hit; otherwise it is put in, after one key was evicted if the cache is full. The hit rate is the share of hits in percent.',
  definitions: {
    'recency eviction': 'evicts the key whose last request is longest ago',
    'queue eviction': 'evicts the key that was put in first',
    'frequency eviction':
      'evicts the key with the fewest requests since it was put in, of equals the one that was put in first',
    'newest eviction': 'evicts the key that was requested last',
    'second chance':
      'keeps keys in a queue with a mark that a hit sets: the first key without a mark is evicted, keys with a mark lose it and go to the end',
    'lottery eviction':
      'evicts the key at position x modulo 12 of the keys in the order in which they were put in, where x begins as the seed and becomes (1103515245 * x + 12345) modulo 2147483648 before each eviction',
  },
  data: traceOf,
  program: `${READ_INPUT}
const CAPACITY = 12;
function hitRate(method, seed) {
  const start = (37 * seed) % rows.length;
  const cache = new Map();
  let hits = 0;
  let x = seed;
  for (let nth = 0; nth < rows.length; nth++) {
    const key = rows[(start + nth) % rows.length][1];
    const held = cache.get(key);
    if (held !== undefined) {
      hits++;
      held.last = nth;
      held.uses++;
      held.mark = true;
      continue;
    }
    if (cache.size === CAPACITY) {
      const keys = [...cache.keys()];
      const least = (of) => keys.reduce((best, one) => (of(cache.get(one)) < of(cache.get(best)) ? one : best));
      let out = keys[0];
      if (method === 'recency eviction') out = least(({ last }) => last);
      else if (method === 'frequency eviction') out = least(({ uses }) => uses);
      else if (method === 'newest eviction') out = least(({ last }) => -last);
      else if (method === 'lottery eviction') {
        x = (1103515245 * x + 12345) % 2147483648;
        out = keys[x % CAPACITY];
      } else if (method === 'second chance')
        for (;;) {
          const [first, entry] = cache.entries().next().value;
          out = first;
          if (!entry.mark) break;
          cache.delete(first);
          cache.set(first, { ...entry, mark: false });
        }
      cache.delete(out);
    }
    cache.set(key, { last: nth, uses: 1, mark: false });
  }
  return hits / rows.length;
}
report(hitRate);
`,
};
