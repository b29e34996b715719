import type { Random } from '../../../../src/base/random.ts';
import { between, pick, some } from '../draw.ts';
import type { SplitWordings } from '../files/scene.ts';
import { meansMoment } from '../files/spoken-time.ts';
import type { LocalTime } from '../world.ts';
import { DRAWN_WORDINGS } from './drawn-wordings.ts';
import { KEY_ORDERS } from './key-order-form.ts';
import { capital, NAME_CASES, NAME_DATES } from './new-file-forms.ts';
import type { ValueDraw } from './unseen-values.ts';
import { createTimeFormat } from './value-forms.ts';

const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);

/** A group of random letters. */
const lettersOf = (random: Random, least: number, most: number): string =>
  Array.from({ length: between(random, least, most) }, () =>
    pick(random, [...'abcdefghijklmnopqrstuvwxyz']),
  ).join('');

const upper = (text: string): string => text.toUpperCase();

/** Some times whose figures differ, to see whether a format can be read back. */
const MOMENTS: readonly LocalTime[] = [
  { year: 2026, month: 3, day: 16, hour: 9, minute: 30 },
  { year: 2026, month: 11, day: 5, hour: 17, minute: 45 },
  { year: 2027, month: 1, day: 30, hour: 12, minute: 0 },
];
const isReadable = (pattern: string): boolean =>
  MOMENTS.every((at) => meansMoment(createTimeFormat(pattern).write(at), at));

const OFFSET_HOURS = Array.from({ length: 27 }, (_, at) => at - 12);
const offsetOf = (random: Random): string => {
  const hours = pick(random, OFFSET_HOURS);
  const minutes = pick(random, ['00', '00', '00', '30', '45']);
  return `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}${pick(random, [':', ':', ''])}${minutes}`;
};
const ZONES = ['Z', ' UTC', ' CET', ' GMT', ' local', ' h', ' sharp', ' EST', ' JST', ' hrs'];

/** Parts in any order with any signs; only those that the suite can read back. */
function drawTimeFormat(values: ValueDraw): string {
  for (;;) {
    const { random } = values;
    const zone = random.below(3);
    const end = zone === 0 ? '' : zone === 1 ? values.made(offsetOf) : values.word(ZONES);
    const pattern = values.made(() => {
      const sign = pick(random, ['-', '/', '.', '-', '.', '']);
      const date = pick(random, [
        ['YYYY', 'MM', 'DD'],
        ['DD', 'MM', 'YYYY'],
        ['MM', 'DD', 'YYYY'],
      ]).join(sign);
      const colon = pick(random, [':', ':', '.', 'h']);
      const clock = ['HH', 'mm', ...(random.below(2) === 0 && colon !== 'h' ? ['ss'] : [])].join(colon) + end;
      const joint = pick(random, [' ', 'T', ', ', ' at ', '_', ' @ ', '/', '--', ' on ', ' ~ ', '; ']);
      return (random.below(4) === 0 ? [clock, date] : [date, clock]).join(joint);
    });
    if (isReadable(pattern)) return pattern;
  }
}

const ENDINGS =
  words(`bak orig old prev save copy backup before was keep former last past prior store safe first base init snap mark stash
  spare twin hold ante pre archived kept undo restore rev`);

const drawCopyMark = ({ random, made }: ValueDraw): object => {
  const stem = (): string => (random.below(2) === 0 ? pick(random, ENDINGS) : lettersOf(random, 2, 5));
  if (random.below(3) === 0)
    return {
      prefix: made(() => pick(random, [`${stem()}${pick(random, ['-', '_', '.', '~', '+'])}`, '~', '_'])),
    };
  return {
    suffix: made(() => {
      const sign = pick(random, ['.', '.', '.', '_', '-', '~', '+']);
      const end = pick(random, ['', '', '', '', '1', '2', '0']);
      return random.below(20) === 0 ? pick(random, ['~', '~~', '.~', '-1', '_0']) : `${sign}${stem()}${end}`;
    }),
  };
};

const BLOCKS =
  words(`meta info header origin record props data details head passport label card facts stamp source entry tag block
  extra context history trace dossier frame envelope profile basics sheet credits imprint`);
const TIME_KEYS =
  words(`created_at made_at written_at created made written issued issued_on born_at dated stamped saved_at drawn_up filed
  filed_at opened_on set_down begun_at produced recorded_at logged_at put_in entered prepared_on composed`);
