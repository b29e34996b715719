/** Words that negate an instruction; two of them cancel out. */
export const NEGATIONS: ReadonlySet<string> = new Set(
  (
    "never not no don't doesn't didn't isn't aren't mustn't shouldn't can't cannot won't needn't without avoid avoids " +
    'avoiding skip skips skipping ignore ignores ignoring forget forgetting omit omits omitting exclude excludes ' +
    'excluding disable disables disabling drop drops dropping remove removes removing refuse refusing forbid forbids ' +
    'forbidden hide hides hiding stop stopping reject rejects rejecting deny discard discarding prevent prevents ' +
    'suppress strip strips stripping neither nor off'
  ).split(' '),
);

/**
 * Words without content for the comparison: function words, and verbs that only say that something is to be done. Verbs
 * whose opposite is a negation (`enable`, `include`, `keep`) are among them.
 */
export const IDLE: ReadonlySet<string> = new Set(
  (
    'a an the this that these those it its they them their you your we our i and or then also as to of in on at by for ' +
    'from with into onto via per each every any all be is are was were being been do does doing done have has had must ' +
    'should shall can could may might will would need needs always only please just simply really very use uses using ' +
    'used prefer prefers preferred choose favour favor pick make makes sure ensure remember try give gives put puts set ' +
    'sets keep keeps kept written let go get take takes enable enables enabling include includes including ' +
    'allow allows add adds adding show shows accept accepts leave leaves turn turns switch so too there here when if ' +
    'while unless than such own same within which even most least up exactly'
  ).split(' '),
);

/** Mutually exclusive values. Words joined by `|` are the same value. */
export const CHOICES: readonly { readonly of: string; readonly values: readonly string[] }[] = [
  { of: 'indentation', values: ['tabs|tab', 'spaces|space'] },
  { of: 'order', values: ['ascending', 'descending'] },
  { of: 'place', values: ['first|beginning|top', 'last|end|bottom'] },
  { of: 'time', values: ['before', 'after|afterwards'] },
  { of: 'length', values: ['short|brief|briefly|concise|terse|shortly', 'long|detailed|lengthy|verbose'] },
  { of: 'size', values: ['small', 'large|big|huge'] },
  { of: 'amount', values: ['more|increase|raise', 'less|fewer|decrease|reduce|lower'] },
  { of: 'extreme', values: ['minimum|minimal|lowest', 'maximum|maximal|highest'] },
  { of: 'time zone', values: ['utc|gmt', 'local_time'] },
  {
    of: 'language',
    values: ['english', 'german', 'french', 'spanish', 'italian', 'dutch', 'polish', 'chinese', 'japanese'],
  },
  { of: 'quotes', values: ['single', 'double'] },
  { of: 'package manager', values: ['npm', 'pnpm', 'yarn', 'bun'] },
  { of: 'test runner', values: ['vitest', 'jest', 'mocha', 'ava'] },
  { of: 'case', values: ['camelcase', 'snake_case', 'kebab-case', 'pascalcase', 'screaming_snake_case'] },
  { of: 'letters', values: ['uppercase|upper', 'lowercase'] },
  { of: 'encoding', values: ['utf-8|utf8', 'utf-16', 'latin-1|iso-8859-1', 'ascii', 'windows-1252'] },
  { of: 'format', values: ['json', 'yaml|yml', 'toml', 'xml', 'csv', 'markdown', 'html', 'pdf', 'protobuf'] },
  { of: 'tone', values: ['formal|formally', 'informal|informally|casual|casually'] },
  { of: 'units', values: ['metric', 'imperial'] },
  { of: 'waiting', values: ['synchronous|synchronously|sync', 'asynchronous|asynchronously|async'] },
  { of: 'pace', values: ['parallel|concurrently|parallelise', 'sequentially|serially|one_by_one'] },
  { of: 'line ends', values: ['lf', 'crlf'] },
  { of: 'access', values: ['public', 'private'] },
  { of: 'paths', values: ['absolute', 'relative'] },
  { of: 'who acts', values: ['automatic|automatically', 'manual|manually'] },
  { of: 'moment', values: ['early', 'late'] },
  { of: 'strictness', values: ['strict|strictly', 'lenient|loose'] },
  { of: 'number', values: ['singular', 'plural'] },
  { of: 'evaluation', values: ['eager|eagerly', 'lazy|lazily'] },
  { of: 'change', values: ['mutable', 'immutable'] },
  { of: 'protocol', values: ['http', 'https'] },
  { of: 'side', values: ['left', 'right'] },
  { of: 'direction', values: ['up|upwards', 'down|downwards'] },
  { of: 'day', values: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] },
  { of: 'tense', values: ['past', 'present', 'future'] },
  { of: 'temperature', values: ['celsius', 'fahrenheit'] },
  { of: 'log level', values: ['debug_level', 'info_level', 'warning_level'] },
];

/** Phrases that are replaced by one word, so that their parts are not misread. */
export const PHRASES: readonly (readonly [phrase: string, word: string])[] = [
  ['no more than', 'at most'],
  ['not more than', 'at most'],
  ['no less than', 'at least'],
  ['no fewer than', 'at least'],
  ['not less than', 'at least'],
  ['not only', ''],
  ['whether or not', ''],
  ['do not hesitate to', ''],
  ['local time', 'local_time'],
  ['debug level', 'debug_level'],
  ['info level', 'info_level'],
  ['warning level', 'warning_level'],
  ['one after the other', 'one_by_one'],
  ['one after another', 'one_by_one'],
  ['one at a time', 'one_by_one'],
  ['one by one', 'one_by_one'],
  ['leave out', 'omit'],
  ['left out', 'omit'],
  ['out of', 'not'],
  ['metric system', 'metric'],
  ['metric units', 'metric'],
  ['imperial units', 'imperial'],
  ['iso 8601', 'yyyy-mm-dd'],
  ['iso-8601', 'yyyy-mm-dd'],
  ['iso dates', 'yyyy-mm-dd dates'],
  ['snake case', 'snake_case'],
  ['camel case', 'camelcase'],
  ['kebab case', 'kebab-case'],
  ['pascal case', 'pascalcase'],
  ['upper case', 'uppercase'],
  ['lower case', 'lowercase'],
];
