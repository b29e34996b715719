/** What people decide about: a matter and the ways in which it could be settled, all of which somebody may favour. */
export interface Topic {
  readonly name: string;
  readonly ways: readonly [string, string, string, string];
}

const topic = (name: string, ...ways: Topic['ways']): Topic => ({ name, ways });

export const TOPICS: readonly Topic[] = [
  topic('invoice export', 'a nightly batch', 'an hourly batch', 'a stream of events', 'a release by hand'),
  topic('price list', 'one list per country', 'one list per branch', 'a single list', 'lists by season'),
  topic(
    'till backup',
    'a disk in the branch',
    'a copy in the depot',
    'the regional store',
    'two rented servers',
  ),
  topic('shift planning', 'fixed rosters', 'open shifts', 'a weekly bid', 'rosters by the branch'),
  topic(
    'refund limit',
    'a limit per visit',
    'a limit per month',
    'no limit for members',
    'approval by a lead',
  ),
  topic('label format', 'short codes', 'coloured bands', 'plain numbers', 'printed squares'),
  topic('courier contract', 'one carrier', 'two carriers by region', 'a yearly tender', 'own drivers'),
  topic(
    'error alerts',
    'a call to the duty phone',
    'a digest at noon',
    'a board in the office',
    'a message per team',
  ),
  topic('menu pictures', 'drawings', 'studio photographs', 'pictures by guests', 'no pictures'),
  topic('data retention', 'ninety days', 'one year', 'two seasons', 'the time until the audit'),
  topic('login method', 'badges', 'one-time codes', 'a shared kiosk key', 'passwords with renewal'),
  topic(
    'opening hours',
    'the same hours everywhere',
    'long Fridays',
    'hours set by the branch',
    'short winter days',
  ),
  topic('stock count', 'a rolling count', 'a yearly count', 'a count by scanner', 'a count by weight'),
  topic('supplier portal', 'a bought portal', 'a shared mailbox', 'forms on the web', 'the old portal'),
  topic('loyalty scheme', 'stamps', 'points by amount', 'a yearly refund', 'gifts on birthdays'),
  topic(
    'search index',
    'a rebuild each night',
    'changes as they come',
    'a rebuild on demand',
    'a copy per region',
  ),
  topic('branch heating', 'heat pumps', 'district heat', 'timed heaters', 'the present boilers'),
  topic(
    'complaint desk',
    'a desk per region',
    'a central desk',
    'a desk run by a partner',
    'replies by the branch',
  ),
  topic('parcel lockers', 'lockers at stations', 'lockers at branches', 'rented lockers', 'no lockers'),
  topic('test data', 'masked copies', 'generated records', 'a small fixed set', 'records by volunteers'),
  topic('gift cards', 'printed cards', 'codes by mail', 'cards from a partner', 'balances in the account'),
  topic('road tolls', 'a box in each van', 'monthly vouchers', 'routes without tolls', 'refunds to drivers'),
  topic('audit trail', 'a ledger per branch', 'a central ledger', 'signed pages', 'a weekly printout'),
  topic(
    'training of new staff',
    'a day in the school',
    'a week with a mentor',
    'short films',
    'a written guide',
  ),
  topic('packaging', 'paper sleeves', 'returnable boxes', 'thin film', 'boxes of the supplier'),
  topic('queue display', 'numbers on paper', 'a wall screen', 'messages to telephones', 'a host at the door'),
  topic(
    'release rhythm',
    'every second Tuesday',
    'the first of the month',
    'releases when ready',
    'a week after each stocktake',
  ),
  topic('currency rounding', 'steps of five cents', 'steps of ten cents', 'no rounding', 'the lower amount'),
  topic('map provider', 'tiles we host', 'a bought service', 'the city survey', 'a sketch per branch'),
  topic('holiday cover', 'swaps between branches', 'temporary staff', 'closed weeks', 'cover by the office'),
];

/** Why something was decided; `#` stands for an amount of the world. */
export const REASONS: readonly string[] = [
  'it saves # EUR a month in the first year',
  'the pilot ran # days without a complaint',
  '# of the branches asked for it',
  'the other ways need # more hours of training',
  'the contract allows it without a fee until # orders are reached',
  'it cut the error count of the trial by #',
  'it can be undone within # minutes',
  'the auditors accept it for up to # records',
  'it frees # hours of desk work each quarter',
  'the present way failed # times last season',
  'support expects # fewer calls',
  'it keeps the queue below # entries',
];
