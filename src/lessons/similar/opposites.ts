const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Words that negate an instruction; two of them cancel out. */
export const NEGATIONS = words(
  `never not no don't doesn't didn't isn't aren't mustn't shouldn't can't cannot won't needn't without avoid avoids avoiding skip skips
  skipping ignore ignores ignoring forget forgetting omit omits omitting exclude excludes excluding disable disables disabling drop
  drops dropping remove removes removing refuse refusing forbid forbids forbidden hide hides hiding stop stopping reject rejects
  rejecting deny discard discarding prevent prevents suppress strip strips stripping neither nor off`,
);

/** Words without content for the comparison: function words, and verbs that only say that something is to be done. */
export const IDLE = words(
  `a an the this that these those it its they them their you your we our i and or then also as to of in on at by for from with into
  onto via per each every any all be is are was were being been do does doing done have has had must should shall can could may might
  will would need needs always only please just simply really very use uses using used prefer prefers preferred choose favour favor
  pick make makes sure ensure remember try give gives put puts set sets keep keeps kept written let go get take takes enable enables
  enabling include includes including allow allows add adds adding show shows accept accepts leave leaves turn turns switch so too
  there here when if while unless than such own same within which even most least up exactly`,
);

/** Mutually exclusive values of a property: `|` joins words for the same value. */
const CHOICE_TABLE = `indentation: tabs|tab spaces|space; order: ascending descending; place: first|beginning|top last|end|bottom;
  time: before after|afterwards; length: short|brief|briefly|concise|terse|shortly long|detailed|lengthy|verbose; size: small large|big|huge;
  amount: more|increase|raise less|fewer|decrease|reduce|lower; extreme: minimum|minimal|lowest maximum|maximal|highest;
  time zone: utc|gmt local_time; language: english german french spanish italian dutch polish chinese japanese; quotes: single double;
  package manager: npm pnpm yarn bun; test runner: vitest jest mocha ava; case: camelcase snake_case kebab-case pascalcase screaming_snake_case;
  letters: uppercase|upper lowercase; encoding: utf-8|utf8 utf-16 latin-1|iso-8859-1 ascii windows-1252;
  format: json yaml|yml toml xml csv markdown html pdf protobuf; tone: formal|formally informal|informally|casual|casually; units: metric imperial;
  waiting: synchronous|synchronously|sync asynchronous|asynchronously|async; pace: parallel|concurrently|parallelise sequentially|serially|one_by_one;
  line ends: lf crlf; access: public private; paths: absolute relative; who acts: automatic|automatically manual|manually; moment: early late;
  strictness: strict|strictly lenient|loose; number: singular plural; evaluation: eager|eagerly lazy|lazily; change: mutable immutable;
  protocol: http https; side: left right; direction: up|upwards down|downwards; day: monday tuesday wednesday thursday friday saturday sunday;
  tense: past present future; temperature: celsius fahrenheit; log level: debug_level info_level warning_level`;

/** By word: the property, and which of its values. */
export const CHOICES: ReadonlyMap<string, { readonly of: string; readonly value: number }> = new Map(
  CHOICE_TABLE.split(';').flatMap((row) => {
    const [of = '', values = ''] = row.split(':');
    return values
      .trim()
      .split(/\s+/)
      .flatMap((same, value) => same.split('|').map((word) => [word, { of: of.trim(), value }] as const));
  }),
);

/** Phrases that are replaced by one word, so that their parts are not misread. */
export const PHRASES: readonly (readonly [phrase: string, word: string])[] =
  `no more than=at most; not more than=at most; no less than=at least; no fewer than=at least; not less than=at least; not only=;
  whether or not=; do not hesitate to=; local time=local_time; debug level=debug_level; info level=info_level; warning level=warning_level;
  one after the other=one_by_one; one after another=one_by_one; one at a time=one_by_one; one by one=one_by_one; leave out=omit; left out=omit;
  out of=not; metric system=metric; metric units=metric; imperial units=imperial; iso 8601=yyyy-mm-dd; iso-8601=yyyy-mm-dd;
  iso dates=yyyy-mm-dd dates; snake case=snake_case; camel case=camelcase; kebab case=kebab-case; pascal case=pascalcase;
  upper case=uppercase; lower case=lowercase`
    .split(';')
    .map((pair) => {
      const [phrase = '', word = ''] = pair.trim().split('=');
      return [phrase, word] as const;
    });
