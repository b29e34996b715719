/** A field of research that a corpus is made of. Every measure is a percentage, and more is better. */
export interface Field {
  readonly name: string;
  readonly methods: readonly string[];
  readonly datasets: readonly string[];
  readonly metric: string;
}

export const FIELDS: readonly Field[] = [
  {
    name: 'cache eviction in web services',
    methods: [
      'tide eviction',
      'ring ageing',
      'ghost lists',
      'plain recency',
      'cost buckets',
      'segmented queues',
    ],
    datasets: ['Harbor traces', 'Quarry traces', 'Mosaic traces', 'Delta traces'],
    metric: 'hit rate',
  },
  {
    name: 'crack detection on bridge photos',
    methods: [
      'edge voting',
      'patch ranking',
      'shadow masks',
      'plain thresholds',
      'line growing',
      'tile cascades',
    ],
    datasets: ['Span set', 'Girder set', 'Abutment set', 'Viaduct set'],
    metric: 'recall',
  },
  {
    name: 'invoice field extraction',
    methods: [
      'anchor walks',
      'layout graphs',
      'word windows',
      'plain templates',
      'column voting',
      'row pairing',
    ],
    datasets: ['Ledger corpus', 'Counter corpus', 'Freight corpus', 'Clinic corpus'],
    metric: 'exact match',
  },
  {
    name: 'crop disease triage from leaf scans',
    methods: [
      'vein maps',
      'colour walks',
      'spot counting',
      'plain histograms',
      'texture votes',
      'leaf pairing',
    ],
    datasets: ['Orchard scans', 'Terrace scans', 'Valley scans', 'Greenhouse scans'],
    metric: 'accuracy',
  },
];

/** Invented names, so that no real paper is misquoted. */
export const AUTHORS: readonly string[] =
  'adeyemi brandt castell dorsey ekstrom faraday gunther hollis ibarra jansky kimura lindqvist moreau nakata okafor petrov quint rosales sandoval tamura ullman vasko wexler yardley zeman'.split(
    ' ',
  );
