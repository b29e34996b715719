import { pick } from '../draw.ts';
import type { DrawnForm } from './drawn-form.ts';
import { lettersOf } from './first-forms.ts';
import { KEY_ORDERS } from './key-order-form.ts';
import type { ValueDraw } from './split-values.ts';
import { STRUCTURE_WORDINGS } from './structure-wordings.ts';

const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);

/** No key is in two of these lists, nor in a task, nor in the block of metadata. */
const FIXED_KEYS =
  words(`reviewed class room priority region channel season country branch currency_code language audience quality shift floor
  wing sector market zone tier crew unit_code colour flavour format_no visibility budget_line cost_centre team_code urgency`);
const FIXED_VALUES =
  words(`no yes none open north south low high plain basic internal_use draft_copy one two blue green first second main
  side early late public private small large daily weekly_run temporary regular standard extra`);
const TASK_KEYS =
  words(`task job errand assignment request_no for_task order_no task_ref work_item job_no origin_task task_code errand_no
  came_from caused_by duty mission ticket_of_work slip_no docket_no`);
const PERSON_KEYS =
  words(`asked_by client requester sponsor on_behalf_of for_whom commissioned_by wanted_by principal customer_name ordered_by
  initiator patron petitioner applicant sender_name`);
const FOLDER_KEYS =
  words(`place drawer kept_in location shelf_name stored_under lives_in cabinet_name home_folder directory section_name
  bin_name tray`);
const LAST_KEYS = words(
  `end closing eof finish stop_here last_word tail over_and_out bottom fin outro sign_off the_end full_stop`,
);

const RENAMED: Readonly<Record<string, readonly string[]>> = {
  topic: words(
    'subject theme matter heading project_name thing concern area field_of_work item_name caption headword',
  ),
  due: words(
    'deadline until latest finish_by by_when target_time limit end_time expiry last_call cutoff wanted_at',
  ),
  owner: words(
    'lead assignee handler_name minder in_charge carrier caretaker pilot captain steward host_name point_person',
  ),
  cost: words('price expense spend charge fee outlay sum_due bill payable money total_price price_tag'),
};
const KEY_SIGNS = ['_', '-', '.', '_', '~', '+'];
const FILE_WORDS =
  words(`doc new file page sheet paper item piece entry form slip draft leaf text work own team desk copy note_of v1 v2 rev one
  first main std gen out res`);

const keyMark = ({ random, made }: ValueDraw, isBefore: boolean): object => ({
  mark: made(() => {
    const [stem, sign] = [lettersOf(random, 1, 4), pick(random, KEY_SIGNS)];
    return isBefore ? stem + sign : sign + stem;
  }),
});
const fileMark = ({ random, made }: ValueDraw, isBefore: boolean): object => ({
  mark: made(() => {
    const stem = random.below(2) === 0 ? pick(random, FILE_WORDS) : lettersOf(random, 2, 4);
    const sign = pick(random, ['-', '_', '.', '+', '~', '=', '--', '@']);
    return isBefore ? stem + sign : sign + stem;
  }),
});

const SEPARATORS = [
  ...[
    ', ',
    '; ',
    ' / ',
    ' | ',
    ' + ',
    ' & ',
    ' - ',
    '|',
    ';',
    '/',
    '+',
    '&',
    ' * ',
    ' # ',
    ' :: ',
    '::',
    ' -> ',
    '->',
    ' ~ ',
    '~',
    '*',
    ',',
  ],
  ...[
    ' = ',
    '=',
    ' % ',
    '%',
    ' ^ ',
    '^',
    ' > ',
    '>',
    ' : ',
    ':',
    ' .. ',
    '..',
    ' -- ',
    '--',
    '//',
    '||',
    '&&',
    ' @ ',
    '@',
    ' ! ',
  ],
];
const NUMBER_SIGNS = [
  '. ',
  ') ',
  ': ',
  ' - ',
  '.',
  ')',
  ':',
  '-',
  '/',
  ' / ',
  '] ',
  ' = ',
  '# ',
  ' | ',
  '|',
  ' > ',
  '~',
];
const EMPTY_WORDS = words(
  'none n/a nil - -- nothing empty zero null_list no_tags void blank absent not_any x ... 0 untagged missing unset',
);

const LINE_FILES =
  words(`index contents catalogue new_files register_new shelflist overview arrivals births creations listing files_made table
  directory_list intake stocklist accession`);
const EDIT_FILES =
  words(`changes edits revisions changed touched alterations updates modified rework amendments corrections_made diffs
  changelist turnover`);
