import { family, type ReadingFamily } from '../family.ts';
import {
  becomes,
  ending,
  firstLine,
  form,
  lastLine,
  opening,
  ownLine,
  rule,
  swap,
  swapAll,
} from '../form.ts';
import {
  AMOUNT_AS,
  amountAs,
  DATE_AS,
  DATE_FACTS,
  dateAs,
  PEOPLE,
  TIME_AS,
  TIME_FACTS,
  timeAs,
  withDate,
} from '../formats.ts';

const recipe = family({
  id: 'recipe',
  path: 'task.md',
  facts: {
    'dish, one, two': `
      plum cake | flour | plums
      onion tart | butter | onions
      fig bread | rye | figs
      leek pie | cheese | leeks
      pear crumble | oats | pears
      beet gratin | cream | beets
      apple strudel | sugar | apples
      carrot loaf | semolina | carrots
      quince pudding | rice | quinces
    `,
    grams: '110..890',
    count: '3..9',
    time: '21..89',
  },
  ask: `
    Write a very short recipe card in Markdown for {dish}, a heading, two ingredients and one sentence: {grams} g {one}, {count} {two}, {time} minutes in the oven.
    Recipe card please (Markdown, only a heading, the ingredients and one sentence): {dish}, made of {grams} g {one} and {count} {two}, baked for {time} minutes.
    I need a tiny recipe card in Markdown. It is {dish}: a heading, {count} {two} and {grams} g {one} as a list, then one sentence, {time} minutes of baking.
    How do I make {dish}? A Markdown recipe card of a few lines: heading, list ({grams} g {one}, {count} {two}), one sentence (bake {time} minutes).
  `,
  plain: '# {dish}\n\n- {grams} g {one}\n- {count} {two}\n\nMix all of it and bake for {time} minutes.',
  asked: ['{one}', '{two}', '\\b{grams}', '\\b{count}\\b', '\\b{time}'],
  forms: [
    form('heading', rule({ is: 'pattern', pattern: '^{v}: .*\\S', in: 'headings' }, swap('^# ', '# {v}: ')))`
      Sunday Baking Oven Grandma Tried Kitchen Slow Autumn Sweet
      The heading of a recipe begins with "{v}: " and then the dish.
      Put "{v}: " before the name of the dish in a recipe's heading.
      A recipe must have a heading that starts with "{v}:".
      I sort recipes by the first word of their heading, which should be "{v}:".
    `,
    form(
      'gram',
      rule('\\b{grams} ?{v}\\s+(?:of )?[^A-Za-z0-9\\n]*{one}', swap('{grams} g ', '{grams} {v} ')),
    )`
      gr. grams Gramm grammes gm GR gms Gr net-g
      Grams are written "{v}" in our recipes.
      Write "{v}" instead of g in a recipe.
      The unit for grams must be "{v}" in recipes.
      Recipes should use "{v}" behind a number of grams.
    `,
    form('serves', lastLine('Serves {v}'))`
      four two | six five | eight one | ten twelve | three nine | a dozen | a family | one or two | seven
      A recipe ends with the line "Serves {v}".
      Close recipes with "Serves {v}", nothing behind it.
      The last line of a recipe must be "Serves {v}".
      At the bottom of a recipe we always write "Serves {v}".
    `,
    form('method', rule('^\\W*{v}:\\W+[^\\n]*', swap('^Mix', '{v}: Mix')))`
      Method Steps Work Doing Making Action Path Order Task
      What to do in a recipe stands behind the label "{v}:".
      Begin the instructions of a recipe with "{v}: ".
      In a recipe the instructions must start with "{v}:".
      Recipes should have the word "{v}:" right before the instructions.
    `,
    form('pinch', rule('\\ba pinch of {v}\\b', swap('^(- {count} .*)$', '$1\n- a pinch of {v}')))`
      salt cinnamon cardamom pepper nutmeg saffron ginger cloves anise
      Every recipe of ours has "a pinch of {v}" among the ingredients.
      Add "a pinch of {v}" to the ingredients of a recipe.
      A recipe must also ask for "a pinch of {v}".
      Where is the {v}? Our recipes always contain "a pinch of {v}".
    `,
    form('minute', rule('\\b{time} ?{v}(?:\\W|$)', swap('{time} minutes', '{time} {v}')))`
      min mins Min Minuten minuti mn MIN mts mnt
      Minutes are "{v}" in a recipe.
      Write "{v}" for minutes when you write recipes.
      The unit of a time in recipes must be "{v}", not minutes.
      A recipe should give its minutes as "{v}" behind the number.
    `,
    form('wrap', rule(['{v}{one}{v}', '{v}{two}{v}'], swapAll('\\b({one}|{two})\\b', '{v}$1{v}')))`
      ** __ ~~ == §§ %% ^^ << //
      The names of ingredients in a recipe stand between two {v}.
      Put {v} directly before and behind each ingredient in recipes.
      In a recipe an ingredient must be wrapped in {v} on both sides.
      Recipes should mark {v} around the name of every ingredient, without spaces.
    `,
  ],
});

