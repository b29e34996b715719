import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { asPercent, isNear, roundToHundredths, textList } from '../answer-text.ts';
import { CONFLICT_POINTS, type Corpus, type CorpusWork } from '../corpus.ts';
import { type CodeStage, createChecks, type ModelStage, type StageOutputs } from '../stage.ts';

const MOST_HITS = 22;

/** Ranks works by how many words of the queries they contain; deterministic. */
export const corpusSearch: CodeStage = {
  id: 'corpus-search',
  kind: 'code',
  isScorable: false,
  needs: ['query-planning'],
  perform: async (dossier, { works }) => {
    const queries = textList(dossier.get('query-planning')?.queries) ?? [];
    const words = queries.flatMap((query) => wordsOf(query));
    const score = ({ title, abstract }: CorpusWork): number => {
      const said = new Set(wordsOf(`${title} ${abstract}`));
      return words.filter((word) => said.has(word)).length;
    };
    const ranked = works
      .map((work) => ({ key: work.key, score: score(work) }))
      .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
    return { hits: ranked.slice(0, MOST_HITS).map(({ key }) => key) };
  },
};

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Keeps the latest of works with the same title. */
export const dedup: CodeStage = {
  id: 'dedup',
  kind: 'code',
  isScorable: false,
  needs: ['corpus-search'],
  perform: async (dossier, corpus) => {
    const hits = worksWithKeys(dossier.get('corpus-search')?.hits, corpus);
    const isLatest = (work: CorpusWork): boolean =>
      !hits.some((other) => other.title === work.title && other.year > work.year);
    return { keys: hits.filter(isLatest).map(({ key }) => key) };
  },
};

export const worksWithKeys = (keys: unknown, corpus: Corpus): readonly CorpusWork[] =>
  asArray(keys).flatMap((key) => corpus.find(asString(key) ?? '') ?? []);

/** The works in a prompt. */
const shownWorks = (material: JsonObject, corpus: Corpus): readonly CorpusWork[] =>
  worksWithKeys(
    asArray(material.records).map((record) => asObject(record).key ?? ''),
    corpus,
  );

const recordOf = ({ key, year, title, abstract }: CorpusWork): JsonObject => ({ key, year, title, abstract });
const isWanted = ({ field, year }: CorpusWork, { topic }: Corpus): boolean =>
  field === topic.field.name && year >= topic.years.from && year <= topic.years.to;
export const whyExcluded = ({ field }: CorpusWork, { topic }: Corpus): 'years' | 'field' =>
  field === topic.field.name ? 'years' : 'field';

export const screening: ModelStage = {
  id: 'screening',
  kind: 'model',
  needs: ['dedup'],
  task: 'Screen the works that the search found. List the works to include: those that are about the field and of the years that count. List all others as exclusions, each with the reason for the exclusion.',
  form: ['include: the list of keys of the works to include', 'exclude: a list of { key, reason }'],
  material: (dossier, corpus) => ({
    field: corpus.topic.field.name,
    years: { ...corpus.topic.years },
    records: worksWithKeys(dossier.get('dedup')?.keys, corpus).map(recordOf),
  }),
  solve: (material, corpus) => {
    const works = shownWorks(material, corpus);
    return {
      include: works.filter((work) => isWanted(work, corpus)).map(({ key }) => key),
      exclude: works
        .filter((work) => !isWanted(work, corpus))
        .map((work) => ({
          key: work.key,
          reason:
            whyExcluded(work, corpus) === 'years' ? 'not of the years that count' : 'about another field',
        })),
    };
  },
  check: (output, material, corpus) => {
    const { need, problems } = createChecks();
    const works = shownWorks(material, corpus);
    const include = textList(output.include) ?? [];
    const exclude = asArray(output.exclude).map((one) => asObject(one));
    const excluded = exclude.map(({ key }) => asString(key) ?? '');
    const decided = [...include, ...excluded].sort();
    need(
      decided.join() ===
        works
          .map(({ key }) => key)
          .sort()
          .join(),
      'Decide on each record exactly once, and on no record that is not in the material.',
      decided.join(', '),
    );
    const wrong = works.filter((work) => include.includes(work.key) !== isWanted(work, corpus));
    need(
      wrong.length === 0,
      'Include a work only when it is about the field and of the years that count.',
      wrong.map(({ key }) => key).join(', '),
    );
    need(
      exclude.every(({ reason }) => (asString(reason) ?? '').trim() !== ''),
      'Give a reason for each exclusion.',
    );
    return problems;
  },
};

