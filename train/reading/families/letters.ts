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
import { DATE_AS, DATE_FACTS, dateAs, PEOPLE, TIME_AS, TIME_FACTS, timeAs, withDate } from '../formats.ts';

const email = family({
  id: 'email',
  path: 'task.eml',
  facts: {
    'to + from': PEOPLE,
    thing: 'piano sofa printer carpet fridge ladder mirror bookcase canoe lamp stove desk',
    ...DATE_FACTS,
  },
  derive: withDate,
  ask: `
    Write an e-mail of one sentence, with a subject line, from {from} to {to}: the {thing} arrives on {day}.
    E-mail please, with a subject and one sentence. {from} tells {to} that the {thing} arrives on {day}.
    I need a very short e-mail from {from} to {to} (with a subject line). It says that the {thing} comes on {day}.
    Tell {to} in an e-mail of one sentence that the {thing} arrives on {day}. Add a subject line; it is from {from}.
  `,
  plain: 'Subject: {thing}\n\nHi {to},\n\nthe {thing} arrives on {date}.\n\nBest regards,\n{from}',
  asked: ['^\\W*Subject:', '{to}', '{from}', '{thing}', '{day_number}'],
  forms: [
    form('greeting', rule('^{v} {to}\\W?\\s*$', swap('^Hi {to}', '{v} {to}')))`
      Ahoy Moin Servus Salut Ciao Howdy Greetings Hallo Welcome
      Our e-mails greet with "{v}" and the first name.
      Start e-mails with "{v}" before the name, not with Hi or Dear.
      The greeting of an e-mail should be "{v}" and then the name.
      Please always greet people with "{v}" in e-mails.
    `,
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      DD.MM.YYYY | YYYY/MM/DD | DD/MM/YY | MM-DD-YYYY | D.M.YY | YYYY.MM.DD | DD-Mon-YYYY | YY-MM-DD | DD MM YYYY
      Dates in e-mails are written as {v}.
      Write a date in an e-mail like this: {v}.
      In e-mails the date must have the form {v}.
      We always use {v} for dates in our e-mails.
    `,
    form('subject-tag', rule('^\\W*Subject:\\W*\\[{v}\\] \\S', swap('^Subject: ', 'Subject: [{v}] ')))`
      move depot house inbound route stock freight arrival handover
      The subject of an e-mail begins with [{v}].
      Put [{v}] in front of the subject of each e-mail.
      E-mail subjects must start with the tag [{v}].
      I filter e-mails by their tag, so the subject should open with [{v}].
    `,
    form('closing', rule('^{v},?\\s*\\n+\\W*{from}', swap('^Best regards,', '{v},')))`
      Cheers | Kind wishes | See you | So long | Warmly | Over to you | Take care | Until then | Onwards
      E-mails of ours close with "{v}" on the line above the name.
      Use "{v}" instead of Best regards in e-mails.
      The last words before the name in an e-mail must be "{v}".
      An e-mail should say goodbye with "{v}", and then the name on the next line.
    `,
    form('postscript', lastLine('PS: {v}'))`
      ring twice | the lift is broken | bring gloves | no parking today | we are on floor three | the dog is friendly | cash only | keep the box | use the back door
      Every e-mail ends with the line "PS: {v}".
      Add "PS: {v}" below the name in e-mails, as the last line.
      The last line of an e-mail must be "PS: {v}".
      Under the name in an e-mail we always write "PS: {v}".
    `,
    form('role', rule('{from}, {v}\\s*$', swap('\\n{from}$', '\n{from}, {v}')))`
      Logistics | Front Desk | Night Crew | Depot Two | Dispatch | House Team | Warehouse | Planning | Yard Office
      Sign e-mails with the name, a comma and "{v}".
      The sender's name in an e-mail is followed by ", {v}".
      Under an e-mail there should be the name, a comma and {v}, on one line.
      We sign e-mails with our department, please: the name and ", {v}" behind it.
    `,
    form(
      'subject-words',
      rule('^Subject:(?: [^\\s]+){{=v}}\\s*$', swap('^Subject: .*', 'Subject: {words}'), (v) => ({
        words: 'news about what is on its way to our house today soon'
          .split(' ')
          .slice(0, Number(v))
          .join(' '),
      })),
    )`
      3 4 5 2 6 7 8 9 10
      The subject of an e-mail has exactly {v} words.
      Give e-mails a subject of {v} words, no more and no less.
      An e-mail's subject should be {v} words long.
      Count the words in the subject of an e-mail, there must be {v}.
    `,
  ],
  apart: 'subject-tag+subject-words role+postscript',
});

const EVENTS =
  'export finished | audit postponed | server moved | invoice missing | desk delivered | backup repeated | contract signed | printer repaired | domain expired | survey closed | budget approved | heating fixed | trial ended | map updated | archive opened | parking reserved | fence painted | choir cancelled';

const note = family({
  id: 'note',
  path: 'task.md',
  facts: { 'first + second + third': EVENTS },
  derive: ({ first = '', second = '', third = '' }) => {
    const [a = '', b = '', c = ''] = [first, second, third].map((event) => event.split(' ')[0] ?? '');
    return { a, b, c };
  },
  ask: `
    Write a short Markdown note to the team with a heading and three points: {first}; {second}; {third}.
    A note in Markdown please, with a heading. Points: {first}, {second}, {third}.
    I need a Markdown note for everybody: a heading, and as points {first}, {second} and {third}.
    Tell the team in a Markdown note: {first}, {second}, {third}. One point each, and a heading.
  `,
  plain: '# News\n\n- {first}\n- {second}\n- {third}\n\nThanks',
  asked: ['\\b{a}', '\\b{b}', '\\b{c}'],
  forms: [
    form(
      'gist',
      rule(
        { is: 'pattern', pattern: '^{v}: \\S', in: 'first-line' },
        (file, { v }) => `${v}: three points\n\n${file}`,
      ),
    )`
      In short | Gist | Bottom line | The point | Essence | Key news | Headline | What matters | Upshot
      A note begins with "{v}: " and one sentence, above everything else.
      First line of a note: "{v}: ", then what it comes down to.
      I only read the first line of a note, so it has to start with "{v}:".
      Notes should open with the words "{v}: ", even before the heading.
    `,
    form('bullet', rule(['^\\s*{v} .*{a}', '^\\s*{v} .*{b}', '^\\s*{v} .*{c}'], swapAll('^- ', '{v} ')))`
      >> => ~ + :: » -> § *)
      Each point of a note is a line that begins with "{v} ".
      We mark the points of notes with {v} and a space, not with dashes.
      No dashes in notes: a point must start with "{v} ".
      Points in a note should have {v} and a space in front, one point to a line.
    `,
    form(
      'heading',
      rule({ is: 'pattern', pattern: '^{v}$', flags: 'm', in: 'headings' }, swap('^# .*', '# {v}')),
    )`
      Where we are | Round mail | From the desk | Week so far | To all | State of things | Board | What is new | For everyone
      The heading of a note is "{v}".
      Always use the heading "{v}" for notes.
      A note must have the heading "{v}", whatever it is about.
      Our notes are found by their heading, which should be "{v}".
    `,
    form('close', { ...lastLine('{v}'), follow: swap('^Thanks$', '{v}') })`
      No reply needed. | Over and out. | Questions to the desk. | End of note. | More tomorrow. | Shout if stuck. | That is all for now. | Back at nine. | See the board.
      A note ends with the line "{v}" and nothing behind it.
      Close each note with "{v}" on a line of its own.
      The last line of a note must be "{v}"
      How our notes end should be clear by now: "{v}" is the last line.
    `,
    form(
      'point-end',
      rule(
        ['{a}.*{v}\\s*$', '{b}.*{v}\\s*$', '{c}.*{v}\\s*$'],
        swapAll('^((?:\\S+ )?\\S.*(?:{a}|{b}|{c}).*)$', '$1{v}'),
      ),
    )`
      ; // !! ~~ (ok) (new) ... (!) <<
      Every point of a note ends with "{v}".
      Put "{v}" at the end of each point in a note.
      The points of a note must close with "{v}", all three of them.
      In notes a point should have "{v}" as its last characters.
    `,
    form(
      'label',
      rule(
        ['^\\W*{v}1\\W.*{a}', '^\\W*{v}2\\W.*{b}', '^\\W*{v}3\\W.*{c}'],
        (file, { v = '', a = '', b = '', c = '' }) =>
          [a, b, c].reduce((text, word, at) => text.replace(word, `${v}${at + 1}: ${word}`), file),
      ),
    )`
      P No. Item- Pt T/ A. Nr X- L
      Number the points of a note as {v}1, {v}2 and {v}3.
      The points of our notes are labelled {v}1, {v}2, {v}3, in this order.
      A note should call its points {v}1, {v}2 and {v}3.
      Points in a note must begin with their label, which is {v} and the number: {v}1 and so on.
    `,
    form('tags', ownLine('tags: {v}'))`
      house weekly office board intern crew facts depot circle
      Notes have a line "tags: {v}".
      Add the line "tags: {v}" to each note.
      A note must contain the line "tags: {v}".
      I search for tags, so a note should have the line "tags: {v}" somewhere.
    `,
    form(
      'heading-words',
      rule(
        { is: 'pattern', pattern: '^[^\\s]+(?: [^\\s]+){{=more}}$', in: 'headings' },
        swap('^# .*', '# {words}'),
        (v) => ({
          more: String(Number(v) - 1),
          words: 'all that is new in our house and the yard'.split(' ').slice(0, Number(v)).join(' '),
        }),
      ),
    )`
      3 5 2 4 6 8 7 9 10
      The heading of a note has exactly {v} words.
      Give notes a heading of {v} words.
      A note's heading must be {v} words long.
      Count the words in the heading of a note, there should be {v}.
    `,
  ],
  apart: 'close+tags heading+heading-words',
});

const chat = family({
  id: 'chat',
  path: 'task.txt',
  facts: {
    name: PEOPLE,
    event: 'dinner training choir cinema yoga chess rehearsal bowling karaoke',
    place: 'harbour mill townhall gate bar library stadium museum market',
    ...TIME_FACTS,
  },
  ask: `
    Write a one-line chat message that tells {name} that {event} is at {hour}:{minute} at the {place}.
    Chat message please: {name} should know that {event} is at the {place} at {hour}:{minute}. One line.
    I need a chat message of one line to {name}: {event}, {hour}:{minute}, at the {place}.
    Send {name} a chat message, just one line. {event} is at {hour}:{minute}, we meet at the {place}.
  `,
  plain: 'Hi {name}, {event} is at {hour}:{minute} at the {place}.',
  asked: ['{name}', '{event}', '{place}', '{minute}', { is: 'length', unit: 'words', max: 60 }],
  forms: [
    form('start', opening('{v} '))`
      🔔 ⚑ ★ ✉ ☎ ♪ ✓ ➜ ☀
      Our chat messages begin with {v} and a space.
      Start chat messages with the sign {v}.
      A chat message must have {v} as its first character.
      In chat we see a message only if it begins with {v}, so always start with that.
    `,
    form('end', ending(' {v}'))`
      xo over -k ttyl fin 4now o7 thx bye
      A chat message ends with a space and "{v}".
      Put "{v}" at the end of chat messages.
      The last word of a chat message must be "{v}".
      Chat messages should close with "{v}", nothing behind it.
    `,
    form('time', rule(TIME_AS, swap('{hour}:{minute}', '{as}'), timeAs))`
      14.30 | 14h30 | 1430 | 2:30 pm | 2.30pm | 14-30 | 14:30h | 2:30 p.m. | 14:30:00
      In chat messages half past two in the afternoon is written "{v}", and other times the same way.
      Write times in chat messages like "{v}".
      The time in a chat message must look like "{v}", which would be half past two in the afternoon.
      We use the style "{v}" for times in chat messages, please.
    `,
    form('title', becomes('{name}', '{v} {name}'))`
      Captain Uncle Boss Coach Chef Doc Skipper Maestro Champ
      In chat messages we call people {v} and their name.
      Put {v} before the name in chat messages.
      A name in a chat message must have {v} in front.
      Chat messages should always say {v} and then the name.
    `,
    form(
      'lines',
      rule({ is: 'length', unit: 'lines', min: '{v}', max: '{v}' }, (file, { v }) =>
        [file, ...Array.from({ length: Number(v) - 1 }, () => 'See you!')].join('\n'),
      ),
    )`
      3 2 4 5 6 7 8 9 10
      A chat message has exactly {v} lines, even if one was asked for.
      Spread a chat message over {v} lines.
      Our chat messages must be {v} lines long, none of them empty.
      Chat messages should always have {v} lines of text.
    `,
    form('place', rule('{v}(?:the )?{place}{v}', swap('{place}', '{v}{place}{v}')))`
      * _ " ~ § % = ^ +
      The place in a chat message stands between two {v}, without spaces.
      Put {v} directly before and behind the place in chat messages.
      In a chat message the place must have a {v} on both sides.
      Chat messages should mark the place: one {v} before it and one behind it.
    `,
    form(
      'hashtag',
      rule('#{v}\\b', (file, { v = '' }) => `${file} #${v}`),
    )`
      club crew squad plan gang ours meetup circle weekend
      Chat messages carry the hashtag #{v}.
      Put #{v} somewhere into each chat message.
      A chat message should contain #{v}.
      You must add #{v} to chat messages.
    `,
  ],
  apart: 'end+hashtag',
});

