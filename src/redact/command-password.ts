import { NO_SPANS, type SecretRule, type SecretSpan } from './scan-context.ts';
import { isSpokenPassword, isTypedSecret } from './secret-value.ts';

/** How far a command line is read. */
const REACH = 400;
/** A word of a command line, with the quotes that may surround it, also escaped ones. */
const OPEN = `\\\\{0,3}["']?`;
const VALUE = `([^\\s"'\\\\|;&<>]{4,200})`;
const option = (flags: string, gap = '[ =]*'): RegExp =>
  new RegExp(`\\s(?:${flags})${gap}${OPEN}${VALUE}`, 'd');

/** The arguments of each command that are passwords. The first group is the password. */
const COMMANDS: Readonly<Record<string, readonly RegExp[]>> = {
  // Only glued to its option: `mysql -p shop` asks for the password of the database `shop`.
  mysql: [option('-p', '')],
  mariadb: [option('-p', '')],
  sshpass: [option('-p')],
  'docker login': [option('-p')],
  'podman login': [option('-p')],
  'nerdctl login': [option('-p')],
  'registry login': [option('-p')],
  'oc login': [option('-p')],
  'az login': [option('-p')],
  'acr login': [option('-p')],
  mongo: [option('-p')],
  'redis-cli': [option('-a')],
  ldap: [option('-w')],
  sqlcmd: [option('-P')],
  ipmitool: [option('-P')],
  mosquitto_: [option('-P')],
  sqlplus: [/\s["']?[\w$#.]{1,60}\/([^\s@"'/\\]{4,100})(?=@|\s|$)/d],
  smbclient: [/\s-U ?["']?[^\s%"']{1,80}%([^\s"'\\]{4,100})/d],
  rpcclient: [/\s-U ?["']?[^\s%"']{1,80}%([^\s"'\\]{4,100})/d],
  lftp: [/\s-u ?["']?[^\s,"']{1,80},([^\s"'\\]{4,100})/d],
  'zip -': [/^P\s*["']?([^\s"'\\]{4,100})/d, option('-P')],
  '7z': [option('-p', '')],
  'rar a': [option('-h?p', '')],
  'net use': [
    /^\s+(?:\w:\s+)?\S{3,100}\s+["']?([^\s"'/\\][^\s"'\\]{3,100})["']?\s+\/user:/di,
    /\/user:\S{1,100}\s+["']?([^\s"'/\\][^\s"'\\]{3,100})/di,
  ],
  'net user': [/^\s+\S{1,60}\s+["']?([^\s"'/\\][^\s"'\\]{3,100})["']?\s+\/(?:add|domain|active)/di],
  cmdkey: [/\s\/pass:["']?([^\s"'\\]{4,100})/di],
  schtasks: [/\s\/rp\s+["']?([^\s"'\\]{4,100})/di],
  psexec: [option('-p')],
  freerdp: [/\s\/p:["']?([^\s"'\\]{4,100})/d],
  rdesktop: [option('-p')],
  htpasswd: [/\s-[a-zA-Z]*b[a-zA-Z]*\s(?:-\w+\s+)*\S+\s+\S+\s+["']?([^\s"'\\|;&]{4,100})/d],
  // `-u user:password` is a rule of its own; here it is one of several letters, as in `-su`.
  curl: [/\s-[a-zA-Z]+u ?["']?[^\s:"']{0,80}:([^\s"'\\]{4,200})/d],
  chpasswd: [/^\s*<<<?\s*["']?[\w.$-]{1,60}:([^\s"'\\]{4,100})/d],
  'convertto-securestring': [/^\s+(?:-string\s+)?\\{0,3}["']([^"'\\$][^"'\\]{3,100})\\{0,3}["']/di],
  'identified by': [/^\s+(?:password\s+|values\s+)?\\{0,3}["']([^"'\\]{4,100})\\{0,3}["']/di],
  'login password': [/^\s+\\{0,3}'([^'\\]{4,100})\\{0,3}'/di],
  'with password': [/^\s+\\{0,3}'([^'\\]{4,100})\\{0,3}'/di],
  'encrypted password': [/^\s+\\{0,3}'([^'\\]{4,100})\\{0,3}'/di],
  '-pass pass:': [/^["']?([^\s"'\\]{4,100})/d],
  '-passin pass:': [/^["']?([^\s"'\\]{4,100})/d],
  '-passout pass:': [/^["']?([^\s"'\\]{4,100})/d],
};

/** Calls whose third argument is a password. */
const THIRD =
  /^\s*\\{0,3}["'][^"'\n]{0,160}["']\s*,\s*\\{0,3}["'][^"'\n]{0,60}["']\s*,\s*\\{0,3}["']([^"'\\\n]{4,100})/d;
const CALLS = ['new pdo(', 'getconnection(', 'mysqli(', 'mysqli_connect('];

export const COMMAND_TRIGGERS: readonly (readonly [literal: string, rule: SecretRule])[] = [
  ...Object.entries(COMMANDS).map(([literal, patterns]) => [literal, argumentsOf(patterns)] as const),
  ...CALLS.map((literal) => [literal, callOf(THIRD)] as const),
  ...['as password', 'as the password', 'als passwort'].map(
    (literal) =>
      [literal, pipedInto(/(?:^|\s)["'`]?([^\s"'`,;\\]{8,100})["'`]?\s$/d, isSpokenPassword)] as const,
  ),
  ['sudo -s', pipedInto(/echo\s+(?:-n\s+)?["']?([^\s"'\\|]{4,100})["']?\s*\|\s*$/d)],
  [
    'chpasswd',
    pipedInto(/echo\s+(?:-[en]+\s+)?["']?[\w.$-]{1,60}:([^\s"'\\|]{4,100})["']?\s*\|\s*(?:sudo\s+)?$/d),
  ],
];

/** The rest of the command line after its name. */
function argumentsOf(patterns: readonly RegExp[]): SecretRule {
  return ({ text }, _start, end) => {
    const line = text.slice(end, end + REACH);
    const stop = line.search(/(?<![\\\s])\s*(?:\n|\\n|\s\|\s|&&|;)/);
    return spansOf(patterns, stop < 0 ? line : line.slice(0, stop), end);
  };
}

function callOf(pattern: RegExp): SecretRule {
  return ({ text }, _start, end) => spansOf([pattern], text.slice(end, end + REACH), end);
}

/** What stands before: what another command writes into this one, or what a sentence calls a password. */
function pipedInto(pattern: RegExp, isSecret = isTypedSecret): SecretRule {
  return ({ text, floor }, start) => {
    const from = Math.max(floor, start - 160);
    return spansOf([pattern], text.slice(from, start), from, isSecret);
  };
}

function spansOf(
  patterns: readonly RegExp[],
  line: string,
  at: number,
  isSecret = isTypedSecret,
): readonly SecretSpan[] {
  for (const pattern of patterns) {
    const found = pattern.exec(line);
    const place = found?.indices?.[1];
    if (place !== undefined && isSecret(found?.[1] ?? ''))
      return [{ start: at + place[0], end: at + place[1] }];
  }
  return NO_SPANS;
}
