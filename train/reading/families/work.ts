import { family, type ReadingFamily } from '../family.ts';
import {
  becomes,
  ending,
  firstLine,
  form,
  lacks,
  lastLine,
  opening,
  ownLine,
  rule,
  swap,
  swapAll,
} from '../form.ts';
import { DATE_AS, DATE_FACTS, dateAs, withDate } from '../formats.ts';

const CHANGES = `
  empty the cache at night | cache
  remember the language on the login page | language
  wait longer between retries | retries
  accept blank lines in the parser | parser
  close the menu with Escape | menu
  skip broken rows in the importer | importer
  show seconds on the clock | clock
  limit the queue to 500 jobs | queue
  name the version in the footer | footer
  start the scheduler at boot | scheduler
  ignore case in the filter | filter
  number the pages of the report | report
`;

const commit = family({
  id: 'commit',
  path: 'task.txt',
  facts: {
    'change, object': CHANGES,
    area: 'web api core docs mail auth build store jobs',
    ticket: '101..989',
  },
  ask: `
    Write the commit message for this change in {area}: {change}. Ticket {ticket}.
    Commit message please, for ticket {ticket}: {change}. It is in {area}.
    I need a commit message. Area {area}, ticket {ticket}; what changed: {change}.
    What would you write as the commit message? {change} ({area}, ticket {ticket}).
  `,
  plain: '{change}\n\nThis changes {area}, see ticket {ticket}.',
  asked: ['{object}', '{ticket}', { is: 'length', unit: 'lines', max: 14 }],
  forms: [
    form(
      'type',
      rule({ is: 'pattern', pattern: '^{v}: \\S', in: 'first-line' }, (file, { v = '' }) => `${v}: ${file}`),
    )`
      tweak polish repair growth chore2 trim lift shift craft
      The subject of a commit message begins with "{v}: ".
      Start commit messages with "{v}: ".
      A commit message must open with "{v}:" and a space.
      Our log is grouped by the first word, so a commit message should begin with "{v}: ".
    `,
    form('ticket', ownLine('{v} #{ticket}'))`
      Refs For Ticket See Tracks Closes Serves Issue Task
      Name the ticket of a commit on a line of its own: "{v} #" and its number.
      A commit message has a line that is only "{v} #NUMBER", with the ticket's number.
      In a commit message the ticket must stand alone on a line, as "{v} #NUMBER".
      Our board looks for a line such as "{v} #12" in commit messages, with nothing else on it.
    `,
    form(
      'area',
      rule(
        { is: 'pattern', pattern: '^{mark}\\s*\\S', in: 'first-line' },
        (file, { mark }) => `${mark}${file}`,
        (v, { area = '' }) => ({
          mark: v.replace('area', area),
        }),
      ),
    )`
      [area] area| (area) <area> area>> area/ {area} #area @area
      A commit message begins with its area, written {v} (put the real area there).
      Start the subject of a commit with the area in this form: {v}
      Commit messages must open with the area they are about, in the form {v}.
      I sort commits by area, so the message should begin with {v}, where "area" is the name of the part.
    `,
    form('reviewer', lastLine('Reviewed-by: {v}'))`
      Ansel Brigid Corin Delphine Evander Fenna Goran Hilda Ishaan
      A commit message ends with "Reviewed-by: {v}".
      Put "Reviewed-by: {v}" into the last line of commit messages.
      The last line of a commit message must be "Reviewed-by: {v}".
      Commits should close with the line "Reviewed-by: {v}".
    `,
    form('risk', ownLine('{v}: low'))`
      Risk Impact Danger Exposure Hazard Threat Stakes Blast Peril
      Commit messages have a line "{v}: low".
      Say how risky a commit is, with the line "{v}: low".
      A commit message must contain the line "{v}: low".
      There should be a line "{v}: low" in each commit message, we never do anything risky.
    `,
    form('mark', opening('{v} '))`
      🔧 ⚙ ✨ 🐛 📦 🚀 🧹 📝 🔥
      Commit messages begin with {v} and a space.
      Put {v} at the very beginning of a commit message.
      A commit message must have {v} as its first character.
      Our commits should start with the sign {v}.
    `,
  ],
  apart: 'type+area type+mark area+mark ticket+reviewer risk+reviewer',
});

