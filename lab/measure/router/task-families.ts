import { createRandom, type Random } from '../../../src/base/random.ts';

/** Requests of one kind, and how often a session of each tier does them well. */
export interface TaskFamily {
  readonly name: string;
  /** Of all sessions. */
  readonly share: number;
  readonly strong: number;
  readonly cheap: number;
  /** From the half of the run on, where the family drifts. */
  readonly cheapLater?: number;
  /** `{a}` and `{b}` are replaced. */
  readonly forms: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
}

const FILES = ['parser.ts', 'invoice.py', 'router.go', 'session.rs', 'mailer.ts', 'cart.js', 'ledger.py'];
const NAMES = ['userId', 'total_amount', 'retryCount', 'baseUrl', 'startDate', 'lineItems', 'isReady'];

/** Five families with a fixed quality, and one whose cheap model becomes worse halfway. */
export const FAMILIES: readonly TaskFamily[] = [
  {
    name: 'rename',
    share: 0.25,
    strong: 0.92,
    cheap: 0.92,
    forms: ['Rename the variable {a} in {b} everywhere', 'Rename {a} to a clearer variable name in file {b}'],
    a: NAMES,
    b: FILES,
  },
  {
    name: 'summary',
    share: 0.2,
    strong: 0.88,
    cheap: 0.87,
    forms: [
      'Summarise the meeting notes about {a} in five sentences for {b}',
      'Write a short summary of the meeting notes on {a} for {b}',
    ],
    a: ['the budget', 'hiring', 'the launch', 'pricing', 'the office move', 'support hours'],
    b: ['the board', 'the team', 'our customers', 'new colleagues'],
  },
  {
    name: 'tests',
    share: 0.2,
    strong: 0.85,
    cheap: 0.83,
    forms: [
      'Write unit tests for the function {a} with edge cases and errors, see {b}',
      'Add missing unit tests with edge cases to cover function {a} of {b}',
    ],
    a: ['parseDate', 'splitBill', 'formatPrice', 'readHeader', 'mergeRanges'],
    b: FILES,
  },
  {
    name: 'deadlock',
    share: 0.1,
    strong: 0.7,
    cheap: 0.35,
    forms: [
      'Find the deadlock between the worker threads of {a} when {b} happens under load',
      'The worker threads of {a} deadlock under load after {b}: find the reason',
    ],
    a: ['the queue', 'the scheduler', 'the connection pool', 'the cache'],
    b: ['a timeout', 'a reconnect', 'a shutdown', 'a retry'],
  },
  {
    name: 'migration',
    share: 0.15,
    strong: 0.93,
    cheap: 0.73,
    forms: [
      'Plan the database schema migration of table {a} to {b} without downtime',
      'Design a zero downtime schema migration of the database table {a} to {b}',
    ],
    a: ['orders', 'accounts', 'payments', 'shipments'],
    b: ['UUID keys', 'partitions', 'a tenant column', 'soft deletes'],
  },
  {
    name: 'extraction (drifts)',
    share: 0.1,
    strong: 0.9,
    cheap: 0.9,
    cheapLater: 0.5,
    forms: [
      'Extract all addresses and phone numbers from the scanned letters of {a} as a CSV for {b}',
      'Read the scanned letters of {a} and extract addresses and phone numbers into a CSV table for {b}',
    ],
    a: ['January', 'March', 'the north branch', 'the archive', 'last year'],
    b: ['accounting', 'the mailing', 'the audit'],
  },
];

export interface DrawnSession {
  readonly session: string;
  readonly family: TaskFamily;
  readonly text: string;
  /** Whether it goes well with each tier. One number decides both, so that the tiers are compared in pairs. */
  readonly well: { readonly cheap: boolean; readonly strong: boolean };
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** The sessions of one run, the same for the same seed. */
export function* drawSessions(
  seed: string,
  count: number,
  families: readonly TaskFamily[] = FAMILIES,
): Generator<DrawnSession> {
  const random = createRandom(`router/${seed}`);
  for (let nth = 0; nth < count; nth++) {
    const family = drawFamily(random, families);
    const luck = random.next();
    const isLate = nth >= count / 2;
    const cheap = isLate ? (family.cheapLater ?? family.cheap) : family.cheap;
    const output = 200 + random.below(1_800);
    yield {
      session: `${seed}-${nth}`,
      family,
      text: pick(random, family.forms)
        .replace('{a}', pick(random, family.a))
        .replace('{b}', pick(random, family.b)),
      well: { cheap: luck < cheap, strong: luck < family.strong },
      usage: { inputTokens: 9 * output, outputTokens: output },
    };
  }
}

function drawFamily(random: Random, families: readonly TaskFamily[]): TaskFamily {
  let left = random.next() * families.reduce((sum, { share }) => sum + share, 0);
  for (const family of families) {
    left -= family.share;
    if (left < 0) return family;
  }
  const last = families.at(-1);
  if (last === undefined) throw new Error('no family');
  return last;
}

const pick = (random: Random, list: readonly string[]): string => list[random.below(list.length)] ?? '';
