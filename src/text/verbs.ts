/** Verbs of instructions. */
const VERBS =
  `abbreviate abort accept acknowledge add address adjust align annotate announce answer append apply approve archive ask
  assert assign attach await back batch begin bring build bump call cancel capitalise capitalize center change check cite clean
  clear close collapse commit compare compress compute confirm consult convert copy count cover create credit date declare default
  define delete deliver delimit deploy derive describe design disable display divide document double draft drop echo edit email
  embed emit enable encode encrypt end enter enumerate escalate escape exclude execute exit expand explain export express extend
  fill filter finish fix flag flush follow format freeze gather generate get give go group guard handle head hide hold
  highlight hyphenate ignore import include increment indent indicate inform initialise initialize insert install introduce invoke
  justify keep label lead leave limit line link lint list load localise localize lock log lowercase mail maintain mark mask match
  measure mention merge mind mirror move mute name normalise normalize note notify number obtain offer omit open order organise
  organize outline output overwrite pad paste pick pin place plan plot point post prefer prefix prepend present preserve print
  produce prompt provide publish pull push put qualify quantify quote raise ration read rebase reconcile record redact refer
  reference refuse register reload remove rename render repeat replace reply report request require reserve resolve respect respond
  restart restore restrict return reuse reverse review rewrite round route run sanitise sanitize save say scale schedule seal search
  select send separate serialise serialize set shorten show shut sign skip sort specify spell split squash stage stamp standardise
  standardize start state stick stop store strip structure style submit subtract suffix sum summarise summarize supply surround
  switch tag take tell terminate test thank throw time title total touch trace track translate transpose treat trim truncate turn type
  underline uninstall update upload uppercase use validate verify version wait warn wrap write zip`
    .split(/\s+/)
    .filter(Boolean);

const IRREGULAR = `begun begin,brought bring,built build,chose choose,chosen choose,gave give,given give,gone go,went go,got get,
  had have,held hold,kept keep,led lead,left leave,made make,put put,ran run,run run,read read,said say,sent send,set set,shown
  show,shut shut,split split,spelt spell,stuck stick,taken take,took take,thrown throw,told tell,written write,wrote write`;

/** Verbs that double their last letter: stop, stopped. Of those with more than one syllable only some do. */
const DOUBLES = /^(?:[^aeiou]*[aeiou][^aeiouwxy]|commit|submit|omit|refer|prefer|transfer|embed)$/;

const known: ReadonlySet<string> = new Set([...VERBS, 'have', 'make', 'choose', 'be', 'do', 'ensure', 'let']);
const pasts: ReadonlyMap<string, string> = new Map([
  ...VERBS.map((verb): [string, string] => [pastOf(verb), verb]),
  ...IRREGULAR.split(',').map((pair): [string, string] => {
    const [past = '', base = ''] = pair.trim().split(/\s+/);
    return [past, base];
  }),
]);

function pastOf(verb: string): string {
  if (verb.endsWith('e')) return `${verb}d`;
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ied`;
  return DOUBLES.test(verb) ? `${verb}${verb.at(-1)}ed` : `${verb}ed`;
}

/** Whether a sentence that begins with this word is an instruction. */
export const isInstructionVerb = (word: string): boolean => known.has(word.toLowerCase());

/** "updated" → "update". Undefined when it is not the past form of such a verb. */
export const verbBaseForm = (past: string): string | undefined => pasts.get(past.toLowerCase());
