import type { Random } from '../../../src/base/random.ts';
import { between, fill, forSplit, pick, some } from '../workdays/draw.ts';
import type { Split } from '../workdays/world.ts';

/** What kind of file a task asks for. */
export type DeskFamily = 'python' | 'yaml' | 'note' | 'sql' | 'commit';
export const DESK_FAMILIES: readonly DeskFamily[] = ['python', 'yaml', 'note', 'sql', 'commit'];

/** What the file of a task must contain, and what rules look at. */
type DeskFacts = Readonly<Record<string, string>>;

/** One request for one small file. */
export interface DeskTask {
  readonly family: DeskFamily;
  readonly request: string;
  readonly facts: DeskFacts;
  /** Whether the file does what was asked for, whatever the house rules are. */
  isDone(file: string): boolean;
}

const STEM = 4;

function isDeskFile(file: string, family: DeskFamily, facts: DeskFacts): boolean {
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => file.toLowerCase().includes((facts[name] ?? '').toLowerCase()));
  switch (family) {
    case 'python':
      return (
        new RegExp(`def\\s+${facts.name}\\s*\\(`).test(file) &&
        /\breturn\b/.test(file) &&
        /\braise\b/.test(file)
      );
    case 'yaml':
      return has('owner', 'port', 'seconds') && /^[\s-]*[\w"']+:/m.test(file);
    case 'note':
      return (facts.keys ?? '').split(' ').every((key) => file.toLowerCase().includes(key));
    case 'sql':
      return /\bselect\b/i.test(file) && has('table', 'column') && /\bwhere\b/i.test(file);
    case 'commit':
      // "retries" may become "retry".
      return file.length > 10 && file.toLowerCase().includes((facts.object ?? '').slice(0, STEM));
  }
}

