import type { SplitWordings } from '../files/scene.ts';

/*
 * How people speak of the forms that rules are drawn from. The splits have their own frames and, where it goes, their own words: no run of five words is
 * in two of them.
 */
export const DRAWN_WORDINGS = {
  times: {
    train: [
      'Write dates and times like {example}.',
      'Every time goes down as {format}.',
      'Please put the time as {format}, so here {example}.',
      'A time is written {example}, nothing else.',
      'When a value is a time, format it as {format}.',
      'Timestamps look like {example} in our files.',
      'You wrote the time in your own way; it must be {example}.',
      'Convert dates with their times to {format}, e.g. {example}.',
    ],
    gate: [
      'The moment should read {example}.',
      'Our clock notation is {format}.',
      'I expected {example} there, and the same pattern for any other moment.',
      'Stick to {format} whenever a moment is recorded.',
      'Moments come out as {example} with us.',
    ],
    report: [
      'Hours and days belong in this shape: {example}.',
      'The pattern for when something happens is {format}.',
      'Mind our calendar style, {example} for instance.',
      'That date is unreadable to the import; give it {example}.',
      'Anything with a clock in it follows {format}.',
    ],
  },
  'file-names': {
    train: [
      'Name new files like {example}.',
      'Call a new file {example}: the date is {date}, the words are in {words}.',
      'A file name has the date ({date}) and its subject in {words}, as in {example}.',
      'The file should be called {example}.',
      'For names of new files use {words} and the date as {date}.',
      'Whatever you create is named like this: {example}.',
      'Please rename: {example} is how such a file is called.',
    ],
    gate: [
      'I would have searched for {example}.',
      'Its title on disk must be {example}, with {date} for the day and {words} for the rest.',
      'Documents get {words} names with the day as {date}.',
      'On disk this one is {example}, and the others follow suit.',
    ],
    report: [
      'We find things again only when they are called something like {example}.',
      'Label fresh documents by day ({date}) and matter, {words}, e.g. {example}.',
      'Not that name: {example}.',
      'The day as {date} plus a few words in {words} make up every name.',
    ],
  },
  metadata: {
    train: [
      'Add {time}, {author} and {state} under "{under}" to each JSON file you create; {state} is one of {states}.',
      'A new JSON file has an object "{under}" with {time}, {author} and {state} ({states}).',
      'New files say {time}, {author} and {state} in "{under}", where {state} may be {states}.',
      'Each document needs "{under}" with the keys {time}, {author}, {state}; allowed for {state}: {states}.',
      'Put {time}, {author} and {state} into "{under}" when you create JSON ({state}: {states}).',
      'I miss "{under}" in the new file: {time}, {author} and {state}, the last one of {states}.',
    ],
    gate: [
      'Whoever opens it wants "{under}" there: {time} for the day, {author} for the person, {state} out of {states}.',
      'Without "{under}" ({time}, {author}, {state}) I cannot file it; {state} knows only {states}.',
      '"{under}" is compulsory and holds {time}, {author} plus {state}, which is {states}.',
      'Supply the block "{under}": {time} is today, {author} is {name}, {state} comes from {states}.',
    ],
    report: [
      'Documents introduce themselves in "{under}" by {time}, {author} and {state}; for the latter choose from {states}.',
      'The part called "{under}" is gone. It tells {time}, {author}, {state} (so {states}).',
      'We track origin: "{under}" with {time} and {author}, and {state} being {states}.',
      'Fill "{under}" too, meaning {time}, {author} ({name} here) and {state}, any of {states}.',
    ],
  },
  backup: {
    train: [
      'Copy a file before you change it, {suffix} goes {side} its name, e.g. {copy}.',
      'Keep the old version of {file} as {copy} before you edit.',
      'First save the file with {suffix} {side} its name, then change it.',
      'Before any edit, cp the file to {copy}.',
      'Make a copy with {suffix} {side} the name of whatever you are about to change.',
      'A change to {file} begins with a copy of it, {copy}.',
      'Back up each file as {copy} before its first change.',
    ],
    gate: [
      'I wanted {copy} to be there with the previous content.',
      'Never overwrite without a duplicate: {suffix} {side} the old name.',
      'Duplicate {file} to {copy}, only then modify.',
      'The former state has to survive, under {copy} for instance.',
    ],
    report: [
      'Where is {copy}? Nothing gets modified without one.',
      'What stood there earlier must remain available as {copy}.',
      'Secure the earlier state of a document; we mark it with {suffix} {side} the name.',
      'Edits are fine once {copy} exists.',
    ],
  },
  'done-log': {
    train: [
      'Append a line "{line}" to {file} when a task is over, with a summary of up to {longest} characters.',
      'At the end of each task write "{line}" into {file}, at most {longest} characters of summary.',
      'Log finished work in {file} as "{line}".',
      'A finished task has its line in {file}, for instance "{example}".',
      'Note every task in {file}: "{line}". Its summary takes {longest} characters at most.',
      'Once a task is complete, {file} gets the line "{example}".',
      'After the work, add "{line}" to {file}.',
    ],
    gate: [
      '{file} knows nothing of {task} yet; it wants "{example}".',
      'Report completion in {file}: {line}, keeping what was done within {longest} characters.',
      'Completed jobs are entered into {file} following {line}.',
      'Tell {file} that you have finished, in this manner: {example}',
    ],
    report: [
      'I look into {file} to see what is finished, and "{example}" was not there.',
      'Close each job by an entry to {file} shaped {line}; {longest} characters suffice for the gist.',
      'An entry belongs into {file} afterwards: {line}',
      'Your colleagues all sign off through {file}, as in "{example}".',
    ],
  },
  'ticket-prefix': {
    train: [
      'Write a ticket as {example}.',
      'Tickets carry {prefix} in front of their number: {example}.',
      'A ticket number alone is not enough, write {example}.',
      'Put {prefix} before each ticket number.',
      'For ticket {number} write {example}.',
      'Every ticket begins with {prefix}, e.g. {example}.',
      'Give ticket numbers their letters: {number} becomes {example}.',
    ],
    gate: [
      'What you call {number} is {example} to us.',
      'A naked {number} confuses the board; {prefix} has to lead it.',
      '{example}, please.',
      'References to tickets start by {prefix}.',
    ],
    report: [
      'Nobody finds {number}; everybody finds {example}.',
      'The board links only what is spelt {example}.',
      'Lead with {prefix} if you refer to any ticket.',
      'It reads {number}, yet {example} would be correct.',
    ],
  },
  units: {
    train: [
      'Write amounts like "{example}".',
      'An amount is a text with its unit, such as "{example}".',
      'Put "{example}" where you would put {number}.',
      'Never leave an amount without its unit; write "{example}".',
      'Give each amount its unit, joined like "{example}".',
      'Amounts look like "{example}" in all files.',
    ],
    gate: [
      '{number} of what? "{example}".',
      'I read {number} and had to guess; "{example}" says it.',
      'Sums and hours state what they are in, "{example}" being a case.',
      'Spell quantities out as "{example}".',
    ],
    report: [
      'Is that money or time? Tell by writing "{example}".',
      'Bare figures get sent back; "{example}" passes.',
      'Any quantity names what it counts: "{example}".',
      'Our sheets take "{example}" only.',
    ],
  },
  'sorted-keys': {
    train: [
      'Order the keys of new JSON files: {example}.',
      'Keys of a JSON object stand in {order} order, as in {example}.',
      'Put the keys of new JSON in {order} order.',
      'Sort JSON keys so that they read {example}.',
      'JSON keys are sorted, first {first} and last {last}.',
      'The keys run {order}: {example}.',
    ],
    gate: [
      'The members are jumbled, I want {example}.',
      'Arrange members {order}.',
      'Open with {first}, close with {last}, everything else {order} between.',
      'Sequence matters to us: {example}',
    ],
    report: [
      'Our diff tool needs the entries this way round: {example}.',
      'Entries come {order}, also inside nested objects.',
      'It should have run {example}.',
      'Tidy up: {first} to {last}, {order}.',
    ],
  },
  'header-comment': {
    train: [
      'Begin a new JSON file with the key {example}.',
      'The first key of new JSON is always {example}.',
      'Put {example} on top of each JSON file you make.',
      'Each new file opens with {example}.',
      'New documents start with our remark {example}.',
      'Before anything else, a new JSON file says {example}.',
    ],
    gate: [
      'Above all the rest there must stand {example}.',
      'Who may read it? Declare {example} at the very start.',
      '{example} heads every document of ours.',
      'You skipped the opening: {example}',
    ],
    report: [
      'Readers look at the top and find no {example}.',
      'Open whatever you draw up by {example}, ahead of the content.',
      'Our documents lead off as follows: {example}',
      'Missing at the beginning is {example}.',
    ],
  },
  checksums: {
    train: [
      'Add sha256 sums of what you touched to {file}.',
      'Run sha256sum on each file of the task and append it to {file}.',
      'List files with their sha256 in {file} after you wrote or changed them.',
      '{file} gets a line from sha256sum per file of a task.',
      'After the work, append what sha256sum says of your files to {file}.',
      'Keep {file} complete: the sha256 and the path of all that you wrote.',
    ],
    gate: [
      'I cannot prove that {path} is genuine, {file} has no hash for it.',
      'Hashes (sha256) of your results are collected by {file}.',
      'Let sha256sum speak about {path} and send its output to {file}.',
      'Each result is vouched for through its sha256 inside {file}.',
    ],
    report: [
      'The audit compares {path} against {file}; its sha256 was absent.',
      'Conclude with sha256sum >> {file} for whatever you produced.',
      '{file} must vouch for {path}, by sha256.',
      'Fingerprints, sha256 that is, of anything produced or altered end up in {file}.',
    ],
  },
} as const satisfies Readonly<Record<string, SplitWordings>>;
