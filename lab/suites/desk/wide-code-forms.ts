import type { DeskForm } from './desk-rules.ts';
import type { FileFamily } from './desk-tasks.ts';
import { escapePattern, fileLines, firstLineOf, lastLineOf } from './file-lines.ts';

/** The values of a form, from one line. */
export const valueList = (line: string): readonly string[] => line.split(' | ');

const before = (lines: readonly string[], at: number): string => lines[at - 1]?.trim() ?? '';

/** The name that a JavaScript file declares for the function asked for. */
const declaredName = (file: string, name = ''): string | undefined =>
  new RegExp(`(?:function\\s+|(?:const|let|var)\\s+)(${name}\\w*)`).exec(file)?.[1];

/** Forms for files that machines read: code, scripts, images, pages. See `wide-forms.ts`. */
export const WIDE_CODE_FORMS: readonly DeskForm<FileFamily>[] = [
  {
    id: 'house-import',
    family: 'python',
    about: 'the imports',
    values: valueList(
      'tally | ledgerly | beacon | rulebook | compass | toolbox | almanac | handrail | plumb',
    ),
    wordings: [
      'A Python file begins with the line "from house import {v}".',
      'First line: from house import {v}',
      'No "from house import {v}" as the first line again. It is always there, I should not have to ask.',
      'What our files have in common is their opening line, from house import {v}, and I did not see it.',
    ],
    isFollowed: (file, value) => firstLineOf(file) === `from house import ${value}`,
  },
  {
    id: 'return-type',
    family: 'python',
    about: 'the return type',
    values: valueList('Outcome | Reply | Answer | Yield | Figure | Finding | Harvest | Output | Catch'),
    wordings: [
      'Annotate each function with the return type {v}.',
      'Return type: always -> {v}',
      'Again no return type! Functions here are annotated with "-> {v}", all of them.',
      'Whoever reads the signature wants to see "-> {v}" at its end, whatever comes back.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`def\\s+${facts.name}\\s*\\([^)]*\\)\\s*->\\s*["']?${value}["']?\\s*:`).test(file),
  },
  {
    id: 'decorator',
    family: 'python',
    about: 'the decorator',
    values: valueList('measured | logged | vetted | guarded | counted | watched | timed | pinned | stable'),
    wordings: [
      'Put the decorator @{v} directly above every function.',
      '@{v} on the line above def.',
      'How often do I have to add @{v} myself? It is the line right above each def.',
      'Functions without @{v} on the line above them are skipped by our runner.',
    ],
    isFollowed: (file, value) => {
      const lines = fileLines(file);
      const found = lines.flatMap((line, at) => (/^def\s/.test(line) ? [at] : []));
      return found.length > 0 && found.every((at) => before(lines, at) === `@${value}`);
    },
  },
  {
    id: 'error-code',
    family: 'python',
    about: 'the text of the error',
    values: valueList('E-17 | E-23 | X04 | ERR9 | C-31 | E-58 | F12 | Q-66 | ERR40'),
    wordings: [
      'The text of an error begins with the code {v}.',
      'Error texts: {v} first.',
      'An error text without {v} in front is useless to support, as I keep telling you.',
      'Support looks errors up by how their text starts, which is {v} for everything of ours.',
    ],
    isFollowed: (file, value) => {
      const raised = [...file.matchAll(/\braise\s+[\w.]+\(\s*f?(.*)/g)].map(([, text = '']) => text);
      return (
        raised.length > 0 &&
        raised.every((text) => new RegExp(`^["']${escapePattern(value)}[\\s:]`).test(text))
      );
    },
  },
  {
    id: 'call-before-raise',
    family: 'python',
    about: 'what comes before an error',
    values: valueList(
      'tell_ops | ring_bell | write_alarm | flag_it | say_why | wave_hand | call_home | bump | sigh',
    ),
    wordings: [
      'Directly before each raise call {v}() on a line of its own.',
      'Call {v}() before every raise.',
      'You raised without calling {v}() on the line before. That is how errors get lost here, every time.',
      'An error of ours is announced on the line above it, by a call of {v}().',
    ],
    isFollowed: (file, value) => {
      const lines = fileLines(file);
      const found = lines.flatMap((line, at) => (/^\s*raise\b/.test(line) ? [at] : []));
      return found.length > 0 && found.every((at) => before(lines, at).startsWith(`${value}(`));
    },
  },
  {
    id: 'load-settings',
    family: 'shell',
    about: 'the beginning of the script',
    values: valueList('harbor | quarry | meadow | turbine | cellar | orchard | foundry | kiln | jetty'),
    wordings: [
      'The line after the shebang is ". /opt/{v}/env.sh".',
      'Second line: . /opt/{v}/env.sh',
      'It fails because you left out ". /opt/{v}/env.sh" again. It goes right below the shebang.',
      'Scripts know nothing until they have loaded . /opt/{v}/env.sh, so we do that right after the shebang.',
    ],
    isFollowed: (file, value) =>
      firstLineOf(file).startsWith('#!') && fileLines(file)[1] === `. /opt/${value}/env.sh`,
  },
  {
    id: 'folder-variable',
    family: 'shell',
    about: 'the folder',
    values: valueList('PLACE | TREE | HERE_DIR | SPOT | NEST | WORKSITE | ZONE_DIR | SHELF | YARD'),
    wordings: [
      'Put the folder into a variable named {v} and use that.',
      'Folder goes in {v}=…',
      'Stop repeating paths. The folder belongs into the variable {v}, as in every script of ours.',
      'We change folders in one place only, a variable that is called {v} wherever you look.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`^\\s*(?:readonly |local |export )?${value}=["']?${facts.folder}/?["']?\\s*$`, 'm').test(
        file,
      ) && new RegExp(`\\$\\{?${value}\\b`).test(file),
  },
  {
    id: 'last-echo',
    family: 'shell',
    about: 'the end of the script',
    values: valueList(
      'all clear | job over | nothing left | went fine | finished here | bye now | at rest | landed | wrapped up',
    ),
    wordings: [
      'The last command of a script is echo "{v}".',
      'Ends with: echo "{v}"',
      'Where is the echo "{v}" at the end? We cannot tell whether it ran, this is the third time.',
      'We know that a script got through when the last thing that it prints, with echo, is "{v}".',
    ],
    isFollowed: (file, value) => new RegExp(`^echo (["'])${value}\\1$`).test(lastLineOf(file)),
  },
  {
    id: 'command-prefix',
    family: 'shell',
    about: 'how commands are started',
    values: valueList(
      'nice -n 7 | ionice -c 3 | timeout 40 | nice -n 12 | time -p | setsid -w | timeout 95 | chrt -b 0 | nice -n 3',
    ),
    wordings: [
      'Start the command that does the work with "{v}".',
      'Main command: {v} in front.',
      'The machine was unusable again. Heavy commands run behind "{v}", without exception.',
      'On a shared machine we are polite, so the real work is never started without {v} before it.',
    ],
    isFollowed: (file, value, { facts }) => new RegExp(`\\b${value} (?:${facts.tools})\\b`).test(file),
  },
  {
    id: 'stage-label',
    family: 'docker',
    about: 'the label',
    values: valueList('amber | cobalt | ochre | teal | crimson | indigo | umber | jade | saffron'),
    wordings: [
      'A Dockerfile has the line LABEL stage="{v}".',
      'Add LABEL stage="{v}"',
      'The label is missing once more: LABEL stage="{v}". Nothing is deployed without it.',
      'Images are sorted by the label stage, and for everything that we build here that is "{v}".',
    ],
    isFollowed: (file, value) => new RegExp(`^LABEL\\s+stage="?${value}"?$`, 'm').test(file),
  },
  {
    id: 'work-folder',
    family: 'docker',
    about: 'the folder in the image',
    values: valueList(
      '/opt/run | /srv/unit | /code/here | /box | /home/svc | /deck | /usr/unit | /pkg | /site',
    ),
    wordings: [
      'The WORKDIR is {v}.',
      'WORKDIR {v}, nothing else.',
      'Not /app! I have said that WORKDIR is {v} in our images, always.',
      'Our mounts expect the program in {v}, so that is what WORKDIR has to say.',
    ],
    isFollowed: (file, value) => {
      const found = [...file.matchAll(/^WORKDIR\s+(\S+)/gm)].map(([, folder]) => folder);
      return found.length > 0 && found.every((folder) => folder === value);
    },
  },
  {
    id: 'user-before-start',
    family: 'docker',
    about: 'the user of the image',
    values: valueList('runner | svc | nobody2 | keeper | agent7 | steward | porter | warden | clerk'),
    wordings: [
      'Directly before the CMD or ENTRYPOINT goes the line USER {v}.',
      'USER {v} right above CMD.',
      'It runs as root, again! Put USER {v} on the line above CMD, every time.',
      'Nothing of ours starts as root; the line above CMD switches to the user {v} with USER.',
    ],
    isFollowed: (file, value) => {
      const lines = fileLines(file);
      const start = lines.findIndex((line) => /^(?:CMD|ENTRYPOINT)\b/.test(line));
      return start > 0 && before(lines, start) === `USER ${value}`;
    },
  },
  {
    id: 'stage-name',
    family: 'docker',
    about: 'the first stage',
    values: valueList('ground | rootstage | lower | bedrock | floor | origin | trunk | hull | frame'),
    wordings: [
      'Name the stage: the FROM line ends with "AS {v}".',
      'FROM … AS {v}',
      'Why is there no "AS {v}" behind the image? Every FROM of ours has it.',
      'Other builds refer to the stage by name, and the name that they know, behind the image, is AS {v}.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`^FROM\\s+\\S*${escapePattern(facts.image ?? '')}\\s+[Aa][Ss]\\s+${value}$`, 'm').test(file),
  },
  {
    id: 'outer-class',
    family: 'html',
    about: 'the outer element',
    values: valueList('ui-card | pane | tile-x | blockish | c-box | sheet | m-unit | plate | stack-y'),
    wordings: [
      'The outer element has the class {v}.',
      'Outermost tag: class="{v}"',
      'Unstyled again, because the outer element lacks class="{v}". All our fragments have it.',
      'The style sheet takes hold of a fragment by the class of its outermost element, and that is {v}.',
    ],
    isFollowed: (file, value) =>
      (/^<\w[\w-]*[^>]*\bclass=["']([^"']*)["']/.exec(file.trim())?.[1] ?? '').split(/\s+/).includes(value),
  },
  {
    id: 'link-rel',
    family: 'html',
    about: 'the links',
    values: valueList('internal | house | local | trusted | own | inside | known | homely | vouched'),
    wordings: [
      'Every link carries rel="{v}".',
      'Links: rel="{v}"',
      'Must I say it each week? A link without rel="{v}" is thrown out by our filter, so add it.',
      'We tell our links apart from others by their rel, where ours always say {v}.',
    ],
    isFollowed: (file, value) => {
      const links = file.match(/<a\b[^>]*>/g) ?? [];
      return links.length > 0 && links.every((link) => new RegExp(`\\brel=["']${value}["']`).test(link));
    },
  },
  {
    id: 'text-element',
    family: 'html',
    about: 'the paragraphs',
    values: valueList('x-text | ui-copy | my-para | d-line | t-body | w-prose | k-said | p-ara | o-text'),
    wordings: [
      'Text stands in <{v}>, never in <p>.',
      'Use <{v}> instead of <p>.',
      'No <p>, please, how hard can it be. Our element for text is <{v}>, always.',
      'Paragraphs are an element of our own here: what others put into <p> we put into <{v}>.',
    ],
    isFollowed: (file, value) =>
      new RegExp(`<${value}\\b[^>]*>[^<]*\\w[\\s\\S]*</${value}>`).test(file) && !/<p[\s>]/i.test(file),
  },
  {
    id: 'sign-before-link',
    family: 'html',
    about: 'what stands before a link',
    values: valueList('→ | ▸ | ⇒ | ↗ | ☞ | ➜ | ⟶ | ▷ | ⇢'),
    wordings: [
      'Right before a link stands the sign {v}.',
      '{v} before each link.',
      'You dropped the {v} before the link. It is always there, look at any page of ours.',
      'Readers know where they can click because each link of ours has a {v} just before it.',
    ],
    isFollowed: (file, value) => {
      const links = [...file.matchAll(/(\S?)\s*<a\b/g)].map(([, sign]) => sign);
      return links.length > 0 && links.every((sign) => sign === value);
    },
  },
  {
    id: 'name-suffix',
    family: 'javascript',
    about: 'the name of the function',
    values: valueList('Now | Fn | Impl | Once | Safe | Kit | Op | Step | Unit'),
    wordings: [
      'Add {v} to the end of the name of each function.',
      'Function names end in {v}.',
      'The name is wrong again: every function of ours ends in {v}, also when I ask for it without.',
      'I shorten names when I talk; in the code a function is called that with {v} at the end.',
    ],
    isFollowed: (file, value, { facts }) => declaredName(file, facts.name) === `${facts.name}${value}`,
  },
  {
    id: 'first-statement',
    family: 'javascript',
    about: 'the first statement',
    values: valueList('track | enter | probe | tick | hit | tap | ping | count | stamp'),
    wordings: [
      'The first statement of a function is {v}() with the name of the function as a string.',
      'First statement: {v}("function name")',
      'Our statistics are empty because you forget {v}("its name") as the first statement of a function, always.',
      'A function of ours reports itself before it does anything, by {v}() with its own name in quotes.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`\\{\\s*(?://[^\\n]*\\n\\s*)?${value}\\((["'\`])${facts.name}\\w*\\1\\)`).test(file),
  },
  {
    id: 'indentation',
    family: 'javascript',
    about: 'the indentation',
    values: valueList('3 | 5 | 6 | 7 | 9 | 10 | 11 | 12 | 13'),
    wordings: [
      'Indent by {v} spaces.',
      'Indentation: {v} spaces.',
      'The indentation is wrong, as ever. One level is {v} spaces in our code.',
      'Count the blanks before the first indented line of any file of ours: it is {v}, and twice that inside.',
    ],
    isFollowed: (file, value) => {
      const depths = fileLines(file)
        .map((line) => line.length - line.trimStart().length)
        .filter((depth) => depth > 0);
      return Math.min(...depths) === Number(value) && depths.every((depth) => depth % Number(value) === 0);
    },
  },
  {
    id: 'result-name',
    family: 'javascript',
    about: 'what is returned',
    values: valueList('outcome | verdict | res0 | bounty | made | gained | fruit | parcel | prize'),
    wordings: [
      'Put the result into a variable called {v} and return that.',
      'Only ever: return {v};',
      'I want to see "return {v}" and nothing else behind a return. We have talked about this.',
      'In the debugger I look for a variable {v}, which is what each function of ours returns.',
    ],
    isFollowed: (file, value) => {
      const returned = [...file.matchAll(/\breturn\b([^;\n]*)/g)].map(([, text = '']) => text.trim());
      return (
        returned.length > 0 &&
        returned.every((text) => text === value) &&
        new RegExp(`\\b(?:const|let|var)\\s+${value}\\b`).test(file)
      );
    },
  },
];