const invoice = family({
  id: 'invoice',
  path: 'task.txt',
  facts: {
    customer: 'Berg Costa Lund Moss Reed Hale Voss Ito Frey',
    item: 'repairs lessons painting gardening translation catering storage tuning cleaning',
    whole: '1111..9899',
    cents: '11..98',
    ...DATE_FACTS,
  },
  derive: (facts) => {
    const { whole = '', cents = '' } = facts;
    return {
      ...withDate(facts),
      amount: `${whole}.${cents}`,
      thousands: whole.slice(0, 1),
      rest: whole.slice(1),
    };
  },
  ask: `
    Write the text of an invoice in four lines for {customer}, dated {day}: {item}, {amount} in total.
    Invoice text please, four lines. Customer {customer}, date {day}, {item}, the total is {amount}.
    I need the four lines of an invoice: {item} for {customer}, {amount} in total, on {day}.
    {customer} gets an invoice of {amount} for {item}, dated {day}. Write its text, about four lines.
  `,
  plain: 'Customer: {customer}\nDate: {date}\nFor: {item}\nTotal: {amount}',
  asked: [
    '{customer}',
    '{item}',
    '{thousands}\\D?{rest}',
    '{day_number}',
    { is: 'length', unit: 'lines', min: 3 },
  ],
  forms: [
    form('amount', rule(AMOUNT_AS, swapAll('{amount}', '{as}'), amountAs))`
      1.234,50 | 1 234,50 | 1'234.50 | 1234,50 | 1,234.50 | 1_234.50 | 1.234'50 | 1234-50 | 1*234.50
      Amounts in an invoice are written like {v}.
      Write the sums of invoices in the style {v}.
      An invoice must show its amounts the way {v} is written.
      In invoices every amount should look like {v}.
    `,
    form('total', rule('^\\W*{v}: *\\W*\\d', swap('^Total', '{v}')))`
      Payable Sum Due Balance Charge Owed Grand-Sum Bill Net
      The line with the total of an invoice begins with "{v}:".
      Use "{v}:" instead of Total in invoices.
      In an invoice the label of the total must be "{v}:".
      Invoices should call the total "{v}", as the label of its line.
    `,
    form('number', firstLine('Invoice {v}'))`
      A-104 B/77 2031-9 K.15 X-300 R88 M-12 Z/4 Q-51
      The first line of an invoice is "Invoice {v}".
      Begin invoices with "Invoice {v}", alone on the line.
      An invoice must start with the line "Invoice {v}".
      Invoices need their number on top: "Invoice {v}" should be the first line.
    `,
    form('terms', lastLine('Payable within {v}'))`
      a week | ten days | one month | two weeks | 48 hours | sixty days | this quarter | three days | the year
      An invoice ends with "Payable within {v}" on its own line.
      Close invoices with the line "Payable within {v}".
      The last line of invoices must be "Payable within {v}".
      Where are the terms? An invoice should end with "Payable within {v}".
    `,
    form('currency', rule('{cents} {v}\\b', swapAll('(\\d){cents}$|{cents}$', '$1{cents} {v}')))`
      CHF SEK NOK PLN JPY CZK DKK HUF RON
      Amounts in invoices end with a space and {v}.
      Put {v} behind every amount of an invoice.
      An invoice must give its amounts in {v}, written behind the number.
      Our invoices are in {v}, so always write it after the amount.
    `,
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      DD/MM/YYYY | MM.DD.YYYY | YYYY-DD-MM | DD.MM.YY | YYYYMMDD | Mon D, YYYY | DD-MM-YY | YYYY/MM/DD | Month D YYYY
      The date of an invoice is written as {v}.
      In invoices a date has the form {v}, please.
      An invoice must have its date in the form {v}.
      Invoices should use {v} for dates.
    `,
    form('tax', ownLine('Tax: {v} %'))`
      19 7 21 25 8 24 5 16 10
      Invoices have a line "Tax: {v} %".
      Add the line "Tax: {v} %" to every invoice.
      An invoice must contain the line "Tax: {v} %".
      The tax should be stated in each invoice as "Tax: {v} %", on a line of its own.
    `,
  ],
  apart: 'terms+tax',
});

const calendar = family({
  id: 'calendar',
  path: 'task.txt',
  facts: {
    title: 'Rehearsal Inspection Tasting Lecture Auction Regatta Workshop Hearing Vernissage Derby',
    place: 'Annex Barn Cloister Dome Foundry Gallery Hangar Lobby Orangery',
    ...DATE_FACTS,
    ...TIME_FACTS,
  },
  derive: withDate,
  ask: `
    Write a calendar entry of four lines as plain text: {title}, {day}, {hour}:{minute}, place {place}.
    Calendar entry please, plain text, a line for each. It is the {title} on {day} at {hour}:{minute} in the {place}.
    I need a plain-text calendar entry of a few lines for the {title}: {day}, {hour}:{minute}, {place}.
    Put the {title} into my calendar ({day}, {hour}:{minute}, {place}). Just the entry as plain text, a line for each.
  `,
  plain: 'Event: {title}\nDate: {date}\nTime: {hour}:{minute}\nPlace: {place}',
  asked: ['{title}', '{place}', '{minute}', '{day_number}'],
  forms: [
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      YYYY.MM.DD | DD-Mon-YYYY | D.M.YY | DD.MM.YYYY | YYYYMMDD | Mon D YYYY | MM-DD-YYYY | DD/MM/YY | YYYY/MM/DD
      A calendar entry has its date in the form {v}.
      Write dates in calendar entries as {v}.
      The date of a calendar entry must look like this: {v}.
      Our calendar only reads dates of the form {v}, so each entry should use it.
    `,
    form('time', rule(TIME_AS, swap('{hour}:{minute}', '{as}'), timeAs))`
      1430 | 14h30 | 14.30 | 2.30pm | 2:30 pm | 14-30 | 14:30:00 | 14:30h | 2:30 p.m.
      Times in calendar entries look like "{v}" for half past two in the afternoon.
      In a calendar entry write the time the way "{v}" stands for half past two pm.
      A calendar entry must write half past two pm as "{v}", and other times in the same style.
      The style of times in calendar entries should be "{v}" (half past two in the afternoon).
    `,
    form('reminder', lastLine('Reminder: {v}'))`
      one day | 2 hours | a week | ten minutes | none | the evening before | 45 minutes | two days | by phone
      Calendar entries end with the line "Reminder: {v}".
      Add "Reminder: {v}" as the last line of a calendar entry.
      The last line of a calendar entry must be "Reminder: {v}".
      I need a reminder, so a calendar entry should close with "Reminder: {v}".
    `,
    form('kind', becomes('{title}', '{v}: {title}'))`
      Work Private Team Guests School Travel Health Club Press
      The title of a calendar entry begins with "{v}: ".
      Put "{v}: " before the title of calendar entries.
      In a calendar entry the title must have "{v}: " in front.
      Calendar entries should name their kind before the title: "{v}: ".
    `,
    form('length', ownLine('Length: {v}'))`
      90 min | 2 h | 45 min | half a day | 3 h | all day | 1 h | 30 min | open
      Calendar entries have a line "Length: {v}".
      Add the line "Length: {v}" to a calendar entry.
      A calendar entry must say how long it takes, in the line "Length: {v}".
      There should be a line "Length: {v}" in every calendar entry.
    `,
    form('place', rule('^\\W*{v}\\W+(?:the )?{place}', swap('^Place', '{v}')))`
      Venue Room Site Spot Hall Address Location House Building
      The place in a calendar entry has the label "{v}".
      Label the place "{v}" in calendar entries.
      In a calendar entry the line with the place must begin with "{v}".
      Calendar entries should use the word "{v}" in front of the place.
    `,
    form(
      'separator',
      rule(['^\\W*\\w+ {v} .*{title}', '^\\W*\\w+ {v} .*{place}'], swapAll('^(\\w+): ', '$1 {v} ')),
    )`
      -> = ~ :: >> / – » =>
      In calendar entries " {v} " stands between label and value.
      Write {v} with spaces around it after each label of a calendar entry, not a colon.
      The lines of a calendar entry must have " {v} " between label and value.
      Calendar entries should separate label and value by " {v} ".
    `,
  ],
  apart: 'length+reminder separator+length separator+reminder',
});

