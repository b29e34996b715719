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
    /^(?:InputValidationError|Missing value for required parameter|Validation failed for tool|failed to parse function arguments|The arguments provided to the tool are invalid|The \S{1,80} tool was called with invalid arguments|Invalid (?:arguments|parameters|input) |Invalid tool (?:arguments|parameters|input)|Missing required (?:parameter|argument)|Params must have required property|The 'content' parameter was empty|Tool \[\w{1,60}\] (?:was not executed because|has been called \d{1,4} times))/i,
  ],
  [
    'no-such-tool',
    /^(?:No such tool available|Tool "?[\w.-]{1,80}"? (?:not found|does not exist|is not available)|unsupported call:|unsupported custom tool call:|Unknown (?:tool|function|agent type)|Tool does not exist on server|Model tried to call unavailable tool)/i,
  ],
  [
    'text-not-found',
    /^(?:(?:The )?(?:string|text|old[_ ]?str(?:ing)?|search (?:string|text|block)) (?:to (?:replace|find|search for) )?(?:was |could )?not (?:be )?found|(?:Your )?edit was not applied|Could not find (?:the exact text|oldString|old_string|the text|text to replace|the string|matching context|patch context|scope context)|failed to edit \S{1,300}: (?:string|text) not found|oldString not found|old_string not found|Failed to edit, could not find the string|No replacement (?:was )?performed(?!.{0,20}multiple)|old_str .{1,400} did not appear verbatim in|No changes (?:were )?made to |No changes would be made to |No changes to apply|No match found (?:for|in file)|Failed to edit, 0 occurrences found|String not found in (?:the )?file|Edit at index \d{1,4}: string not found|No sufficiently similar match found|Unable to apply diff to file|The SEARCH block|UnifiedDiffNoMatch|Search pattern not found|(?:No match|0 matches)(?: was| were)? found|This is likely because the SEARCH block content|#? ?\d{1,4} SEARCH\/REPLACE blocks? failed to match)/i,
  ],
  [
    'text-not-unique',
    /^(?:Found \d{1,6} (?:matches|occurrences) of|Found multiple (?:exact )?matches for|No replacement (?:was )?performed.{0,20}multiple occurrences|Failed to edit, expected 1 occurrence but found|Expected \d{1,4} occurrences? but found|UnifiedDiffNotUnique|Found more than one occurrence|(?:old_?string|The (?:string|text)) (?:is not unique|matches multiple)|No changes to (?:make|apply): )/i,
  ],
  [
    'not-read-first',
    /^(?:File has not been read yet|You must (?:first )?read (?:the )?file|File must be read (?:first|before)|File .{1,300} has been modified since|File has been (?:unexpectedly )?modified since)/i,
  ],
  [
    'patch-does-not-apply',
    /^(?:apply_patch (?:verification )?failed|patch rejected: |Failed to find (?:expected lines|context ')|(?:error: )?patch failed: |Hunk #\d{1,4} FAILED|Invalid (?:patch|diff|hunk)|(?:error: )?.{1,200}: patch does not apply)/i,
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
  const line = first.trim().replace(/^(?:Error|error|ERROR):\s/, '');
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
