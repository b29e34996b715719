import { createRandom, type Random } from '../../../src/base/random.ts';
import { capital } from '../workdays/rules/new-file-forms.ts';
import { CACHE_FIELD } from './fields/cache-field.ts';
import { LEAF_FIELD } from './fields/leaf-field.ts';
import { ORBIT_FIELD } from './fields/orbit-field.ts';
import type { ResearchField } from './fields/research-field.ts';

const FIELDS: readonly ResearchField[] = [CACHE_FIELD, ORBIT_FIELD, LEAF_FIELD];

/** Invented names, so that no real paper is misquoted. */
const AUTHORS: readonly string[] =
  'adeyemi brandt castell dorsey ekstrom faraday gunther hollis ibarra jansky kimura lindqvist moreau nakata okafor petrov quint rosales sandoval tamura ullman vasko wexler yardley zeman'.split(
    ' ',
  );

/** One abstract of the corpus, with the facts it states. */
export interface CorpusWork {
  /** The citation key, unique: `okafor19`. */
  readonly key: string;
  readonly year: number;
  readonly title: string;
  readonly abstract: string;
  readonly field: string;
  readonly method: string;
  readonly dataset: string;
  /** The value it reports, in percent with one decimal. */
  readonly value: number;
  /** The key of the published version that this is a preprint of. */
  readonly preprintOf?: string;
}

/** The question of a run: does `focus` beat `rival`? */
interface ResearchTopic {
  readonly field: ResearchField;
  readonly focus: string;
  readonly rival: string;
  readonly years: { readonly from: number; readonly to: number };
}

export interface Corpus {
  readonly topic: ResearchTopic;
  readonly works: readonly CorpusWork[];
  find(key: string): CorpusWork | undefined;
}

const YEARS = { from: 2014, to: 2024 } as const;
const OLDEST = 2005;
/** Works that disagree are at least this far apart. */
export const CONFLICT_POINTS = 10;
const CONFLICTS = 3;
const ON_TOPIC = 9;
const OTHERS_IN_FIELD = 3;
const TOO_OLD = 3;
/** Works of other fields with a method of the topic: false hits of a search by words. */
const NAMESAKES = 6;
const ELSEWHERE = 36;
const PREPRINTS = 3;

/** Sixty abstracts: relevant ones, too old ones, works of other fields, duplicates, and works that contradict each other. */
export function createCorpus(seed: string): Corpus {
  const random = createRandom(`${seed}/corpus`);
  const field = pick(FIELDS, random);
  const [focus = '', rival = '', ...others] = shuffle(field.methods, random);
  const topic: ResearchTopic = { field, focus, rival, years: YEARS };
  const works: CorpusWork[] = [];
  const keys = new Set<string>();
  const add = (
    about: ResearchField,
    method: string,
    dataset: string,
    year: number,
    value: number,
  ): CorpusWork => {
    const key = freeKey(year, keys, random);
    const work = write({ key, year, field: about, method, dataset, value }, random);
    works.push(work);
    return work;
  };
  const recent = (): number => YEARS.from + random.below(YEARS.to - YEARS.from + 1);
  const claim = (): number => (500 + random.below(350)) / 10;

  const published: CorpusWork[] = [];
  for (let nth = 0; nth < CONFLICTS; nth++) {
    const dataset = field.datasets[nth] ?? '';
    const low = (500 + random.below(200)) / 10;
    const high = low + CONFLICT_POINTS + random.below(60) / 10;
    published.push(add(field, focus, dataset, recent(), Math.round(high * 10) / 10));
    published.push(add(field, focus, dataset, recent(), low));
  }
  const rest = field.datasets.at(-1) ?? '';
  for (let nth = CONFLICTS * 2; nth < ON_TOPIC; nth++)
    published.push(add(field, nth % 2 === 0 ? rival : focus, rest, recent(), claim()));
  for (let nth = 0; nth < OTHERS_IN_FIELD; nth++)
    add(field, pick(others, random), pick(field.datasets, random), recent(), claim());
  for (let nth = 0; nth < TOO_OLD; nth++)
    add(
      field,
      nth % 2 === 0 ? focus : rival,
      pick(field.datasets, random),
      OLDEST + random.below(9),
      claim(),
    );
  const elsewhere = FIELDS.filter((one) => one !== field);
  for (let nth = 0; nth < NAMESAKES + ELSEWHERE; nth++) {
    const other = pick(elsewhere, random);
    const method = nth < NAMESAKES ? focus : pick(other.methods, random);
    add(other, method, pick(other.datasets, random), recent(), claim());
  }
  for (const work of published.slice(0, PREPRINTS)) {
    const year = work.year - 1;
    works.push({ ...work, key: freeKey(year, keys, random), year, preprintOf: work.key });
  }
  const shuffled = shuffle(works, random);
  const byKey = new Map(shuffled.map((work) => [work.key, work]));
  return { topic, works: shuffled, find: (key) => byKey.get(key) };
}

interface WorkFacts {
  readonly key: string;
  readonly year: number;
  readonly field: ResearchField;
  readonly method: string;
  readonly dataset: string;
  readonly value: number;
}

const OPENINGS = [
  'Operators ask for numbers that hold outside the lab.',
  'Earlier reports left open how far the idea carries.',
  'Small teams rarely have the time to tune by hand.',
  'Much has been promised here and little has been counted.',
];
const ENDINGS = [
  'We publish our settings with the paper.',
  'The cost at run time stays below that of its neighbours.',
  'Rare cases remain hard, and we say which.',
  'A second site repeated the measurement.',
];

function write({ key, year, field, method, dataset, value }: WorkFacts, random: Random): CorpusWork {
  const claims = [
    `We study ${method} for ${field.name}. On the ${dataset} it reaches a ${field.metric} of ${value.toFixed(1)} percent.`,
    `On the ${dataset}, ${method} attains a ${field.metric} of ${value.toFixed(1)} percent; the work concerns ${field.name}.`,
    `For ${field.name} we apply ${method} and measure a ${field.metric} of ${value.toFixed(1)} percent on the ${dataset}.`,
  ];
  const titles = [
    `${capital(method)} for ${field.name}: a study on the ${dataset}`,
    `What ${method} brings to ${field.name}: the ${dataset}`,
    `Measuring ${method} on the ${dataset}`,
  ];
  const abstract = [pick(OPENINGS, random), pick(claims, random), pick(ENDINGS, random)].join(' ');
  // Group and year make titles unique: only a preprint shares the title of another work.
  const title = `${pick(titles, random)}, as seen by the ${capital(key.slice(0, -2))} group in ${year}`;
  return { key, year, title, abstract, field: field.name, method, dataset, value };
}

function freeKey(year: number, taken: Set<string>, random: Random): string {
  for (;;) {
    const key = `${pick(AUTHORS, random)}${String(year % 100).padStart(2, '0')}`;
    if (taken.has(key)) continue;
    taken.add(key);
    return key;
  }
}

function pick<T>(list: readonly T[], random: Random): T {
  const found = list[random.below(list.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

function shuffle<T>(list: readonly T[], random: Random): readonly T[] {
  const shuffled = [...list];
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T];
  }
  return shuffled;
}