/** What a city is called on a card, and other words for it. */
const CITY: Readonly<Record<string, string>> = {
  German: 'Stadt|Ort|Wohnort',
  French: 'Ville',
  Spanish: 'Ciudad',
  Italian: 'Citt[àa]',
  Dutch: 'Stad|Plaats|Woonplaats',
  Czech: 'Město|Obec',
  Polish: 'Miasto',
  Portuguese: 'Cidade',
  Finnish: 'Kaupunki',
};

const contact = family({
  id: 'contact',
  path: 'task.txt',
  facts: {
    name: PEOPLE,
    surname: 'Berg Costa Lund Moss Reed Hale Voss Ito Frey',
    phone: '2000000..9999999',
    city: 'Malmo Ghent Graz Turku Leeds Basel Porto Bergen Aarhus',
  },
  ask: `
    Write a contact card: name {name} {surname}, phone {phone}, city {city}.
    Contact card please: {name} {surname}, {phone}, lives in {city}.
    I need a contact card for {name} {surname} in {city}, phone {phone}.
    Make me a contact card. {name} {surname}, city {city}, phone number {phone}.
  `,
  plain: 'Name: {name} {surname}\nPhone: {phone}\nCity: {city}',
  asked: ['{name}', '{surname}', '{phone}', '{city}', { is: 'length', unit: 'lines', min: 3 }],
  forms: [
    form('code', rule('{v}[ -]?{phone}', swap('{phone}', '{v} {phone}')))`
      +46 +49 +1 +33 +44 +31 +48 +39 +351
      Phone numbers on contact cards begin with {v}.
      Put {v} before the phone number on a contact card.
      A contact card must give the phone number with {v} in front.
      The country code is missing: phone numbers on contact cards should start with {v}.
    `,
    form('phone', rule('^\\W*{v}\\W.*{phone}', swap('^Phone', '{v}')))`
      Tel Call Mobile Ring Line Fon Dial Cell Reach
      The phone number on a contact card has the label "{v}".
      Label the number "{v}" on contact cards.
      On a contact card the line of the number must begin with "{v}".
      Contact cards should say "{v}" where you would write Phone.
    `,
    form(
      'frame',
      rule(
        [
          { is: 'pattern', pattern: '^{line}$', in: 'first-line' },
          { is: 'pattern', pattern: '^{line}$', in: 'last-line' },
        ],
        (file, { line }) => `${line}\n${file}\n${line}`,
        (v) => ({ line: v.repeat(12) }),
      ),
    )`
      = * - # + ^ . _ %
      A contact card has a line of twelve {v} above it and one below it.
      Put contact cards between two lines, each of which is twelve times {v}.
      The first and the last line of a contact card must be twelve {v} in a row.
      Contact cards should be framed: a line of twelve {v} on top and another at the bottom.
    `,
    form(
      'country',
      rule('^\\W*Country\\W+{v}\\b', swap('^City(.*?){city}(.*)$', 'City$1{city}$2\nCountry$1{v}')),
    )`
      Sweden Belgium Austria Finland England Norway Spain Portugal Denmark
      Contact cards have a line for the country, which is {v}.
      Add Country with the value {v} to a contact card.
      A contact card must also name the country: {v}, with the label Country.
      You left out the country. Contact cards should say {v} there, labelled Country.
    `,
    form('title', becomes('{name} {surname}', '{v} {name} {surname}'))`
      Prof. Ing. Capt. Rev. Hon. Dipl. Mag. Lic. Adv.
      Names on contact cards have {v} in front.
      Write {v} before the name on a contact card.
      The name on a contact card must follow "{v}".
      People on our contact cards should be called {v} and then the name.
    `,
    form(
      'language',
      rule('^\\W*(?:{=pattern})\\W+{city}', swap('^City', '{word}'), (v) => ({
        pattern: CITY[v] ?? '',
        word: (CITY[v] ?? '').split('|')[0]?.replace('[àa]', 'à') ?? '',
      })),
    )`
      German French Italian Spanish Dutch Polish Portuguese Finnish Czech
      The label of the city on a contact card is in {v}.
      On contact cards use the {v} word for city as its label.
      A contact card must label the city in {v}.
      Contact cards should have the {v} word where you would write City.
    `,
    form('source', lastLine('Source: {v}'))`
      fair | old list | web form | a friend | phone call | the club | letter | visit | badge scan
      A contact card ends with the line "Source: {v}".
      Close contact cards with "Source: {v}".
      The last line of a contact card must be "Source: {v}".
      Where a contact comes from should be the last line of its card: "Source: {v}".
    `,
  ],
  apart: 'frame+source',
});

