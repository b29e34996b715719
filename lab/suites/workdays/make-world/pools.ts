const words = (text: string): readonly string[] =>
  text.split(',').map((word) => word.trim().replace(/\s+/g, ' '));

/** Given and family names; `forSplit` divides every list of this file by split. */
export const GIVEN_NAMES = words(`
Ada, Bruno, Carla, Dario, Elif, Farid, Greta, Hamid, Ines, Jonas, Kaya, Lorenz, Mira, Nils, Oona, Pavel, Quinn, Rosa, Sami, Tilda, Umar,
Vera, Wim, Xenia, Yusuf, Zora, Anselm, Bea, Cyril, Dunja, Emre, Flora, Gero, Hedda, Ilja, Jette, Kilian, Lale, Matteo, Nadia, Oskar, Petra`);

export const FAMILY_NAMES = words(`
Abend, Brandt, Castell, Dorn, Eklund, Farkas, Grau, Holm, Irving, Jansen, Kovac, Lindqvist, Marino, Novak, Okafor, Perrin, Quist, Rossi,
Sander, Tanaka, Ulrich, Vasquez, Winter, Xu, Yilmaz, Zeller, Arslan, Berg, Conti, Duarte, Engel, Fonseca, Gruber, Haas, Ivanov, Juhl,
Keller, Lund, Moreau, Nagy, Ortega, Pohl`);

export const COMPANIES = words(`
Tallow & Pine, Brightwater Supply, Cobble Lane Foods, Norden Freight, Hazel Street Books, Ferrous Tools, Open Orchard, Millrace Energy,
Quayside Clinics, Saltbox Hotels, Linden Textiles, Greywacke Stone, Copperleaf Dental, Harbourline Ferries, Wren & Sparrow Toys,
Larkfield Dairy, Stonebridge Archives, Velvet Kettle Cafes`);

export const PRODUCTS = words(`
Ledgerly, Shelfmark, Routewise, Tablekeeper, Fieldnote, Parcelpath, Nightdesk, Stockhand, Ovenclock, Docket, Wayfinder, Tidebook, Clipboard
One, Rosterly, Millwheel, Signpost, Cartographer, Daybook`);

export const PROJECTS = words(`
Heron, Basalt, Juniper, Kestrel, Marble, Willow, Osprey, Granite, Clover, Falcon, Pumice, Sorrel, Plover, Slate, Yarrow, Curlew, Flint,
Thistle, Magpie, Quartz, Bracken, Dunlin, Gneiss, Saffron, Linnet, Obsidian, Tansy, Merlin, Chalk, Hyssop, Siskin, Onyx, Borage, Avocet,
Jasper, Fennel`);

/** Labels of documents. */
export const TAGS = words(`
urgent, internal, weekly, trial, budget, safety, legal, north, south, retail, online, repair, training, storage, energy, hiring, menu, vans,
tools, winter, summer, pilot, audit, vendor, fleet, claims, stock, archive, lease, print, design, labels, events, water, music, kitchen,
night, rural, export, coast, bakery, rental`);

export const ROLES = words(`
operations lead, backend lead, finance partner, head of branches, product owner, data analyst, release engineer, support lead,
purchasing lead`);

export const TICKET_VERBS = words(`
Fix, Rewrite, Speed up, Document, Remove, Harden, Simplify, Test, Split, Translate, Replace, Audit, Cache, Rename, Repair, Validate, Merge,
Trim`);

export const TICKET_OBJECTS = words(`
rounding in the refund form, the courier label printer, the loyalty import, stale prices at the till, the returns queue, duplicate
supplier records, the opening-hours widget, the gift-card balance check, slow search by street, the shift swap dialog, missing tax codes
on quotes, the cold-chain alarm, the voucher mailer, picture upload for menus, the lost-property list, reminder texts for appointments,
the seating plan editor, time stamps on delivery slips, the monthly rent report, address lookup abroad, the waiting-list counter, the
stocktake export, the deposit ledger, barcode reading in poor light, the driver hand-over screen, currency signs in receipts, the repair
estimate page, the parcel weight field, two-person approval of discounts, the allergen table, the invoice archive, queue lengths on the
wall display, the key return log, the first-login tour, split payments, the recall notice list`);

/** The sources of figures. */
export const SOURCES = words(`
the spring branch survey, the till journal, the door counters, the field interviews, the warehouse ledger, the courier invoices, the
telephone sample, the autumn price check, the booking records, the exit questionnaire, the energy meters, the helpdesk archive, the pilot
diary, the supplier statements, the shelf scans, the mystery visits, the delivery receipts, the web statistics`);

/** Metrics with their unit and usual range. */
export const METRICS: readonly (readonly [name: string, unit: string, low: number, high: number])[] = [
  ['daily takings per branch', 'EUR', 1800, 6400],
  ['time to pack an order', 'seconds', 70, 400],
  ['visitors per opening hour', 'visitors', 9, 90],
  ['rent per square metre', 'EUR', 12, 78],
  ['waste per branch and week', 'kg', 14, 160],
  ['answer time of the stock search', 'ms', 90, 900],
  ['basket value', 'cents', 900, 5200],
  ['returns per thousand orders', 'returns', 8, 90],
  ['calls per hundred deliveries', 'calls', 3, 48],
  ['energy per branch and day', 'kWh', 40, 420],
  ['waiting time at the counter', 'seconds', 35, 520],
  ['repeat visits per member and year', 'visits', 3, 42],
  ['cost of a delivery', 'cents', 250, 1400],
  ['hours open per week', 'hours', 30, 96],
  ['complaints per ten thousand visits', 'complaints', 5, 88],
  ['start time of the till program', 'ms', 800, 9000],
  ['staff hours per branch and week', 'hours', 60, 420],
  ['price of the standard basket', 'cents', 1100, 4800],
  ['parcels per courier round', 'parcels', 18, 140],
  ['unsold items per day', 'items', 4, 120],
  ['days from order to shelf', 'days', 3, 40],
  ['gift cards sold per month', 'cards', 20, 600],
  ['size of the nightly export', 'MB', 30, 900],
  ['deposits returned per day', 'deposits', 10, 300],
  ['minutes to close the books', 'minutes', 12, 180],
  ['failed card payments per day', 'payments', 3, 70],
  ['distance of a delivery', 'km', 3, 60],
  ['new members per branch and month', 'members', 4, 150],
  ['memory of the kiosk program', 'MB', 120, 1900],
  ['bookings per table and week', 'bookings', 5, 60],
];

/** The topics of decisions, with their alternatives. */
interface Topic {
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

/** Rationales of decisions; `#` stands for an amount. */
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