const LINE_ENDINGS = ['.txt', '.lst', '.idx', '.md', '.list', '.tab'];
const LINES = [
  ...[
    '<path>',
    '<task id>: <path>',
    '<path> (<task id>)',
    '<path>; <person>',
    '<person>: <path>',
    '- <path>',
    '+ <path>',
    '<task id> | <path>',
  ],
  ...[
    '<path> | <person>',
    '[<task id>] <path>',
    '* <path> by <person>',
    '<path> <- <task id>',
    '<task id> -> <path>',
    'NEW <path>',
    '> <path>',
  ],
  ...[
    '<path> # <task id>',
    '<person> / <task id> / <path>',
    '<path>, <task id>, <person>',
    '= <path> =',
    '<path> :: <person>',
    'see <path>',
  ],
  ...[
    '<task id>; <person>; <path>',
    '(<person>) <path>',
    '<path> for <task id>',
    'file <path>',
    '~ <path>',
    '<path> ok',
    'x <path>',
  ],
];
const drawLineFile = ({ random, made, word }: ValueDraw, names: readonly string[]): object => ({
  file: made(() => pick(random, names) + pick(random, LINE_ENDINGS)),
  line: word(LINES),
});

const FLAG_FOLDERS = words(
  'flags marks signs ticks finished_marks badges tokens lamps beacons receipts'.replace(
    'finished_marks ',
    '',
  ),
);
const FLAG_ENDINGS = ['.ok', '.done', '.fin', '.yes', '.end', '.set', '.tick', '.flag'];
const FLAG_WORDS = words('ok done yes finished ready true end complete fine good closed over');

type Name = keyof typeof STRUCTURE_WORDINGS;
type Row = readonly [Name, about: string, claim: string, DrawnForm['draw'], DrawnForm['heldOut']?];

const FIELDS = 'what a new file has besides what was asked for';
const TABLE: readonly Row[] = [
  [
    'field-fixed',
    FIELDS,
    'field-fixed',
    ({ word }) => ({ key: word(FIXED_KEYS), value: word(FIXED_VALUES) }),
  ],
  ['field-task', FIELDS, 'field-task', ({ word }) => ({ key: word(TASK_KEYS) })],
  ['field-person', FIELDS, 'field-person', ({ word }) => ({ key: word(PERSON_KEYS) })],
  [
    'key-rename',
    'what a key is called',
    'keys',
    ({ random, word }) => {
      const from = pick(random, Object.keys(RENAMED));
      return { from, to: word(RENAMED[from] ?? []) };
    },
  ],
  ['key-prefix', 'how keys are written', 'keys', (values) => keyMark(values, true)],
  ['list-joined', 'how a list of tags is written', 'list', ({ word }) => ({ separator: word(SEPARATORS) })],
  ['list-sorted', 'the order of tags', 'list', ({ word }) => ({ order: word(Object.keys(KEY_ORDERS)) })],
  ['file-prefix', 'how a new file is named', 'file-name', (values) => fileMark(values, true)],
  ['new-line', 'where a new file is listed', 'new-line', (values) => drawLineFile(values, LINE_FILES)],
  // A derived value is seen, but not this one.
  ['field-folder', FIELDS, 'field-folder', ({ word }) => ({ key: word(FOLDER_KEYS) }), 'new pair'],
  // Suffixes are seen, but not on keys, nor on file names.
  ['key-suffix', 'how keys are written', 'keys', (values) => keyMark(values, false), 'new pair'],
  ['file-suffix', 'how a new file is named', 'file-name', (values) => fileMark(values, false), 'new pair'],
  // Cases are seen on values, not on keys.
  [
    'key-case',
    'how keys are written',
    'keys',
    ({ random }) => ({ case: pick(random, ['upper', 'capital']) }),
    'new pair',
  ],
  // Lines elsewhere are seen for new files, copies for changed files.
  [
    'edit-line',
    'where a changed file is listed',
    'edit-line',
    (values) => drawLineFile(values, EDIT_FILES),
    'new pair',
  ],
  [
    'copy-new',
    'what is done with a new file',
    'copy-new',
    ({ random, made }) => ({
      suffix: made(() => pick(random, ['.', '_', '-', '~']) + lettersOf(random, 2, 5)),
    }),
    'new pair',
  ],
  // Fixed values are seen, and a first key, but nothing that must come last.
  [
    'field-last',
    'how a new file ends',
    'last-key',
    ({ word }) => ({ key: word(LAST_KEYS), value: word(FIXED_VALUES) }),
    'new operation',
  ],
  [
    'list-numbered',
    'how a list of tags is written',
    'list',
    ({ word }) => ({ sign: word(NUMBER_SIGNS) }),
    'new operation',
  ],
  [
    'list-empty',
    'how a list without tags is written',
    'list',
    ({ word }) => ({ word: word(EMPTY_WORDS) }),
    'new operation',
  ],
  [
    'flag-file',
    'what is left when a task is finished',
    'flag',
    ({ random }) => ({
      folder: pick(random, FLAG_FOLDERS),
      ending: pick(random, FLAG_ENDINGS),
      word: pick(random, FLAG_WORDS),
    }),
    'new operation',
  ],
];

export const STRUCTURE_DRAWS: readonly DrawnForm[] = TABLE.map(([name, about, claim, draw, heldOut]) => ({
  ...{ name, about, draw },
  claims: [claim],
  wordings: STRUCTURE_WORDINGS[name],
  ...(heldOut !== undefined && { heldOut }),
}));
