import { headLines, tailLines } from '../../text/lines.ts';

/** Lines of a crashed program, whatever the program. */
const CRASHES =
  /^(?:Traceback \(most recent call last\):|fatal: |panic: |thread '.{1,80}' panicked at |npm (?:ERR!|error) |Uncaught \w{0,40}Error|error: Uncaught|Unhandled (?:exception|rejection)|Exception in thread "|PHP (?:Fatal|Parse) error: |(?:\S{1,200} )?(?:Segmentation fault|Bus error|Aborted|Illegal instruction)(?: \(core dumped\))?|\S{1,200}\.rb:\d{1,7}:in |ERROR: {2}|ERROR \d{4} \(|node:internal\/|Node\.js v\d|│ Error: |╷$|ERROR: failed to |\S{1,100}\s{1,40}: ok=\d{1,6} .{0,80}failed=[1-9]|ERROR: (?:No matching|Could not)|ERROR: LoadError|Execution (?:halted|of \S{1,200} aborted)|lua\S{0,8}: \S{1,200}:\d{1,7}: |Error in .{1,200} :|error during build:|Failed to compile\.)/;

/** Tools report their own errors this way; other programs may print it about their data. */
const COMPLAINTS: readonly RegExp[] = [
  /^\W{0,6}(?:error|fatal|failure|failed|ERR!|panic|exception)\b(?!s? (?:page|handling|handler|log))[:!\][( -]/i,
  /^[\w.@/+-]{1,120}(?:\[\d{1,7}\])?: (?:line \d{1,7}: )?(?:fatal |parse |syntax |internal |runtime )?(?:error|fatal|panic|exception|no module named)\b/i,
  /^[\w./@+ -]{1,200}[:(]\d{1,7}(?:[:,]\d{1,7})?\)?: ?(?:fatal )?(?:error|fatal)\b/i,
  /^(?:\S{1,40}: )?(?:unable to|could not|couldn't|cannot|can't|invalid|unknown|unrecogni[sz]ed|unsupported|missing|no such|not found|nothing to do|refusing to|permission denied|wrong number)\b/i,
  /^(?:[\w./-]{1,60}: ){1,3}.{0,200}(?:not found|no such file|cannot |can't |unterminated|invalid |denied|not permitted|unexpected|illegal |unknown |failed|no rule to make)/i,
  /\b(?:command not found|syntax error|is not recognized|unexpected token|compilation (?:failed|error|aborted)|build (?:failed|did NOT complete)|(?:check|validation|tests?) failed|compiled with \d{1,6} errors?|would be reformatted|completed with [1-9]\d{0,5} errors?|merge conflict|\[rejected\]|patch does not apply|aborting\b|An error occurred \()/i,
  /^(?:✖|✘|×|✗|x|\[x\]|❌)\s{1,3}\S/,
  /^\(error\) /,
  /^(?:parse|syntax|type|runtime) error\b/i,
  /^(?:nothing added to commit|nothing to commit)\b/,
  /^(?:[\w.]{1,80}\.)?\w{1,60}(?:Exception|Error): \S/,
  /: (?:ERROR|FATAL|PANIC): /,
  /\bis invalid(?:$|: )|\bdoes not match\b|\bERROR SUMMARY: [1-9]|\bexited with (?:code|status) [1-9]/,
  /^\[(?:ERROR|error|FAILED|FATAL)\]/,
  /^ERROR in /,
];
const LOOK_AT = 12;

/** Whether the output shows a crash. `isTool`: the output is a tool's own, not an arbitrary program's. */
export function hasCrashed(text: string, isTool: boolean): boolean {
  const lines = [...headLines(text, 3), ...tailLines(text, LOOK_AT)];
  return lines.some((line) => CRASHES.test(line) || (isTool && isComplaint(line)));
}

/** Counts of nothing are no complaint. */
const NONE =
  /\b(?:0|no) (?:\w{1,12} )?(?:errors?|failures?|failed|problems?|issues?|warnings?)\b|\bfailed[=: ]{1,3}0\b|\bwithout errors?\b/i;

const isComplaint = (line: string): boolean => {
  const text = line.trim();
  return text.length < 400 && !NONE.test(text) && COMPLAINTS.some((pattern) => pattern.test(text));
};

/** Redis prints its errors with the exit code 0. */
export const isRedisError = (text: string): boolean => /^\(error\) [A-Z]{3,20} /.test(text.trimStart());

/** Words with which tools say that the work is done. */
const DONE =
  /^✓ built in| -> \S{1,200}$|\b(?:build successful|compiled successfully|successfully (?:\w{3,20}ed|rolled out|built)|apply complete|all (?:checks|tests) passed|no (?:issues|errors|problems) found|success: |deployed\b|has been upgraded|(?:configured|created|scaled|unchanged|restarted|deleted|updated|installed)$|done in \d|built target|test is successful|syntax is ok|\.\.\. OK$|Applying .{1,200} OK$|up to date|upload(?:ed)?: |changed, \d{1,7} insertions|congratulations|Finished `?\w{1,20}`? (?:profile|\[)|already satisfied|successfully installed|\bpassed\.?$|Running upgrade \S|CREATE (?:TABLE|INDEX)|ALTER TABLE|INSERT 0 \d)/i;

/** How the output of a tool without an exit code reads: it complains, it says that it is done, or neither. */
export function hasSaidDone(text: string): boolean {
  const lines = [...headLines(text, 3), ...tailLines(text, LOOK_AT)];
  return lines.some((line) => DONE.test(line.trim())) && !hasCrashed(text, true);
}
