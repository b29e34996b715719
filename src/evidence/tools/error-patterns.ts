import { headLines, tailLines } from '../../text/lines.ts';

/** The ways in which a call itself is wrong. Fixed codes, so that they are safe to show anywhere. */
type ToolFault =
  | 'invalid-arguments'
  | 'no-such-tool'
  | 'text-not-found'
  | 'text-not-unique'
  | 'not-read-first'
  | 'patch-does-not-apply'
  | 'no-such-file'
  | 'is-a-directory'
  | 'command-not-found'
  | 'missing-script'
  | 'unknown-option'
  | 'permission-denied';

/** How the error messages of clients begin when they refuse a call. */
const TOOL_FAULTS: readonly (readonly [ToolFault, RegExp])[] = [
  [
    'invalid-arguments',
    /^(?:InputValidationError|Validation failed for tool|failed to parse function arguments|The arguments provided to the tool are invalid|The \S{1,80} tool was called with invalid arguments|Invalid (?:arguments|parameters|input) |Invalid tool (?:arguments|parameters|input)|Missing required (?:parameter|argument)|Params must have required property)/i,
  ],
  [
    'no-such-tool',
    /^(?:No such tool available|Tool "?[\w.-]{1,80}"? (?:not found|does not exist|is not available)|unsupported call:|unsupported custom tool call:|Unknown (?:tool|function|agent type)|Model tried to call unavailable tool)/i,
  ],
  [
    'text-not-found',
    /^(?:String to replace not found|Could not find (?:the exact text|oldString|old_string|the text)|oldString not found|old_string not found|Failed to edit, could not find the string|No replacement (?:was )?performed(?!.{0,20}multiple)|old_str .{1,400} did not appear verbatim in|No changes made to |No match found (?:for|in file)|Failed to edit, 0 occurrences found|String not found in (?:the )?file|Edit at index \d{1,4}: string not found|No sufficiently similar match found|Unable to apply diff to file|The SEARCH block .{1,200} (?:does not|doesn't) match|This is likely because the SEARCH block content|#? ?\d{1,4} SEARCH\/REPLACE blocks? failed to match)/i,
  ],
  [
    'text-not-unique',
    /^(?:Found \d{1,6} (?:matches|occurrences) of|Found multiple (?:exact )?matches for|No replacement (?:was )?performed.{0,20}multiple occurrences|Failed to edit, expected 1 occurrence but found|No changes to (?:make|apply): )/i,
  ],
  [
    'not-read-first',
    /^(?:File has not been read yet|You must read (?:the )?file|File .{1,300} has been modified since|File has been (?:unexpectedly )?modified since)/i,
  ],
  [
    'patch-does-not-apply',
    /^(?:apply_patch (?:verification )?failed|patch rejected: |Failed to find (?:expected lines|context '))/i,
  ],
  [
    'no-such-file',
    /^(?:File (?:does not exist|not found)|Directory does not exist|Path (?:does not exist|not found)|No such file|ENOENT: |Error reading file|Failed to read file)/i,
  ],
  ['is-a-directory', /^EISDIR: /],
  ['permission-denied', /^(?:EACCES: |EPERM: )/],
];

/** The fault that a tool result begins with; undefined when it begins with none. */
export function findToolFault(text: string): ToolFault | undefined {
  const [first = ''] = headLines(text, 1);
  const line = first.trim().replace(/^(?:Error|error|ERROR): /, '');
  return TOOL_FAULTS.find(([, pattern]) => pattern.test(line))?.[0];
}

const COMMAND_FAULTS: readonly (readonly [ToolFault, RegExp])[] = [
  [
    'command-not-found',
    /^(?:(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line )?(?:\d{1,6}: )?[^:]{1,120}: (?:command )?not found|zsh: command not found: |.{1,120}: command not found$|'[^']{1,120}' is not recognized as |.{1,200} is not recognized as (?:a name of|the name of))/,
  ],
  [
    'missing-script',
    /^(?:npm (?:ERR!|error) Missing script|error: Script not found|ERR_PNPM_NO_SCRIPT|error Command "[^"]{1,80}" not found|make: \*\*\* No rule to make target|error: no such command|error: no such subcommand|.{0,80}can't open file |Error: Cannot find module '\/)/,
  ],
  [
    'unknown-option',
    /(?:unrecognized (?:option|argument)|unknown (?:option|flag|shorthand flag|switch|argument|command)|invalid option|illegal option|unexpected argument|no such option|bad option|unknown revision)/i,
  ],
  [
    'no-such-file',
    /^(?:(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line )?(?:\d{1,6}: )?(?:cd: )?[^:]{1,200}: No such file or directory|(?:ls|cat|head|tail|cp|mv|rm|stat|wc|find|sed|awk|cd|du|chmod|touch|mkdir|diff|sort): .{0,300}No such file or directory)/,
  ],
  [
    'permission-denied',
    /^(?:(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line )?(?:\d{1,6}: )?[^:]{1,200}: Permission denied|(?:ls|cat|cp|mv|rm|mkdir|touch|chmod|chown): .{0,300}(?:Permission denied|Operation not permitted))/,
  ],
];
const LOOK_AT = 12;

/** The fault that a shell reports about the command line itself, at the start or at the end of the output. */
export function findCommandFault(text: string): ToolFault | undefined {
  const lines = [...headLines(text, LOOK_AT), ...tailLines(text, LOOK_AT)].map((line) => line.trim());
  return COMMAND_FAULTS.find(([, pattern]) => lines.some((line) => pattern.test(line)))?.[0];
}

/** Lines of a crashed program, for clients that omit the exit code. */
const CRASHES =
  /^(?:Traceback \(most recent call last\):|fatal: |panic: |thread '.{1,80}' panicked at |npm (?:ERR!|error) code |Uncaught \w{0,40}Error|Unhandled exception|Exception in thread "|PHP (?:Fatal|Parse) error: |Segmentation fault|\S{1,200}\.rb:\d{1,7}:in |ERROR: {2}|ERROR \d{4} \(|node:internal\/|Node\.js v\d|│ Error: |ERROR: failed to |\S{1,100}\s{1,40}: ok=\d{1,6} .{0,80}failed=[1-9]|ERROR: (?:No matching|Could not))/;

/** Tools report their own errors this way; other programs may print it about their data. */
const COMPLAINTS = /^(?:error: |Error: )/;

/** Whether the output shows a crash. `isTool`: the output is a tool's own, not an arbitrary program's. */
export function hasCrashed(text: string, isTool: boolean): boolean {
  const lines = [...headLines(text, 3), ...tailLines(text, LOOK_AT)];
  return lines.some((line) => CRASHES.test(line) || (isTool && COMPLAINTS.test(line)));
}

/** Failures outside the agent's control, as fixed codes that are safe to show anywhere. */
const OUTAGES: readonly (readonly [string, RegExp])[] = [
  ['ECONNRESET', /\bECONNRESET\b|connection reset by peer|socket hang up|\bEPIPE\b|connection broken by/i],
  [
    'ETIMEDOUT',
    /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b|\bconnection timed out\b|\bread timed out\b|\bconnect(?:ion)? timeout\b|\bTLS handshake timeout\b|\bi\/o timeout\b|\boperation (?:has )?timed out\b|\brequest timed out\b|\bReadTimeout\b|\bConnectTimeout\b|\baborted due to timeout\b|\bcontext deadline exceeded\b|\bTimeout was reached\b|\btimeout of \d{1,9} ?ms exceeded\b|\b(?:request|upstream|gateway) timed out\b|\bupstream request timed out\b|\btimed out waiting for (?:a )?(?:response|reply)\b/i,
  ],
  [
    'dns',
    /\bENOTFOUND\b|\bEAI_AGAIN\b|could not resolve host|temporary failure (?:in name resolution|resolving)|name or service not known|no such host|getaddrinfo|nodename nor servname/i,
  ],
  [
    'unreachable',
    /\bENETUNREACH\b|\bEHOSTUNREACH\b|network is unreachable|no route to host|\bnetwork error\b|failed to establish a new connection|could not connect to server|unable to connect to the (?:server|internet)|fetch failed|\bECONNREFUSED\b|connection refused/i,
  ],
  [
    'rate-limited',
    /\b(?:rate[ -]?limit(?:ed|s)?(?: (?:exceeded|reached|error|hit))?|too many requests|toomanyrequests|quota exceeded|exceeded your (?:current )?quota)\b|\b(?:status|code|error|http|https)[^\w\n]{0,4}(?:code[^\w\n]{0,3})?429\b|^429\b|\b429 too/i,
  ],
  [
    'upstream-error',
    /\b(?:50[0234]|529)[ :-]{1,3}(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|server error|site is overloaded)|\b(?:status|code|error)[^\w\n]{0,4}(?:code[^\w\n]{0,3})?(?:50[0234]|529)\b|^service (?:temporarily )?unavailable|"(?:code|status)":50[0234]\b|\boverloaded_error\b|\b(?:down for|under|in) maintenance\b|\btemporarily unavailable\b|\bserver is overloaded\b|^overloaded$/i,
  ],
  ['no-space', /\bENOSPC\b|no space left on device|disk quota exceeded/i],
  [
    'out-of-memory',
    /\bENOMEM\b|javascript heap out of memory|cannot allocate memory|^killed$|out of memory: kill/i,
  ],
];
/** Services on this machine are the agent's to start. */
const LOCAL = /localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0|\.sock\b/;

const FIRST = 40;
const LAST = 120;

/** The outage that explains a failed result; undefined when it failed for another reason. */
export function findOutage(text: string): string | undefined {
  for (const line of [...headLines(text, FIRST), ...tailLines(text, LAST)]) {
    const found = OUTAGES.find(([code, pattern]) => pattern.test(line) && !isLocal(code, line));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

const isLocal = (code: string, line: string): boolean => code === 'unreachable' && LOCAL.test(line);