/** A file is the reply's first fenced block, or the whole reply where it has none. How it is wrapped does not matter. */
export function fileIn(reply: string): string {
  const fenced = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\1|$(?![\s\S]))/m.exec(reply);
  const inline = /^`{1,3}(?:\w+ )?([^`\n]+)`{1,3}$/.exec(reply.trim());
  const quoted = /^"([^"\n]+)"$/.exec(reply.trim());
  return (fenced?.[2] ?? inline?.[1] ?? quoted?.[1] ?? reply).replace(/^\n+/, '').trim();
}

const FUNCTIONS: readonly (readonly [name: string, what: string, error: string])[] = [
  ['mean_of', 'returns the mean of a list of numbers', 'the list is empty'],
  ['longest_word', 'returns the longest word of a text', 'the text is empty'],
  ['count_vowels', 'returns how many vowels a text has', 'the text is None'],
  [
    'largest_gap',
    'returns the largest difference between neighbours in a list',
    'the list has fewer than two numbers',
  ],
  ['to_celsius', 'turns degrees Fahrenheit into degrees Celsius', 'the value is below absolute zero'],
  ['initials', 'returns the initials of a full name', 'the name is empty'],
  ['clamp', 'limits a number to the range from low to high', 'low is greater than high'],
  ['dedupe', 'returns a list without duplicates, in the same order', 'the argument is not a list'],
  ['percent', 'returns what percentage part is of whole', 'whole is zero'],
  ['nth_line', 'returns the line of a text with a given number', 'there is no such line'],
  ['join_path', 'joins a folder and a file name with a slash', 'the file name is empty'],
  ['days_between', 'returns the number of days between two dates', 'the second date is earlier'],
  ['shorten', 'cuts a text to a number of characters', 'the number is negative'],
  ['product_of', 'returns the product of a list of numbers', 'the list is empty'],
  ['parse_pair', 'splits a text such as "a=b" into its key and value', 'there is no equals sign'],
  ['median_of', 'returns the median of a list of numbers', 'the list is empty'],
  ['is_leap', 'says whether a year is a leap year', 'the year is negative'],
  ['repeat_text', 'repeats a text a number of times', 'the number is negative'],
];
const SERVICES = [
  'mailer',
  'indexer',
  'thumbs',
  'gateway',
  'billing',
  'crawler',
  'reports',
  'sessions',
  'uploads',
  'search',
  'metrics',
  'exports',
  'alerts',
  'calendar',
  'presence',
];
const OWNERS = [
  'Imke',
  'Ravi',
  'Noor',
  'Pavel',
  'Jette',
  'Lucia',
  'Henrik',
  'Oona',
  'Sanna',
  'Tomas',
  'Aiko',
  'Bram',
];
const EVENTS: readonly (readonly [what: string, key: string])[] = [
  ['the export is done', 'export'],
  ['the audit starts on Monday', 'audit'],
  ['the server was moved', 'server'],
  ['two tests fail', 'tests'],
  ['the invoice is missing', 'invoice'],
  ['the new desk has arrived', 'desk'],
  ['the backup ran twice', 'backup'],
  ['the contract is signed', 'contract'],
  ['the printer works again', 'printer'],
  ['the old domain expires', 'domain'],
  ['the survey has 40 answers', 'survey'],
  ['the release is on hold', 'release'],
  ['the badge system is down', 'badge'],
  ['the budget was approved', 'budget'],
  ['the translation is late', 'translation'],
  ['the heating is fixed', 'heating'],
  ['the trial ends on Friday', 'trial'],
  ['the map has errors', 'map'],
];
const TABLES: readonly (readonly [table: string, column: string, condition: string])[] = [
  ['orders', 'total', 'the total is over 100'],
  ['users', 'email', 'the account is active'],
  ['visits', 'page', 'the visit was today'],
  ['invoices', 'amount', 'the invoice is unpaid'],
  ['shipments', 'weight', 'the weight is under 5'],
  ['tickets', 'title', 'the state is open'],
  ['products', 'price', 'the price is below 20'],
  ['sensors', 'reading', 'the reading is negative'],
  ['books', 'isbn', 'the year is 2029'],
  ['trips', 'distance', 'the distance is over 50'],
  ['rooms', 'capacity', 'the capacity is at least 8'],
  ['refunds', 'reason', 'the refund is pending'],
];
const CHANGES: readonly (readonly [change: string, object: string])[] = [
  ['the cache is emptied at night', 'cache'],
  ['the login page remembers the language', 'login'],
  ['retries wait twice as long each time', 'retries'],
  ['the parser accepts empty lines', 'parser'],
  ['the menu closes with Escape', 'menu'],
  ['the importer skips broken rows', 'importer'],
  ['the clock shows seconds', 'clock'],
  ['the queue has a limit of 500', 'queue'],
  ['the footer names the version', 'footer'],
  ['the scheduler starts at boot', 'scheduler'],
  ['the filter ignores case', 'filter'],
  ['the report has page numbers', 'report'],
];
const AREAS = ['web', 'api', 'core', 'docs', 'mail', 'auth', 'build', 'store', 'jobs'];
const RISKS = ['low', 'medium', 'high'];

const REQUESTS: Readonly<Record<DeskFamily, readonly string[]>> = {
  python: [
    'Write a Python function {name} that {what}. If {error}, it raises an error.',
    'I need a Python function called {name}: it {what}, and raises an error when {error}.',
    'Python please: {name}, which {what}. Raise an error if {error}.',
  ],
  yaml: [
    'Write the YAML settings of the service {service}: port {port}, time-out {seconds} seconds, owner {owner}, tracing switched {switch}.',
    'YAML for {service}, please. It listens on port {port}, times out after {seconds} seconds, belongs to {owner}, and tracing is {switch}.',
    'Settings file (YAML) for {service}: owner {owner}, port {port}, tracing {switch}, time-out of {seconds} seconds.',
  ],
  note: [
    'Write a short note to the team with three points: {first}; {second}; {third}.',
    'A note for everybody, please. Points: {first}, {second}, {third}.',
    'Tell the team in a note that {first}, that {second} and that {third}; one point each.',
  ],
  sql: [
    'Write an SQL query for the column {column} of the table {table} where {condition}.',
    'SQL: {column} from {table}, only where {condition}.',
    'I need a query on the table {table}: show {column} if {condition}.',
  ],
  commit: [
    'Write the commit message for this change in the area {area}: {change}. Ticket {ticket}, risk {risk}.',
    'Commit message, please: {change} (area {area}, ticket {ticket}, the risk is {risk}).',
    'What would the commit message be? Area {area}; {change}; ticket {ticket}; risk {risk}.',
  ],
};

/** A task of a family with names and numbers of a split. */
export function drawDeskTask(family: DeskFamily, split: Split, random: Random): DeskTask {
  const facts = drawFacts(family, split, random);
  return {
    family,
    facts,
    request: fill(pick(random, REQUESTS[family]), facts),
    isDone: (file) => isDeskFile(file, family, facts),
  };
}

function drawFacts(family: DeskFamily, split: Split, random: Random): DeskFacts {
  const from = <T>(list: readonly T[]): T => pick(random, forSplit(list, split));
  switch (family) {
    case 'python': {
      const [name, what, error] = from(FUNCTIONS);
      return { name, what, error };
    }
    case 'yaml':
      return {
        service: from(SERVICES),
        owner: from(OWNERS),
        port: String(between(random, 3000, 9800)),
        seconds: String(between(random, 12, 95)),
        switch: pick(random, ['on', 'off']),
      };
    case 'note': {
      const [first, second, third] = some(random, forSplit(EVENTS, split), 3);
      const keys = [first, second, third].map((event) => event?.[1] ?? '').join(' ');
      return { first: first?.[0] ?? '', second: second?.[0] ?? '', third: third?.[0] ?? '', keys };
    }
    case 'sql': {
      const [table, column, condition] = from(TABLES);
      return { table, column, condition };
    }
    case 'commit': {
      const [change, object] = from(CHANGES);
      return {
        change,
        object,
        area: from(AREAS),
        ticket: String(between(random, 101, 989)),
        risk: pick(random, RISKS),
      };
    }
  }
}