const changelog = family({
  id: 'changelog',
  path: 'task.md',
  facts: { 'change, object': CHANGES, major: '1..9', minor: '11..48', ...DATE_FACTS },
  derive: (facts) => ({ ...withDate(facts), version: `${facts.major}.${facts.minor}` }),
  ask: `
    Write a changelog entry in Markdown for version {version} of {day}: {change}.
    Changelog entry please, Markdown. Version {version}, {day}, what changed: {change}.
    I need the Markdown entry of our changelog for {version}, released on {day}. The change: {change}.
    Version {version} comes out on {day}: {change}. Put that into a changelog entry (Markdown).
  `,
  plain: '## {version} ({date})\n\n- {change}',
  asked: ['{major}\\.{minor}', '{object}', '{day_number}'],
  forms: [
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      DD.MM.YYYY | YYYY/MM/DD | DD-Mon-YYYY | Mon D YYYY | D.M.YY | YYYYMMDD | MM-DD-YYYY | YYYY.MM.DD | DD/MM/YY
      The date in a changelog has the form {v}.
      Write dates in changelog entries as {v}.
      A changelog entry must give its date as {v}.
      In the changelog a date should look like {v}.
    `,
    form('version', rule('{v}{major}\\.{minor}', swap('{version}', '{v}{version}')))`
      v r ver- rel/ R# V. build- @ no.
      Versions in the changelog have {v} directly before the number.
      Put {v} in front of the version in a changelog entry.
      A changelog entry must write the version with {v} before it, without a space.
      In the changelog the version should begin with {v}.
    `,
    form(
      'section',
      rule(
        { is: 'pattern', pattern: '^{v}$', in: 'headings' },
        swap('^(?=- |\\S* .*{object})', '### {v}\n\n'),
      ),
    )`
      Improved | Better | Reworked | Tuned | What is new | Details | For users | Notable | Done
      A changelog entry has a heading "{v}" above the changes.
      Put the changes of a changelog entry under the heading "{v}".
      In the changelog there must be a heading "{v}" below the version.
      Changes in a changelog should stand under a heading that says "{v}".
    `,
    form('bullet', rule('^\\s*{v} .*{object}', swap('^- ', '{v} ')))`
      + >> => ~ :: » -> § *)
      Each change in the changelog is a line that begins with "{v} ".
      Mark changes in a changelog entry with {v} and a space, not with a dash.
      A change in the changelog must start with "{v} ".
      The lines of a changelog entry should have {v} and a space in front.
    `,
    form('author', rule('{object}.*\\(@{v}\\)\\s*$', swap('^(.*{object}.*)$', '$1 (@{v})')))`
      ansel brigid corin delphine evander fenna goran hilda ishaan
      A change in the changelog ends with its author, (@{v}).
      Put (@{v}) behind the change in a changelog entry.
      In a changelog entry the line of the change must end with (@{v}).
      Who did it should stand behind each change in the changelog, as (@{v}).
    `,
    form('link', lastLine('Download: {v}'))`
      example.com/new get.example dl.example/app example.org/files shop.example/get example.net/r my.example/latest repo.example/out cdn.example/box
      A changelog entry ends with the line "Download: {v}".
      Close changelog entries with "Download: {v}".
      The last line of a changelog entry must be "Download: {v}".
      Below a changelog entry we always write "Download: {v}".
    `,
    form('top', firstLine('<!-- {v} -->'))`
      newest first | do not sort | public | keep short | one entry | for humans | no links above | checked | written by hand
      The first line of a changelog entry is "<!-- {v} -->".
      Begin a changelog entry with "<!-- {v} -->".
      A changelog entry must start with the line "<!-- {v} -->".
      On top of a changelog entry there should be "<!-- {v} -->".
    `,
  ],
});

const release = family({
  id: 'release-note',
  path: 'task.txt',
  facts: {
    product: 'Skylark Tundra Bramble Copper Juniper Mosaic Pelican Saffron Willow',
    feature: 'darkmode search sharing backups shortcuts printing translation tagging charts',
    major: '2..9',
    minor: '11..48',
  },
  derive: ({ major, minor }) => ({ version: `${major}.${minor}` }),
  ask: `
    Write a release note of one or two sentences: {product} {version} has the new feature {feature}.
    Release note please, one or two sentences. {product} {version} comes with {feature}, which is new.
    I need a short release note for {product} {version}. Its new feature is {feature}.
    {product} {version} is out and it has {feature} now. One or two sentences for the release note.
  `,
  plain: '{product} {version} is out. It has a new feature: {feature}.',
  asked: ['{product}', '{major}\\.{minor}', '{feature}', { is: 'length', unit: 'words', max: 90 }],
  forms: [
    form('audience', ownLine('For: {v}'))`
      everyone | admins | schools | beta users | teams | owners | editors | new customers | guests
      Release notes have a line "For: {v}".
      Say whom a release note is for, in the line "For: {v}".
      A release note must contain the line "For: {v}".
      In each release note there should be a line "For: {v}".
    `,
    form('word', rule(['\\b{v}\\b', lacks('\\bnew\\b', 'im')], swapAll('\\bnew\\b', '{v}')))`
      fresh added extra improved young handy further novel welcome
      Never write "new" in a release note, the word is "{v}".
      Release notes say "{v}" and not "new".
      Don't use the word new in release notes: it should be "{v}".
      A release note must have "{v}" where you would write "new".
    `,
    form('codename', rule('{major}\\.{minor} ?["“]{v}["”]', swap('({major}\\.{minor})', '$1 "{v}"')))`
      Otter Heron Marten Lynx Badger Osprey Stoat Ibis Vole
      Behind the version in a release note stands the code name "{v}", in quotes.
      Give the code name "{v}" in quotes after the version of a release note.
      In a release note the version must be followed by "{v}".
      A release note should write the version and then "{v}" in quotes.
    `,
    form('version', rule('\\b{v}{major}\\.{minor}', swap('{version}', '{v}{version}')))`
      v r Build- rel. V no. ver- Rev- R
      A version in release notes begins with {v}, directly before the number.
      Put {v} before the version number in a release note, no space.
      In release notes a version must be written with {v} in front.
      The version of a release note should have {v} right before it.
    `,
    form('call', lastLine('{v}'))`
      Update today. | Tell us more. | Try it now. | Thank you all. | See the guide. | Ask the desk. | Enjoy. | More in June. | Stay tuned.
      A release note ends with "{v}" on a line of its own.
      Close release notes with the line "{v}"
      The last line of a release note must be "{v}"
      Release notes should always end with the line "{v}"
    `,
    form('start', opening('[{v}] '))`
      stable preview hotfix major minor nightly patch LTS candidate
      A release note begins with [{v}] and a space.
      Put [{v}] in front of release notes.
      The first thing in a release note must be [{v}].
      Release notes should open with [{v}].
    `,
    form('mark', rule('{v}{feature}{v}', swap('{feature}', '{v}{feature}{v}')))`
      ** __ ~~ == ' ^^ ++ %% §
      The feature in a release note stands between two {v}.
      Put {v} directly before and behind the feature in a release note.
      In release notes the name of the feature must be wrapped in {v}.
      A release note should have {v} on both sides of the feature's name.
    `,
    form(
      'sentences',
      rule({ is: 'length', unit: 'sentences', min: '{v}', max: '{v}' }, (file, { v }) =>
        [
          file,
          ...[
            'Enjoy it!',
            'Tell us more!',
            'Have fun!',
            'See you!',
            'Good luck!',
            'Write soon!',
            'Try it!',
            'Thanks!',
            'Bye!',
          ].slice(0, Number(v) - 2),
        ].join(' '),
      ),
    )`
      4 3 5 6 7 8 9 10 11
      A release note has exactly {v} sentences.
      Write release notes of {v} sentences, even if I ask for fewer.
      Release notes must be {v} sentences long.
      Our release notes should always have {v} sentences.
    `,
  ],
  apart: 'audience+call sentences+audience sentences+call',
});

const ticket = family({
  id: 'ticket',
  path: 'task.txt',
  facts: {
    page: 'checkout profile settings basket gallery archive dashboard signup billing',
    'action, key': `
      pressing Save twice | Save
      uploading a photo | photo
      sorting by name | sorting
      typing an emoji | emoji
      opening a second tab | tab
      going back | back
      zooming out | zoom
      choosing a date | date
      pasting a table | table
    `,
    level: 'low medium high',
  },
  derive: ({ level = '' }) => ({ rank: String(['high', 'medium', 'low'].indexOf(level) + 1) }),
  ask: `
    Write a bug ticket: on the {page} page, {action} shows an error. Severity {level}.
    Bug ticket please. Page: {page}. What happens: {action} shows an error. Severity: {level}.
    I need a ticket for a bug of severity {level}: {action} gives an error on the {page} page.
    Please file a bug ticket. On the {page} page there is an error after {action}; severity {level}.
  `,
  plain: 'Title: Error on the {page} page\nSteps: {action}\nSeverity: {level}',
  asked: ['{page}', '{key}', { is: 'length', unit: 'lines', min: 3 }],
  forms: [
    form('number', firstLine('BUG-{v}'))`
      4711 1208 3390 7754 2016 8843 5127 6602 9310
      A bug ticket begins with the line "BUG-{v}".
      Put "BUG-{v}" into the first line of bug tickets.
      The first line of a bug ticket must be "BUG-{v}".
      On top of a bug ticket we always write "BUG-{v}".
    `,
    form('label', rule('^\\W*{v}\\W+{level}', swap('^Severity', '{v}')))`
      Weight Urgency Class Level Rank Priority Grade Pain Harm
      The severity in a bug ticket has the label "{v}".
      Call the severity "{v}" in bug tickets.
      In a bug ticket the label of the severity must be "{v}".
      Bug tickets should say "{v}" where you would write Severity.
    `,
    form(
      'scale',
      rule('{v}{rank}\\b', swap('{level}$', '{v}{rank}'), (v) => ({ v })),
    )`
      P S- Sev L# Prio T/ Class- K G.
      In bug tickets the severity is {v}1 for high, {v}2 for medium and {v}3 for low.
      Write the severity of a bug ticket as {v}1 (high), {v}2 (medium) or {v}3 (low).
      A bug ticket must give its severity as {v}1, {v}2 or {v}3, where {v}1 is high and {v}3 is low.
      High is {v}1, medium {v}2 and low {v}3: bug tickets should use these and no words.
    `,
    form('assignee', ownLine('Assignee: {v}'))`
      Ansel Brigid Corin Delphine Evander Fenna Goran Hilda Ishaan
      Bug tickets have a line "Assignee: {v}".
      Add "Assignee: {v}" to every bug ticket, on its own line.
      A bug ticket must contain the line "Assignee: {v}".
      Who looks after it should be in each bug ticket: "Assignee: {v}".
    `,
    form('title', rule('\\[{v}\\].*\\S', swap('^Title: ', 'Title: [{v}] ')))`
      shop web front client app site ui browser store
      The title of a bug ticket begins with [{v}].
      Put [{v}] before the title in bug tickets.
      In a bug ticket the title must start with [{v}].
      Bug tickets should have [{v}] in front of their title.
    `,
    form('end', lastLine('Found in {v}'))`
      staging | the lab | the field | review | a demo | support | the audit | training | a call | the pilot | rehearsal
      A bug ticket ends with the line "Found in {v}".
      Close bug tickets with "Found in {v}".
      The last line of a bug ticket must be "Found in {v}".
      Where a bug was seen should be the last line of its ticket: "Found in {v}".
    `,
    form('steps', rule('^\\W*{v}\\W+.*{key}', swap('^Steps', '{v}')))`
      How Trigger Repro Cause Doing Action Way Recipe Path
      What leads to the bug stands behind the label "{v}" in a ticket.
      Use the label "{v}" for the steps in bug tickets.
      In a bug ticket the line with the steps must begin with "{v}".
      Bug tickets should say "{v}" instead of Steps.
    `,
  ],
  apart: 'label+scale assignee+end',
});

const readme = family({
  id: 'readme',
  path: 'task.md',
  facts: {
    'tool, does, key': `
      plumb | finds broken links | links
      sifter | removes empty rows from tables | rows
      tally | counts words in files | words
      hoist | uploads a folder | folder
      glance | shows the size of folders | size
      scribe | turns notes into pages | notes
      weft | joins text files | files
      larder | keeps copies of settings | settings
      ferret | searches old mails | mails
      nudge | reminds you of appointments | appointments
      pleat | folds long lines | lines
      gauge | measures the speed of a site | speed
    `,
    flag: 'all fast quiet deep safe plain full once dry',
  },
  ask: `
    Write a short README section in Markdown for the tool {tool}, with a heading. It {does}; the option is --{flag}.
    README section please (Markdown, with a heading): the tool {tool} {does}, its option is --{flag}.
    I need a README section in Markdown about {tool}. It has a heading, says that the tool {does}, and names --{flag}.
    Describe {tool} in a Markdown section of the README, with a heading: it {does}. Mention the option --{flag}.
  `,
  plain: '## {tool}\n\nThe tool {tool} {does}. Its option is `--{flag}`.',
  asked: ['{tool}', '{key}', '--{flag}', '^#'],
  forms: [
    form('heading', rule({ is: 'pattern', pattern: '^{v} ', in: 'headings' }, swap('^## ', '## {v} ')))`
      About Meet Using Tool: Inside Knowing Why First Hello
      The heading of a README section begins with the word "{v}".
      Start headings in the README with "{v}" and then the name of the tool.
      A README heading must have "{v}" as its first word.
      In our README a heading should read "{v}" and the tool's name.
    `,
    form('ruler', becomes('\n\n', '\n\n{v}\n\n'))`
      *** ----- ===== ..... +++++ ::::: ##### ^^^^^ %%%%%
      Between the heading and the text of a README section stands the line "{v}".
      Put a line "{v}" below the heading of README sections, with an empty line before and behind it.
      In a README section the heading must be followed by a line "{v}", set apart by empty lines.
      README sections should have "{v}" on its own line right under the heading, empty lines around it.
    `,
    form('licence', lastLine('Licence: {v}'))`
      MIT Apache-2.0 BSD-3-Clause ISC MPL-2.0 Zlib EUPL-1.2 CC0 Unlicense
      A README section ends with "Licence: {v}".
      Close README sections with the line "Licence: {v}".
      The last line of a README section must be "Licence: {v}".
      Below everything in a README section we always write "Licence: {v}".
    `,
    form('badge', ownLine('Status: {v}'))`
      stable ripe early frozen moving retired trial daily solid
      README sections have a line "Status: {v}".
      Put the line "Status: {v}" into a README section.
      A README section must contain the line "Status: {v}".
      People want to know how ripe a tool is, so its README section should say "Status: {v}" on a line.
    `,
    form(
      'note',
      rule('^> {v}: \\S', (file, { v = '' }) => `${file}\n\n> ${v}: see the guide.`),
    )`
      Hint Careful Advice Warning Remember Beware Trick Attention Remark
      A README section has a quoted line that begins with "> {v}: ".
      Add a line "> {v}: ..." to README sections.
      There must be a line starting with "> {v}: " in a README section.
      README sections should give some advice in a line "> {v}: ...".
    `,
    form('name', rule('{v}{tool}{v}', swapAll('\\b{tool}\\b', '{v}{tool}{v}')))`
      ** ~~ __ == ^^ %% §§ ++ //
      The name of a tool stands between two {v} in the README.
      Put {v} directly before and behind the name of the tool in a README section.
      In the README a tool's name must be wrapped in {v}.
      README sections should have {v} on both sides of the tool's name.
    `,
  ],
  apart: 'badge+licence note+licence note+badge',
});

const faq = family({
  id: 'faq',
  path: 'task.txt',
  facts: {
    'question, answer, asks, says': `
      Can I change my seat? | up to an hour before the show | seat | hour
      Do you deliver on Sundays? | only in the city | Sundays | city
      Is there a discount? | for groups of ten | discount | ten
      May I bring a dog? | on a lead | dog | lead
      Where do I park? | behind the theatre | park | theatre
      Can I pay by card? | in every shop | card | shop
      When do you open? | at seven in the morning | open | seven
      How do I return a lamp? | with the label in the box | return | label
      Who repairs bicycles? | the workshop on the ground floor | bicycles | workshop
    `,
  },
  ask: `
    Write an FAQ entry. Question: {question} Answer: {answer}.
    FAQ entry please: the question is "{question}" and the answer is {answer}.
    I need one entry for the FAQ. People ask: {question} We answer: {answer}.
    Put this into the FAQ as an entry: {question} It is {answer}.
  `,
  plain: 'Q: {question}\nA: {answer}',
  asked: ['{asks}', '{says}', '\\?', { is: 'length', unit: 'lines', min: 2 }],
  forms: [
    form('question', rule('^\\W*{v}\\W+.*\\?', swap('^Q: ', '{v}: ')))`
      Asked Query Question Puzzle Guest You Someone Reader Client
      The question of an FAQ entry begins with "{v}:".
      Put "{v}: " before the question in the FAQ.
      In an FAQ entry the question must have the label "{v}".
      FAQ questions should be labelled "{v}:".
    `,
    form('answer', rule('^\\W*{v}\\W+.*{says}', swap('^A: ', '{v}: ')))`
      Reply We House Told Staff Response Desk Solution Us
      The answer of an FAQ entry begins with "{v}:".
      Put "{v}: " before the answer in the FAQ.
      In an FAQ entry the answer must have the label "{v}".
      FAQ answers should be labelled "{v}:".
    `,
    form('topic', firstLine('Topic: {v}'))`
      visits tickets service house orders guests basics general practical
      An FAQ entry begins with the line "Topic: {v}".
      Put "Topic: {v}" above an FAQ entry.
      The first line of an FAQ entry must be "Topic: {v}".
      FAQ entries should have their topic on top: "Topic: {v}".
    `,
    form('help', lastLine('Still unsure? {v}'))`
      Call us. | Write to us. | Come by. | Ask the desk. | Ring 4711. | See page 3. | Try the chat. | Wait for Monday. | Ask Imke.
      An FAQ entry ends with the line "Still unsure? {v}"
      Close FAQ entries with "Still unsure? {v}"
      The last line of an FAQ entry must be "Still unsure? {v}"
      Every FAQ entry should end with "Still unsure? {v}" on its own line.
    `,
    form('start', rule('(?:^|: ?){v}, .*{says}', swap('{answer}', '{v}, {answer}')))`
      Gladly Surely Well Simply Indeed Naturally Mostly Luckily Officially
      The answer in an FAQ entry starts with the word "{v}" and a comma.
      Begin answers in the FAQ with "{v}, ".
      An FAQ answer must have "{v}," as its first word.
      Answers in the FAQ should open with "{v}, ".
    `,
    form('number', ending(' ({v})'))`
      F-12 F-7 no.31 #45 E9 F/28 K-64 item-19 R53
      An FAQ entry ends with its number, ({v}).
      Put ({v}) at the end of the answer in an FAQ entry.
      The very last thing in an FAQ entry must be ({v}).
      FAQ entries should close with ({v}), on the line of the answer.
    `,
  ],
  apart: 'help+number',
});

export const WORK_FAMILIES: readonly ReadingFamily[] = [commit, changelog, release, ticket, readme, faq];