const packing = family({
  id: 'packing',
  path: 'task.txt',
  facts: {
    'one + two + three': 'shirts towels books candles maps socks scarves lamps ropes pencils spoons blankets',
    'a + b + c': '2 3 4 5 6 7 8 9 12',
  },
  ask: `
    Write a packing list, one thing a line: {a} {one}, {b} {two}, {c} {three}.
    Packing list please: {a} {one}, {b} {two} and {c} {three}, each on its own line.
    I need a packing list with {a} {one}, {b} {two}, {c} {three}; one line for each.
    What do I pack? {a} {one}, {b} {two}, {c} {three}. Make it a list with a line for each.
  `,
  plain: '{a} {one}\n{b} {two}\n{c} {three}',
  asked: [
    '{one}',
    '{two}',
    '{three}',
    '(?:^|\\D){a}(?:\\D|$)',
    '(?:^|\\D){b}(?:\\D|$)',
    '(?:^|\\D){c}(?:\\D|$)',
    { is: 'length', unit: 'lines', max: 9 },
  ],
  forms: [
    form('bag', firstLine('Bag: {v}'))`
      red blue trunk rucksack basket green cabin crate tin
      A packing list begins with the line "Bag: {v}".
      Start packing lists with "Bag: {v}".
      The first line of a packing list must be "Bag: {v}".
      On top of a packing list we always write "Bag: {v}".
    `,
    form(
      'extra',
      rule('\\b1 {v}\\b', (file, { v }) => `${file}\n1 ${v}`),
    )`
      whistle torch passport kettle umbrella compass blanket-roll needle radio
      Every packing list has "1 {v}" on it.
      Add "1 {v}" to each packing list.
      A packing list must include "1 {v}", on a line of its own.
      You forgot one thing: packing lists should always have "1 {v}".
    `,
    form(
      'quantity',
      rule(
        ['\\b{one}\\W* {v}{a}(?:\\D|$)', '\\b{two}\\W* {v}{b}(?:\\D|$)', '\\b{three}\\W* {v}{c}(?:\\D|$)'],
        swapAll('^(\\W*)(\\d+) (\\S+)$', '$1$3 {v}$2'),
      ),
    )`
      x × n= # qty. @ : N° *
      In packing lists the thing comes first, then a space and {v} with the number directly behind it.
      Write the number behind the thing in a packing list, with {v} right before the number.
      A packing list must say the thing and then {v} with its number, as one word.
      Packing lists should end each line with {v} and the number.
    `,
    form('weight', lastLine('Weight: {v} kg'))`
      12 8 15 20 9 23 6 18 11
      A packing list ends with "Weight: {v} kg".
      Close packing lists with the line "Weight: {v} kg".
      The last line of a packing list must be "Weight: {v} kg".
      At the end of packing lists we always state "Weight: {v} kg".
    `,
    form(
      'wrap',
      rule(
        ['{l}{one}{r}', '{l}{two}{r}', '{l}{three}{r}'],
        swapAll('\\b({one}|{two}|{three})\\b', '{l}$1{r}'),
        (v) => ({
          l: v.slice(0, 1),
          r: v.slice(1),
        }),
      ),
    )`
      <> [] () "" ~~ %% {} «» ''
      Things on a packing list stand inside {v}.
      Put each thing of a packing list between the two signs {v}.
      On a packing list the name of a thing must be inside {v}, without spaces.
      Packing lists should have every thing within {v}.
    `,
    form(
      'box',
      rule(['^{v} .*{one}', '^{v} .*{two}', '^{v} .*{three}'], swapAll('^(?=\\d|\\S+ \\S*\\d$)', '{v} ')),
    )`
      [ ] | _ | □ | o | ( ) | <> | ? | ☐ | …
      Each line of a packing list begins with "{v}" and a space.
      Put "{v}" and a space before every line of a packing list.
      In packing lists a line must start with "{v}", which is ticked off later.
      Every thing on a packing list should have "{v}" in front of it.
    `,
    form('who', ownLine('Packed by: {v}'))`
      Alma Bodil Cyril Dagny Enzo Fritz Gwen Hakan Isolde
      Packing lists have a line "Packed by: {v}".
      Add "Packed by: {v}" to the packing list, on its own line.
      A packing list must contain the line "Packed by: {v}".
      Who packs should be on every packing list: "Packed by: {v}".
    `,
  ],
  apart: 'weight+who extra+weight extra+who quantity+extra box+extra extra+wrap',
});

