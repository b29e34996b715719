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

const known: ReadonlySet<string> = new Set([...VERBS, 'have', 'make', 'choose', 'be', 'do', 'ensure', 'let']);

/** Whether a sentence that begins with this word is an instruction. */
export const isInstructionVerb = (word: string): boolean => known.has(word.toLowerCase());