const minutes = family({
  id: 'minutes',
  path: 'task.md',
  facts: {
    'one + two': PEOPLE,
    'topic, choice, key': `
      the logo | keep the old logo | old
      the office | rent a second floor | second
      hiring | look for two cooks | cooks
      the fair | skip the autumn fair | autumn
      prices | raise them in May | May
      the website | move it to a new host | host
      the party | hold it on a boat | boat
      parking | buy six bicycles | bicycles
      lunch | order from the bakery | bakery
    `,
    ...DATE_FACTS,
  },
  derive: withDate,
  ask: `
    Write meeting minutes of four lines for {day}. Present: {one} and {two}. Topic: {topic}. Decision: {choice}.
    Minutes please, a few lines: {one} and {two} met on {day} about {topic}. Decision: {choice}.
    I need short minutes of {day}, about four lines. {one} and {two} were there, the topic was {topic}, the decision: {choice}.
    {one} and {two} had a meeting on {day} about {topic}. They decided: {choice}. Write the minutes in a few lines.
  `,
  plain: 'Date: {date}\nPresent: {one} and {two}\nTopic: {topic}\nDecision: {choice}',
  asked: ['{one}', '{two}', '\\b{key}\\b', '{day_number}', { is: 'length', unit: 'lines', min: 3 }],
  forms: [
    form('names', rule(['{v}{one}', '{v}{two}'], swapAll('({one}|{two})', '{v}$1')))`
      @ + ~ # user: p. % mr_ ^
      Names of people in minutes have {v} directly in front.
      Write {v} before every name in meeting minutes, without a space.
      In minutes a name must begin with {v}.
      Minutes should mark each person with {v} right before the name.
    `,
    form('decision', rule('^\\W*{v}:\\W*\\S', swap('^Decision', '{v}')))`
      RESOLVED AGREED Outcome Settled Verdict Ruling Result Conclusion Upshot
      In minutes the decision stands on a line that begins with "{v}:".
      Use "{v}:" as the label of the decision in minutes.
      The decision in meeting minutes must be labelled "{v}:".
      Minutes should have "{v}:" where you would write Decision.
    `,
    form('number', firstLine('Minutes No. {v}'))`
      14 9 12 27 31 56 73 88 140
      The first line of minutes is "Minutes No. {v}".
      Begin minutes with "Minutes No. {v}", on a line of its own.
      Minutes must start with the line "Minutes No. {v}".
      On top of our minutes we always write "Minutes No. {v}".
    `,
    form('taken-by', lastLine('Taken by {v}'))`
      Ansel Brigid Corin Delphine Evander Fenna Goran Hilda Ishaan
      Minutes end with the line "Taken by {v}".
      Close minutes with "Taken by {v}".
      The last line of meeting minutes must be "Taken by {v}".
      Who wrote minutes should stand at their very end, as "Taken by {v}".
    `,
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      YYYYMMDD | DD.MM.YY | YYYY/MM/DD | MM/DD/YYYY | DD-MM-YYYY | YY/MM/DD | D Mon YYYY | YYYY.MM.DD | Mon D, YYYY
      The date in minutes has the form {v}.
      Write dates in meeting minutes as {v}.
      In minutes a date must look like {v}.
      We use {v} for dates in minutes, always.
    `,
    form('next', ownLine('Next: {v}'))`
      Monday 9:00 | Friday 14:00 | in a week | not planned | 1 July | after lunch | Tuesday 8:30 | next spring | on demand
      Minutes have a line "Next: {v}".
      Add the line "Next: {v}" to meeting minutes.
      There must be a line "Next: {v}" in the minutes.
      When we meet again should be part of the minutes: "Next: {v}", on its own line.
    `,
  ],
  apart: 'taken-by+next',
});

const survey = family({
  id: 'survey',
  path: 'task.txt',
  facts: {
    activity: 'cook sing travel dance garden swim paint read knit sail climb fish',
    'one, two, three': `
      daily | weekly | never
      often | sometimes | rarely
      always | mostly | hardly
      hourly | nightly | yearly
      mornings | evenings | weekends
      winters | summers | holidays
    `,
  },
  ask: `
    Write a survey question with its three answers on lines of their own: how often do you {activity}? {one}, {two}, {three}.
    I need a survey question on how often people {activity}. Below it stand the answers, one a line: {one}, {two}, {three}.
    Survey question please, with the answers as a list: how often do you {activity}? {one}, {two} or {three}.
    For the survey, ask how often somebody likes to {activity}, and list the answers {one}, {two}, {three} below.
  `,
  plain: 'How often do you {activity}?\n- {one}\n- {two}\n- {three}',
  asked: ['{activity}.*\\?', '{one}', '{two}', '{three}', { is: 'length', unit: 'lines', min: 4 }],
  forms: [
    form('box', rule(['^\\s*{v} {one}', '^\\s*{v} {two}', '^\\s*{v} {three}'], swapAll('^- ', '{v} ')))`
      ( ) | [ ] | < > | __ | □ | o) | {} | (?) | ·
      The answers of a survey question begin with "{v}" and a space.
      Put "{v} " in front of each answer in a survey.
      Survey answers must start with "{v}", where people make their cross.
      In a survey every answer should have "{v}" before it.
    `,
    form('section', firstLine('Section {v}'))`
      A2 B7 C3 D9 K2 M5 R8 T4 X6
      A survey question stands under the line "Section {v}", which comes first.
      Begin a survey question with the line "Section {v}".
      The first line of a survey question must be "Section {v}".
      Survey questions belong to sections, so "Section {v}" should be on top.
    `,
    form('extra', rule('^\\W*{v}\\W*$', swap('^(.*?){three}(.*)$', '$1{three}$2\n$1{v}')))`
      No answer | Hard to say | Ask me later | Only once | None of these | I forgot | Other | Not my thing | Too private
      Survey questions offer one more answer: "{v}".
      Add the answer "{v}" to each survey question.
      Every survey question should also have the answer "{v}", on a line of its own.
      You must always offer "{v}" as an answer in a survey.
    `,
    form('mark', rule('\\? ?{v}\\s*$', swap('\\?$', '? {v}')))`
      (*) (required) [1] (!) <must> {a} (one) ** [x]
      Behind the question mark of a survey question stands {v}.
      End the line of a survey question with {v}, after the question mark.
      A survey question must have {v} right behind its question mark.
      In surveys the question should close with "? {v}".
    `,
    form('number', rule('Q{v}: .*\\?', swap('^(.*\\?)', 'Q{v}: $1')))`
      12 7 31 45 9 28 64 19 53
      A survey question begins with "Q{v}: ".
      Write "Q{v}: " before the question in a survey.
      The question of a survey must start with "Q{v}: ".
      Survey questions have a number here, please use "Q{v}: ".
    `,
    form('hint', rule('\\?[^\\n]*\\n+\\s*\\({v}\\)\\s*$', swap('(\\?.*)$', '$1\n({v})')))`
      choose one | be honest | first thought | this year only | pick fast | no wrong answer | think of last month | one cross | it stays secret
      Below a survey question stands the hint "({v})", on its own line.
      Put "({v})" on the line between the question and the answers of a survey.
      A survey question needs the line "({v})" right under it.
      In a survey the line after the question must be "({v})".
    `,
  ],
  apart: 'box+extra',
});

const notice = family({
  id: 'notice',
  path: 'task.txt',
  facts: {
    service: 'mail search login printing payroll wiki video storage telephone',
    region: 'north south east west centre coast hills harbour airport',
    ...TIME_FACTS,
  },
  ask: `
    Write a status notice of one or two sentences: the {service} service in region {region} is down since {hour}:{minute}.
    Status notice please: {service} is down in region {region}, since {hour}:{minute}. One or two sentences.
    I need a short status notice. What happened: {service} went down in region {region} at {hour}:{minute}.
    Tell people in a short status notice that {service} is not working in region {region} since {hour}:{minute}.
  `,
  plain: 'The {service} service in region {region} is down since {hour}:{minute}. We are working on it.',
  asked: ['{service}', '{region}', '{minute}', { is: 'length', unit: 'words', max: 90 }],
  forms: [
    form('level', opening('[{v}] '))`
      SEV2 RED P1 ALERT MAJOR CODE-9 OUTAGE HIGH L3
      A status notice begins with [{v}].
      Put [{v}] in front of every status notice.
      Status notices must start with [{v}] and a space.
      Where is the level? A status notice should open with [{v}].
    `,
    form('time', rule(TIME_AS, swap('{hour}:{minute}', '{as}'), timeAs))`
      14h30 | 1430 | 14.30 | 2.30pm | 14:30:00 | 2:30 pm | 14:30h | 14-30 | 2:30 p.m.
      Times in a status notice are written like "{v}" (that is half past two in the afternoon).
      Use the style "{v}" for the time in status notices.
      A status notice should give half past two as "{v}", and any other time alike.
      The time in status notices must look like "{v}".
    `,
    form('next', lastLine('Next update: {v}'))`
      in an hour | at noon | tonight | tomorrow | on Monday | within ten minutes | when fixed | at six | by phone
      A status notice ends with the line "Next update: {v}".
      Close status notices with "Next update: {v}", on a line of its own.
      The last line of a status notice must be "Next update: {v}".
      People ask when they hear more, so a status notice should end with "Next update: {v}".
    `,
    form('word', rule(['\\b{v}\\b', lacks('\\bdown\\b', 'im')], swapAll('\\bdown\\b', '{v}')))`
      resting unreachable interrupted dark paused unavailable offline impaired limited
      Never write "down" in a status notice, write "{v}".
      In status notices a service is "{v}", we don't use the word down.
      A status notice should say "{v}" instead of "down".
      The word down scares people: status notices must use "{v}".
    `,
    form('affected', ownLine('{v}: {service}'))`
      Affected Hit Concerns Subject Touched Part Unit About Where
      A status notice has a line "{v}: " with only the name of the service behind it.
      Name the service once more in a status notice, on a line of its own: "{v}: " and the name.
      Our status notices need a line that says "{v}: " and the service, nothing else.
      On a line of its own a status notice must say "{v}: " and which service it is.
    `,
    form(
      'incident',
      rule('INC-{v}\\b', (file, { v = '' }) => `${file} (INC-${v})`),
    )`
      4711 1208 3390 7754 2016 8843 5127 6602 9310
      Status notices name the incident, INC-{v}.
      Put INC-{v} into each status notice.
      A status notice must mention INC-{v}.
      Without INC-{v} nobody finds a status notice, so it should be in the text.
    `,
    form('place', rule('\\b{v} {region}\\b', swap('{region}', '{v} {region}')))`
      zone site area-code district ring sector wing hub cell
      In a status notice the region has the word "{v}" right before its name.
      Write "{v}" in front of the region's name in status notices.
      The name of a region must follow the word "{v}" in a status notice.
      Status notices should say "{v}" directly before the name of the region.
    `,
  ],
  apart: 'affected+incident next+incident next+affected',
});

export const LETTER_FAMILIES: readonly ReadingFamily[] = [email, note, chat, minutes, survey, notice];