const AUTHOR_KEYS =
  words(`author writer made_by editor written_by creator who issuer maker prepared_by hand clerk signed signer scribe
  drafted_by recorder keeper responsible contact source_person producer origin_name`);
const STATE_KEYS =
  words(`status stage phase condition progress_word step standing lifecycle level mode situation ripeness grade_now
  completion posture shape`);
const STATE_WORDS =
  words(`pending in_progress done open closed draft final new checked ready started complete raw polished waiting cleared
  early late hot cold green amber red planned running ended blocked free idle active frozen live sealed pale fresh stale`);

const LOG_NAMES =
  words(`done work journal finished tasks diary trail minutes ledger register chronicle roll daybook history deeds
  milestones actions steps track output completed closed feats log_all worklist record_all`);
const LOG_ENDINGS = ['.log', '.txt', '.md', '.lst', '.out', '.rec', ''];
const LINE_SIGNS = [
  ' | ',
  '; ',
  ' -- ',
  ' => ',
  ' # ',
  ' :: ',
  ' >> ',
  ' & ',
  ' + ',
  ' % ',
  ' * ',
  ' || ',
  ' ^ ',
  ' -> ',
  ' ! ',
];
const LINE_HEADS = words(
  `DONE OK FIN READY ENDED CLOSED COMPLETE finished Ended Closed ok fin TICK CHECKED x X END Task Work NOTE over`,
);

/** The three parts in any order, with one sign or with brackets between them, and often a word in front. */
function drawLine(random: Random): string {
  const parts = some(random, ['<timestamp>', '<task id>', '<summary>'], 3);
  const sign = pick(random, LINE_SIGNS);
  const line =
    random.below(4) === 0
      ? `${pick(random, ['(', '[', '{'])}${parts[0]}${sign}${parts[1]}${sign}${parts[2]}${pick(random, [')', ']', '}', ' .'])}`
      : parts.join(sign);
  const head = random.below(3) === 0 ? lettersOf(random, 2, 4) : pick(random, LINE_HEADS);
  const begin = pick(random, [
    '',
    `[${head}] `,
    `${head}${sign}`,
    `${head}: `,
    `<${head}> `.replaceAll(/[<>]/g, '*'),
    '- ',
    '> ',
  ]);
  return begin + line;
}

const PREFIX_SIGNS = ['-', '-', '/', ':', '#', '.', '_', '~', '', '--', '+', '='];
const drawTicketPrefix = (random: Random): string => {
  const letters =
    random.below(5) === 0
      ? pick(random, words('OPS DEV BUG JOB TASK TK WEB SHOP IT CASE REQ INC'))
      : lettersOf(random, 1, 5);
  const sign = pick(random, PREFIX_SIGNS);
  return (
    (random.below(3) === 0
      ? random.below(2) === 0
        ? letters.toLowerCase()
        : capital(letters.toLowerCase())
      : upper(letters)) + sign
  );
};

/** What stands between a number and its unit. */
const JOINTS = [
  ...[' ', '', '_', '-', '/', ':', '~', '*', '.', '=', '+', '&', '^', '#', '@', '|', '>', ';', '%'],
  ...[
    '--',
    ' - ',
    ' / ',
    ' : ',
    ' of ',
    ' in ',
    ' x ',
    ' | ',
    ' * ',
    '__',
    '::',
    '->',
    ' ~ ',
    ' as ',
    ' full ',
    ' whole ',
    ' = ',
  ],
  ...[' + ', ' & ', ' # ', ' > ', ' -> ', ' :: ', ' true ', ' net ', ' gross ', ' flat ', ', ', '; ', ' @ '],
];

const REMARK_KEYS =
  words(`_comment _note _remark _head _notice _about _use _label _banner _legend _top _intro _hint _caption _preface _lead
  _terms _access _scope _flag _tag _sign _title_line _rights _class`);
const REMARK_STARTS = [
  'For',
  'Only for',
  'Not for',
  'Made by',
  'Kept for',
  'Copy for',
  'Draft for',
  'Ask',
  'Seen by',
  'Held by',
  'Meant for',
];
const REMARK_NAMES =
  words(`office team board press staff partners auditors lawyers archive branch depot kitchen desk shop crew council
  owners night_shift trainees guests suppliers reception head_office accounting workshop`);
