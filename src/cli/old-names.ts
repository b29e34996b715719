import { COMMANDS } from './commands.ts';

interface OldName {
  /** What runs in place of the words; with options where a command became one. */
  readonly now: string;
  /** The same with `--off`. */
  readonly off?: string;
}

/** Commands that moved. They run for one release. */
export const OLD_NAMES: Readonly<Record<string, OldName>> = {
  logs: { now: 'status --log' },
  keys: { now: 'team keys' },
  members: { now: 'team members' },
  store: { now: 'team store' },
  worker: { now: 'team worker' },
  backup: { now: 'data backup' },
  restore: { now: 'data restore' },
  export: { now: 'data export' },
  bench: { now: 'lab bench' },
  demo: { now: 'lab demo' },
  engine: { now: 'lab engine' },
  'lessons approve': { now: 'lessons keep' },
  'lessons restore': { now: 'lessons keep' },
  'lessons reject': { now: 'lessons drop' },
  'lessons retire': { now: 'lessons drop' },
  'lessons pin': { now: 'lessons edit --pin', off: 'lessons edit --no-pin' },
  'lessons freeze': { now: 'lessons edit --freeze', off: 'lessons edit --no-freeze' },
  'lessons always': { now: 'lessons edit --always', off: 'lessons edit --no-always' },
  'lessons import': { now: 'data import' },
  'lessons export': { now: 'data export skills' },
  'lessons share': { now: 'team share' },
  'adapt overlays': { now: 'adapt changes' },
  'adapt approve': { now: 'lessons keep' },
  'adapt reject': { now: 'lessons drop' },
  'adapt retire': { now: 'lessons drop' },
  'config unset': { now: 'config set --default' },
  'config path': { now: 'config get --file' },
  'config reload': { now: 'config check --reload' },
  'config confirm': { now: 'config check --confirm' },
  'practice plan': { now: 'practice run --plan' },
  'practice tasks list': { now: 'practice tasks' },
  'practice tasks show': { now: 'practice tasks' },
  'practice tasks add': { now: 'practice tasks --add' },
  'practice tasks exclude': { now: 'practice tasks --drop' },
  'schedule status': { now: 'schedule' },
  'schedule next': { now: 'schedule --next' },
};

/** Commands that are gone, and what does the same: they are answered with it for one release. */
const REMOVED: Readonly<Record<string, string>> = {
  'lessons transfer': 'say the rule to the other agent; its words: instar lessons show LESSON',
};

interface CurrentWords {
  readonly argv: readonly string[];
  /** The name of a command that is gone, and what to do instead. */
  readonly removed?: { readonly name: string; readonly instead: string };
  /** For standard error: the name that was typed, and the one that runs. */
  readonly moved?: { readonly old: string; readonly now: string };
}

/** A line of arguments with the names of today; a group of commands without one of them gets its usual one. */
export function currentWords(argv: readonly string[]): CurrentWords {
  const places = wordPlaces(argv);
  const words = places.map((at) => argv[at] ?? '');
  if (words[0] === 'version' && words.length === 1) return { argv: argv.with(places[0] ?? 0, '--version') };
  const skipped = words[0] === 'help' ? 1 : 0;
  for (let length = 3; length > 0; length--) {
    const old = words.slice(skipped, skipped + length).join(' ');
    if (words.length < skipped + length) continue;
    const instead = REMOVED[old];
    if (instead !== undefined) return { argv, removed: { name: old, instead } };
    const successor = OLD_NAMES[old];
    if (successor === undefined) continue;
    const isOff = successor.off !== undefined && argv.includes('--off');
    const now = isOff ? successor.off : successor.now;
    const [first = 0, ...rest] = places.slice(skipped, skipped + length);
    const left = argv.map((word, at) => {
      if (at === first) return now.split(' ');
      return rest.includes(at) || (isOff && word === '--off') ? [] : [word];
    });
    return { argv: left.flat(), moved: { old, now } };
  }
  if (words[0] === 'today') return { argv, moved: { old: 'today', now: 'status --why' } };
  const bare = words.length === 1 && !asksForHelp(argv) ? COMMANDS[words[0] ?? '']?.bare : undefined;
  return { argv: bare === undefined ? argv : argv.toSpliced((places[0] ?? 0) + 1, 0, bare) };
}

const asksForHelp = (argv: readonly string[]): boolean => argv.includes('--help') || argv.includes('-h');

/** Where the words stand that are no options, and not the value of `--home`. */
function wordPlaces(argv: readonly string[]): readonly number[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.flatMap((word, at) =>
    at >= end || word.startsWith('-') || argv[at - 1] === '--home' ? [] : [at],
  );
}