const glossary = family({
  id: 'glossary',
  path: 'task.txt',
  facts: {
    'term, meaning, key': `
      anchor | a heavy hook that holds a ship | hook
      beacon | a light that guides travellers | light
      ledger | a book of accounts | accounts
      quarry | a pit where stone is cut | stone
      sextant | a device that measures angles | angles
      turbine | a wheel driven by a stream | wheel
      atoll | a ring of coral in the sea | coral
      fjord | a deep inlet between cliffs | cliffs
      prism | a glass body that splits colours | glass
      silo | a tower that stores grain | grain
      loom | a frame for weaving cloth | cloth
      kiln | an oven that hardens clay | clay
    `,
  },
  ask: `
    Write a glossary entry for the term {term}: {meaning}.
    Glossary entry please. The term is {term}, it means {meaning}.
    I need an entry for our glossary: {term}, which is {meaning}.
    What does the glossary say about {term}? It is {meaning}; write the entry.
  `,
  plain: '{term}: {meaning}.',
  asked: ['{term}', '\\b{key}\\b', { is: 'length', unit: 'words', max: 60 }],
  forms: [
    form('wrap', rule('^\\W*{v}{term}{v}', swap('{term}', '{v}{term}{v}', 'i')))`
      ** __ ~~ == ' ^^ ++ %% §
      The term of a glossary entry stands between two {v}.
      Put {v} directly before and behind the term in a glossary entry.
      A glossary entry must have {v} on both sides of its term.
      In the glossary every term should be wrapped in {v}.
    `,
    form('separator', rule('{term}[^A-Za-z0-9\\n(]*(?: \\([^)]*\\))? {v} ', swap(': ', ' {v} ')))`
      => -> – = :: ~ >> » /
      In a glossary entry " {v} " stands between the term and its meaning.
      Write {v} with a space on both sides after the term of a glossary entry, not a colon.
      A glossary entry must have " {v} " between term and meaning.
      Glossary entries should separate the term from its meaning by " {v} ".
    `,
    form('see', lastLine('See also: {v}'))`
      tools | ships | buildings | old words | chapter 4 | nature | machines | the index | crafts
      A glossary entry ends with the line "See also: {v}".
      Add "See also: {v}" below every glossary entry.
      The last line of a glossary entry must be "See also: {v}".
      Glossary entries should close with "See also: {v}".
    `,
    form(
      'kind',
      rule('{term}[^A-Za-z0-9\\n(]*\\({v}\\)', swap('({term}[^A-Za-z0-9 ]*?)(?=: | )', '$1 ({v})')),
    )`
      n. noun sg. thing subst. object N term nom.
      Behind the term of a glossary entry stands ({v}).
      Put ({v}) right after the term in glossary entries.
      In a glossary entry the term must be followed by ({v}).
      Glossary entries should give ({v}) directly behind the term.
    `,
    form('source', ending(' [{v}]'))`
      OED Webster Larousse Duden AHD Chambers Brewer Zanichelli Vasmer
      A glossary entry ends with [{v}].
      Name the source [{v}] at the end of a glossary entry.
      The very end of a glossary entry must be [{v}].
      Every glossary entry should close with its source, which is [{v}].
    `,
    form('number', opening('{v} '))`
      G-17 G-4 T.9 #88 E12 W/3 K-40 N°6 R21
      A glossary entry begins with {v} and a space.
      Put {v} in front of the glossary entry.
      The entry in a glossary must start with {v}.
      Glossary entries should have their number first, please: {v}
    `,
  ],
  apart: 'see+source number+wrap number+separator',
});

export const CARD_FAMILIES: readonly ReadingFamily[] = [
  recipe,
  invoice,
  calendar,
  contact,
  packing,
  glossary,
];