const REMARK_ENDS = [
  '',
  '',
  ' alone',
  ' first',
  ' - do not share',
  ' - keep',
  ' until spring',
  ' and nobody else',
  ' - provisional',
  ' today',
];
const drawRemark = (random: Random): string =>
  `${pick(random, REMARK_STARTS)} the ${pick(random, REMARK_NAMES).replace('_', ' ')}${pick(random, REMARK_ENDS)}`;

const SUM_NAMES =
  words(`sums hashes files sha256 digests prints marks fingerprints control manifest checks seals proofs tallies
  integrity verify_list stock inventory check_all checksums hashlist sealed`);

/** A rule form that rules are drawn from: its subject, a wide generator of its parameters, and how people speak of it. */
export interface DrawnForm {
  /** The name of the rule form. */
  readonly name: string;
  /** Its subject, without stating the rule: `how a ticket is written`. */
  readonly about: string;
  /** What it decides; two rules that decide the same may contradict each other. */
  readonly claims: readonly string[];
  draw(values: ValueDraw): unknown;
  /** Feedback; `{…}` are the words of the form. Some show only an example, some only describe. */
  readonly wordings: SplitWordings;
}

export const DRAWN_FORMS: readonly DrawnForm[] = [
  {
    name: 'times',
    about: 'how a date or a time is written',
    claims: ['time'],
    draw: (values) => ({ format: drawTimeFormat(values) }),
    wordings: DRAWN_WORDINGS.times,
  },
  {
    name: 'file-names',
    about: 'how a new file is named',
    claims: ['file-name'],
    draw: ({ random, word }) => ({
      date: word(NAME_DATES),
      place: pick(random, ['front', 'end']),
      words: word(Object.keys(NAME_CASES)),
    }),
    wordings: DRAWN_WORDINGS['file-names'],
  },
  {
    name: 'metadata',
    about: 'what a new file says about itself',
    claims: ['block'],
    draw: ({ random, word, words: several }) => ({
      under: word(BLOCKS),
      time: word(TIME_KEYS),
      author: word(AUTHOR_KEYS),
      state: word(STATE_KEYS),
      states: several(STATE_WORDS, between(random, 2, 3)),
    }),
    wordings: DRAWN_WORDINGS.metadata,
  },
  {
    name: 'backup',
    about: 'what is done around a change to a file',
    claims: ['copy'],
    draw: drawCopyMark,
    wordings: DRAWN_WORDINGS.backup,
  },
  {
    name: 'done-log',
    about: 'how a finished task is noted',
    claims: ['log'],
    draw: ({ random, made }) => ({
      file: made(
        () =>
          `${pick(random, ['', '', 'logs/', 'office-log/'])}${pick(random, LOG_NAMES)}${pick(random, LOG_ENDINGS)}`,
      ),
      line: made(drawLine),
      longest: 5 * between(random, 7, 24),
    }),
    wordings: DRAWN_WORDINGS['done-log'],
  },
  {
    name: 'ticket-prefix',
    about: 'how a ticket is written',
    claims: ['ticket'],
    draw: ({ made }) => ({ prefix: made(drawTicketPrefix) }),
    wordings: DRAWN_WORDINGS['ticket-prefix'],
  },
  {
    name: 'units',
    about: 'how an amount is written',
    claims: ['amount'],
    draw: ({ word }) => ({ separator: word(JOINTS) }),
    wordings: DRAWN_WORDINGS.units,
  },
  {
    name: 'sorted-keys',
    about: 'the order in a JSON file',
    claims: ['keys', 'first-key', 'last-key'],
    draw: ({ word }) => ({ order: word(Object.keys(KEY_ORDERS)) }),
    wordings: DRAWN_WORDINGS['sorted-keys'],
  },
  {
    name: 'header-comment',
    about: 'how a new file begins',
    claims: ['first-key'],
    draw: ({ word, made }) => ({ key: word(REMARK_KEYS), text: made(drawRemark) }),
    wordings: DRAWN_WORDINGS['header-comment'],
  },
  {
    name: 'checksums',
    about: 'what is kept about files that were written or changed',
    claims: ['sums'],
    draw: ({ random, made }) => ({
      file: made(
        () =>
          `${pick(random, ['', '', 'sums/', 'control/'])}${pick(random, SUM_NAMES)}${pick(random, ['.txt', '.sha', '.lst', '.sum', '.md5x'])}`,
      ),
    }),
    wordings: DRAWN_WORDINGS.checksums,
  },
];