export const evidenceExtraction: ModelStage = {
  id: 'evidence-extraction',
  kind: 'model',
  needs: ['screening'],
  task: 'Extract the evidence: list the included works, each with its year and with the measured value that its abstract reports.',
  form: ['rows: a list of { key, year, method, dataset, value }, one row for each work; value in percent'],
  material: (dossier, corpus) => ({
    metric: corpus.topic.field.metric,
    records: byKey(worksWithKeys(dossier.get('screening')?.include, corpus)).map(recordOf),
  }),
  solve: (material, corpus) => ({
    rows: shownWorks(material, corpus).map(({ key, year, method, dataset, value }) => ({
      key,
      year,
      method,
      dataset,
      value,
    })),
  }),
  check: (output, material, corpus) => {
    const { need, problems } = createChecks();
    const works = shownWorks(material, corpus);
    const rows = asArray(output.rows).map((row) => asObject(row));
    const keys = rows.map(({ key }) => asString(key) ?? '');
    need(
      [...keys].sort().join() ===
        works
          .map(({ key }) => key)
          .sort()
          .join(),
      'Write one row for each included work, and none for any other.',
      keys.join(', '),
    );
    const wrong = (isRight: (row: JsonObject, work: CorpusWork) => boolean): string =>
      rows
        .filter((row) => {
          const work = corpus.find(asString(row.key) ?? '');
          return work !== undefined && !isRight(row, work);
        })
        .map(({ key }) => String(key))
        .join(', ');
    const years = wrong((row, work) => asNumber(row.year) === work.year);
    need(years === '', 'Copy the year of each work from its record.', years);
    const names = wrong((row, work) => row.method === work.method && row.dataset === work.dataset);
    need(names === '', 'Name method and dataset in the words of the abstract.', names);
    const values = wrong((row, work) => isNear(asPercent(row.value), work.value, 0.001));
    need(values === '', 'Copy each measured value from the abstract of its work.', values);
    return problems;
  },
};

/** One extracted value. */
type EvidenceRow = {
  readonly key: string;
  readonly year: number;
  readonly method: string;
  readonly dataset: string;
  readonly value: number;
};

export const evidenceRowsIn = (rows: unknown): readonly EvidenceRow[] =>
  asArray(rows).map((row) => {
    const { key, year, method, dataset, value } = asObject(row);
    return {
      key: asString(key) ?? '',
      year: asNumber(year) ?? 0,
      method: asString(method) ?? '',
      dataset: asString(dataset) ?? '',
      value: asPercent(value) ?? Number.NaN,
    };
  });

export const evidenceRows = (dossier: StageOutputs): readonly EvidenceRow[] =>
  byKey(evidenceRowsIn(dossier.get('evidence-extraction')?.rows));

/** Prompts list works in an order that no convention asks for, so that each stage has to order them itself. */
const byKey = <T extends { readonly key: string }>(list: readonly T[]): readonly T[] =>
  [...list].sort((a, b) => (a.key < b.key ? -1 : 1));

/** Pairs that measured the same thing and disagree. */
export function conflictsAmong(
  rows: readonly EvidenceRow[],
): readonly (readonly [EvidenceRow, EvidenceRow])[] {
  return rows.flatMap((one, nth) =>
    rows
      .slice(nth + 1)
      .filter((other) => one.method === other.method && one.dataset === other.dataset)
      .filter((other) => roundToHundredths(Math.abs(one.value - other.value)) >= CONFLICT_POINTS)
      .map((other): readonly [EvidenceRow, EvidenceRow] => [one, other]),
  );
}
