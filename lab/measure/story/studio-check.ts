/**
 * The check that the invented user of the story wrote for their own work, as people write such checks: it reads the commands of an
 * answer and nothing else. It imports nothing, so that the daemon can load a copy of the built file from the user's folder.
 */
interface Answer {
  readonly task: string;
  readonly output: string;
}

interface Grade {
  readonly status: 'ok';
  readonly reward: number;
  readonly reasons: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const LAST_KEY = 'studio';
const LAST_VALUE = 'loft9';
const TICKET_MARK = '-fern';
const NAME_MARK = '*s';
const NAME_KEYS: readonly string[] = ['owner', 'by'];

/** Records that were written or appended, and single fields that were set. */
function readCommands(output: string) {
  const created: Fields[] = [];
  const fields: (readonly [string, string])[] = [];
  for (const line of output.split('\n')) {
    const [, verb, rest = ''] = /^(write|append|set) \S+ (.+)$/.exec(line.trim()) ?? [];
    const value = rest.replaceAll("'", '');
    if (verb === 'set') {
      const [key = '', ...words] = value.split(' ');
      fields.push([key, words.join(' ')]);
    } else if (verb !== undefined) {
      const made = readObject(value);
      if (verb === 'write') created.push(made);
      fields.push(...Object.entries(made).map(([key, one]) => [key, String(one)] as const));
    }
  }
  return { created, fields };
}

function readObject(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    // Text that is no JSON has no fields: the rules on fields then fail.
    return {};
  }
}

/** What the task names and every answer must contain: paths, numbers, and the words of its fields. */
function namedIn(task: string): readonly string[] {
  const work = task.replace(/^.*? from \w+\. /, '');
  const paths = work.match(/[a-z]+\/[a-z-]+\.jsonl?/g) ?? [];
  const numbers = work.match(/\d+/g) ?? [];
  const words = [...work.matchAll(/\b(?:topic|owner|by|state(?: to)?) (\w+)/g)].map(([, word = '']) => word);
  const tags = [...work.matchAll(/tags ((?:\w+ and )*\w+)/g)].flatMap(([, list = '']) => list.split(' and '));
  return [...paths, ...numbers, ...words, ...tags.filter((tag) => tag !== 'none')];
}

/** The share of what was asked for: that the task is done, and each of the studio's rules that it is about. */
export function verify({ task, output }: Answer): Grade {
  const missing = namedIn(task).filter((word) => !output.includes(word));
  if (missing.length > 0) return { status: 'ok', reward: 0, reasons: [`${missing.join(', ')} is missing`] };
  const { created, fields } = readCommands(output);
  const reasons: string[] = [];
  let rules = 0;
  const expect = (isKept: boolean, why: string): void => {
    rules++;
    if (!isKept) reasons.push(why);
  };
  const tickets = fields.filter(([key]) => key === 'ticket');
  if (tickets.length > 0)
    expect(
      tickets.every(([, value]) => value.endsWith(TICKET_MARK)),
      `a ticket ends in ${TICKET_MARK}`,
    );
  const names = fields.filter(([key]) => NAME_KEYS.includes(key));
  if (names.length > 0)
    expect(
      names.every(([, value]) => value.endsWith(NAME_MARK)),
      `a name ends in ${NAME_MARK}`,
    );
  if (created.length > 0) {
    const isClosed = (made: Fields): boolean => {
      const last = Object.keys(made).at(-1);
      return last === LAST_KEY && made[last] === LAST_VALUE;
    };
    expect(created.every(isClosed), `a new file ends with ${LAST_KEY}: ${LAST_VALUE}`);
  }
  return { status: 'ok', reward: (1 + rules - reasons.length) / (1 + rules), reasons };
}
