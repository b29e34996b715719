import type { StoredFact } from '../../../src/core/fact.ts';
import { packCodes, packVectors, wordCodes } from '../../../src/learn/recollect/encode-message.ts';
import { createMessageIndex } from '../../../src/learn/recollect/message-index.ts';
import { markdownTable, milliseconds, quantile } from '../markdown.ts';
import { createMulberry32, createSyntheticTexts } from './synthetic.ts';

const DIMENSIONS = 384;
const SENTENCES = 3;
/** As many matters are talked about. */
const LESSONS = 5000;
const QUERIES = 100;
const MOST = 10;
/** As many messages as have a vector: the search reads no other. */
const VECTORS = 50_000;

export interface SaidSpeed {
  readonly sentences: number;
  readonly searchMs: readonly number[];
  readonly loadMs: number;
  readonly megabytes: number;
  readonly recordedMegabytes: number;
}

/** The index of what one person said: invented messages of three sentences, with random vectors. Milliseconds are of CPU. */
export async function measureSaid(sentences: number): Promise<SaidSpeed> {
  const texts = createSyntheticTexts(LESSONS);
  const random = createMulberry32(7);
  const messages = Math.ceil(sentences / SENTENCES);
  const vectors = Array.from({ length: 64 }, () =>
    packVectors([Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)]),
  );
  const textOf = (nth: number): string =>
    Array.from({ length: SENTENCES }, (_, at) =>
      texts.query(texts.lesson((nth * 7 + at * 131) % LESSONS)),
    ).join(' ');
  let bytes = 0;
  let madeMs = 0;
  const factOf = (nth: number): StoredFact => {
    const words = packCodes(wordCodes(`${textOf(nth)} n${nth}`));
    const own = nth < messages - VECTORS ? {} : { vectors: vectors[nth % 64] ?? '', engine: 'bench' };
    bytes += words.length + (own.vectors?.length ?? 0);
    return {
      seq: nth + 1,
      at: nth,
      fact: { type: 'message-indexed', session: 's', turn: `t${nth}`, owner: 'me', words, ...own },
    };
  };
  const index = createMessageIndex(
    {
      factsOf: async (_, after, most = 1000) => {
        const started = process.cpuUsage();
        const length = Math.max(0, Math.min(most, messages - after));
        const page = Array.from({ length }, (_, at) => factOf(after + at));
        madeMs += millisecondsSince(started);
        return page;
      },
    },
    { id: 'bench', dimensions: DIMENSIONS },
  );
  const codesOf = (nth: number): Uint32Array => wordCodes(texts.query(texts.lesson((nth * 37) % LESSONS)));
  const before = process.memoryUsage.rss();
  const begun = process.cpuUsage();
  await index.search('me', { codes: codesOf(0) }, MOST);
  const loadMs = millisecondsSince(begun) - madeMs;
  const searchMs: number[] = [];
  for (let nth = 0; nth < QUERIES; nth++) {
    const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
    const codes = codesOf(nth);
    const started = process.cpuUsage();
    const { hits } = await index.search('me', { codes, vector }, MOST);
    if (hits.length === 0) throw new Error('a search over indexed messages found none');
    searchMs.push(millisecondsSince(started));
  }
  const megabytes = (process.memoryUsage.rss() - before) / 2 ** 20;
  return { sentences, searchMs, loadMs, megabytes, recordedMegabytes: bytes / 2 ** 20 };
}

const millisecondsSince = (begun: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
};

export const reportSaid = (found: readonly SaidSpeed[]): string =>
  markdownTable(
    ['sentences of one person', 'a search, median', '99 %', 'loaded once', 'memory', 'in the record'],
    found.map(({ sentences, searchMs, loadMs, megabytes, recordedMegabytes }) => [
      sentences.toLocaleString('en'),
      `${milliseconds(quantile(searchMs, 0.5))} ms`,
      `${milliseconds(quantile(searchMs, 0.99))} ms`,
      `${milliseconds(loadMs)} ms`,
      `${Math.round(megabytes)} MB`,
      `${recordedMegabytes.toFixed(1)} MB`,
    ]),
  );
