/** How the scripted policies do a file question: what they write, in terms of the house rules. */
export type ScriptedWork =
  /** Sets times in a JSON file, which is made where it is missing. `before`: Python lines on `data`; `from`: the file to begin with. */
  | {
      readonly kind: 'times';
      readonly file: string;
      readonly fields: readonly string[];
      readonly from?: string;
      readonly before?: string;
    }
  /** A new document whose name the worker chooses, `ci_build_report.json`. */
  | { readonly kind: 'document'; readonly name: string; readonly fields?: readonly string[] }
  /** A text at a fixed place, with `{10:00}` where a time stands. */
  | { readonly kind: 'text'; readonly file: string; readonly text: string }
  /** Sets times in the JSON files whose names contain a word. */
  | { readonly kind: 'amend'; readonly word: string; readonly fields: readonly string[] };

interface WorkPlace {
  /** `day01` */
  readonly day: string;
  /** `2026-03-16` */
  readonly date: string;
  /** Whether the worker follows a rule. */
  follows(rule: string): boolean;
  /** Whether the question is checked for a rule: only then the worker thinks of it. */
  isChecked(rule: string): boolean;
}

/** Shell commands that do the work, following some rules and breaking the others in the ways that people do. */
export function commandsFor(work: ScriptedWork, place: WorkPlace): readonly string[] {
  const { day } = place;
  switch (work.kind) {
    case 'times':
      return [
        patch({
          files: JSON.stringify([`${day}/${work.file}`]),
          from: work.from === undefined ? undefined : `${day}/${work.from}`,
          before: work.before === undefined ? '' : fillTimes(work.before, place),
          values: timesOf(work.fields, place),
        }),
      ];
    case 'amend':
      return [
        patch({
          files: `sorted(glob.glob(${JSON.stringify(`${day}/*${work.word}*.json`)}))`,
          from: undefined,
          before: '',
          values: timesOf(work.fields, place),
        }),
      ];
    case 'text':
      return [heredoc(`${day}/${work.file}`, fillTimes(work.text, place))];
    case 'document':
      return [heredoc(`${day}/${nameOfDocument(work.name, place)}`, documentText(work, place))];
  }
}

const heredoc = (file: string, text: string): string => `cat > ${file} <<'EOF'\n${text.trimEnd()}\nEOF`;

/** With the rule `2026-03-16T09:30:00+08:00`, without it `2026-03-16 09:30`. */
const timeAt = (clock: string, { date, follows }: WorkPlace): string =>
  follows('P1') ? `${date}T${clock}:00+08:00` : `${date} ${clock}`;

const fillTimes = (text: string, place: WorkPlace): string =>
  text.replace(/\{(\d{2}:\d{2})\}/g, (_, clock: string) => timeAt(clock, place));

/** A quarter of an hour apart, from 9:00. */
const timesOf = (fields: readonly string[], place: WorkPlace): readonly (readonly [string, string])[] =>
  fields.map((field, nth) => {
    const minutes = 9 * 60 + 15 * nth;
    const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
    return [field, timeAt(clock.join(':'), place)];
  });

/** With the rule `20260323_ci_build_report.json`, without it `ci-build-report.json`. */
const nameOfDocument = (name: string, { date, follows }: WorkPlace): string =>
  follows('P2') ? `${date.replaceAll('-', '')}_${name}` : name.replaceAll('_', '-');

function documentText({ name, fields = [] }: ScriptedWork & { kind: 'document' }, place: WorkPlace): string {
  const [title = '', type = ''] = name.split('.');
  const words = title.replaceAll('_', ' ');
  const created = timeAt('09:00', place);
  const hasMeta = place.isChecked('P3') && place.follows('P3');
  const meta = { created_at: created, author: 'metaclaw_agent', status: 'done' };
  const lines = Object.entries(meta).map(([key, value]) => `${key}: ${value}`);
  switch (type) {
    case 'json':
      return JSON.stringify(
        {
          ...(hasMeta ? { meta } : {}),
          title: words,
          ...Object.fromEntries(timesOf(fields, place)),
          items: [],
        },
        undefined,
        2,
      );
    case 'py':
      return `"""The ${words}.\n${hasMeta ? `\nMeta:\n${lines.map((line) => `  ${line}\n`).join('')}` : ''}"""\n\n\ndef main():\n    print("${words}")\n`;
    case 'csv': {
      const head = Object.entries(meta).map(([key, value]) => `${key}=${value.replaceAll(' ', '_')}`);
      return `${hasMeta ? `# meta: ${head.join(' ')}\n` : ''}name,value\n${words},1\n`;
    }
    default:
      return `${hasMeta ? `---\n${lines.join('\n')}\n---\n\n` : ''}# ${words}\n\nWritten at ${created}.\n`;
  }
}

interface Patch {
  /** A Python expression. */
  readonly files: string;
  readonly from: string | undefined;
  readonly before: string;
  readonly values: readonly (readonly [string, string])[];
}

/** Sets values at paths such as `tasks[].due_date`, in each element of a list; a missing list gets one element. */
const patch = ({ files, from, before, values }: Patch): string => `python3 - <<'EOF'
import glob, json, os

def put(node, path, value):
    head, _, rest = path.partition('.')
    name = head[:-2] if head.endswith('[]') else head
    if head.endswith('[]'):
        node[name] = node.get(name) or [{}]
        for item in node[name]:
            put(item, rest, value)
    elif rest:
        put(node.setdefault(name, {}), rest, value)
    else:
        node[name] = value

for file in ${files}:
    first = ${from === undefined ? 'file' : JSON.stringify(from)}
    data = json.load(open(first)) if os.path.exists(first) else {}
${before
  .split('\n')
  .map((line) => (line === '' ? '' : `    ${line}\n`))
  .join('')}    for path, value in ${JSON.stringify(values)}:
        put(data, path, value)
    json.dump(data, open(file, 'w'), indent=2)
EOF`;
