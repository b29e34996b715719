const words = (text: string): readonly string[] =>
  text.split(',').map((word) => word.trim().replace(/\s+/g, ' '));

/** Given names and family names; every list here is cut in three by `forSplit`. */
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

export const SEGMENTS = words(`
large-town branches, village branches, motorway branches, franchise branches, harbour branches, airport branches, new branches, seasonal
branches, flagship branches, partner kiosks, market stalls, department-store corners, station kiosks, hospital kiosks, museum shops,
drive-in branches, island branches, school canteens`);

/** Where a figure was read off. */
export const SOURCES = words(`
the spring branch survey, the till journal, the door counters, the field interviews, the warehouse ledger, the courier invoices, the
telephone sample, the autumn price check, the booking records, the exit questionnaire, the energy meters, the helpdesk archive, the pilot
diary, the supplier statements, the shelf scans, the mystery visits, the delivery receipts, the web statistics`);

/** What is measured, in which unit, and how large it usually is. */
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
