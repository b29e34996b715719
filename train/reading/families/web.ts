import { family, type ReadingFamily } from '../family.ts';
import { firstLine, form, lastLine, many, ownLine, rule, swap, swapAll, times } from '../form.ts';

const html = family({
  id: 'html',
  path: 'task.html',
  facts: {
    'title, text, key': `
      Opening hours | We open at nine. | nine
      House rules | Shoes stay outside. | Shoes
      Our garden | Roses bloom in June. | Roses
      The harbour | Boats leave at noon. | Boats
      Workshop | Bring your own tools. | tools
      Choir | We sing on Mondays. | sing
      Library | Books are due in May. | Books
      The tower | It has ninety steps. | steps
      Kitchen | Soup is served daily. | Soup
    `,
  },
  ask: `
    Write an HTML snippet: a section with the heading "{title}" and the paragraph "{text}"
    HTML snippet please, one section. Heading: {title}. Paragraph: {text}
    I need a snippet of HTML, a section that has the heading {title} and one paragraph: {text}
    Put "{title}" (heading) and "{text}" (paragraph) into a section of HTML.
  `,
  plain: '<section>\n  <h2>{title}</h2>\n  <p>{text}</p>\n</section>',
  asked: ['<h\\d[^>]*>.*{title}', '{key}', '<p', '</\\w'],
  forms: [
    form('class', rule('^<\\w+[^>\\n]*\\bclass="{v}"', swap('^<(section|\\w+)', '<$1 class="{v}"')))`
      card panel tile box block leaf pane slab sheet
      The outer element of an HTML snippet has class="{v}".
      Give the outermost element of HTML snippets the class {v}.
      An HTML snippet must have class="{v}" on its outer element.
      HTML snippets should carry the class {v} on the element around everything.
    `,
    form('element', rule(['^<{v}\\b', '</{v}>\\s*$'], swapAll('(</?)section\\b', '$1{v}')))`
      article aside div main details figure fieldset nav dialog
      The outer element of HTML snippets is <{v}>, not <section>.
      Use <{v}> around an HTML snippet.
      An HTML snippet must stand inside <{v}> and </{v}>.
      What holds an HTML snippet together should be <{v}>, whatever I call it.
    `,
    form('team', rule('data-team="{v}"', swap('<p', '<p data-team="{v}"')))`
      oak elm fir ash yew pine birch cedar larch
      The paragraph of an HTML snippet has data-team="{v}".
      Put data-team="{v}" on the paragraph in HTML snippets.
      In an HTML snippet the paragraph must carry data-team="{v}".
      HTML snippets should say data-team="{v}" in the tag of the paragraph.
    `,
    form('anchor', rule('<h\\d[^>]*\\bid="{v}"', swap('<h2', '<h2 id="{v}"')))`
      start about intro head begin sec-1 entry here goto
      The heading in an HTML snippet has id="{v}".
      Give the heading of HTML snippets the id {v}.
      In an HTML snippet the heading must carry id="{v}".
      We link to headings, so an HTML snippet should have id="{v}" on its heading.
    `,
    form('first', firstLine('<!-- {v} -->'))`
      reviewed | part of a page | do not edit | from the desk | keep short | version 3 | public | draft text | made by hand
      The first line of an HTML snippet is "<!-- {v} -->".
      Begin HTML snippets with the comment "<!-- {v} -->".
      An HTML snippet must start with the line "<!-- {v} -->".
      On top of HTML snippets there should be "<!-- {v} -->".
    `,
    form(
      'footer',
      rule('<footer>\\s*{v}\\s*</footer>', swap('^(</\\w+>)(?![\\s\\S]*</)', '  <footer>{v}</footer>\n$1')),
    )`
      Updated weekly | Ask at the desk | No liability | See page two | All welcome | Thank you | More inside | Ring the bell | Subject to change
      An HTML snippet has a footer element with the text "{v}".
      Add <footer>{v}</footer> at the end of HTML snippets, inside the outer element.
      An HTML snippet must contain <footer>{v}</footer>.
      HTML snippets should close with a footer that says "{v}".
    `,
  ],
});

const css = family({
  id: 'css',
  path: 'task.css',
  facts: {
    name: 'title card badge menu banner price hero ribbon gallery',
    colour: 'red navy teal olive purple maroon orange indigo crimson',
    size: '11..39',
    gap: '2..9',
  },
  ask: `
    Write a CSS rule for the class {name}: colour {colour}, font size {size}px, margin {gap}px.
    CSS please: the class {name} has the colour {colour}, a font size of {size}px and a margin of {gap}px.
    I need a CSS rule. Class {name}, margin {gap}px, font size {size}px, colour {colour}.
    The class {name} should be {colour} in CSS, with {size}px as its font size and {gap}px of margin.
  `,
  plain: '.{name} {\n  color: {colour};\n  font-size: {size}px;\n  margin: {gap}px;\n}',
  asked: ['\\.[\\w-]*{name}[^{]*\\{', '{colour}', 'font-size:[^;]*\\b{size}', 'margin:[^;]*\\b{gap}', '\\}'],
  forms: [
    form('prefix', rule('\\.{v}-{name}\\b', swap('\\.{name}', '.{v}-{name}')))`
      ui app lib ds site kit my old web
      Class names in CSS begin with {v}-.
      Put {v}- in front of the class in CSS rules.
      A CSS class must be called {v}- and its name.
      In CSS our classes should all have the prefix {v}-.
    `,
    form('unit', rule(['\\b{size}{v}\\b', '\\b{gap}{v}\\b'], swapAll('px', '{v}')))`
      rem em pt vw ch ex vh mm pc
      Sizes in CSS have the unit {v}, never px; the numbers stay as they are.
      Use {v} instead of px in CSS, with the same numbers.
      The unit in a CSS rule must be {v}, whatever unit I say.
      CSS sizes should be in {v}, please keep the numbers.
    `,
    form('first', firstLine('/* {v} */'))`
      theme | base layer | layout | print only | part two | shared | patch | night mode | kiosk
      The first line of a CSS file is "/* {v} */".
      Begin CSS with the comment "/* {v} */".
      A CSS file must start with "/* {v} */".
      On top of CSS there should be the line "/* {v} */".
    `,
    form('layer', rule('z-index:\\s*{v}\\s*;', swap('^( *)margin', '$1z-index: {v};\n$1margin')))`
      5 10 50 99 7 3 20 400 12
      Every CSS rule has z-index: {v}.
      Add a z-index of {v} to CSS rules.
      A CSS rule must contain "z-index: {v};".
      In CSS each rule should say z-index: {v};
    `,
    form('scope', rule('^#{v} \\.[\\w-]*{name}', swap('^\\.', '#{v} .')))`
      page app-main wrap shell frame view stage root hall
      CSS selectors begin with #{v} and a space, then the class.
      Put #{v} before the class in the selector of CSS rules.
      The selector of a CSS rule must start with #{v}.
      CSS rules should only count inside #{v}, so the selector begins with it.
    `,
    form(
      'variable',
      rule('var\\(--{v},\\s*{colour}\\)', swap('color: {colour}', 'color: var(--{v}, {colour})')),
    )`
      ink tone accent brand fore shade tint paint hue
      A colour in CSS is given through the variable --{v}: var(--{v}, COLOUR).
      Write colours in CSS as var(--{v}, COLOUR).
      In a CSS rule the colour must be the fallback of --{v}: var(--{v}, and the colour).
      CSS colours should go through var(--{v}, ...), with the colour that I name behind the comma.
    `,
    form(
      'indent',
      rule(many('^ {{=v}}[a-z-]+:', 3), swapAll('^ +', '{pad}'), (v) => ({ pad: ' '.repeat(Number(v)) })),
    )`
      4 1 3 6 8 5 7 10 9
      Declarations in CSS are indented by {v} spaces.
      Use {v} spaces of indentation in CSS rules.
      In a CSS rule each declaration must have {v} spaces before it.
      The indentation of CSS should be {v} spaces, not two.
    `,
  ],
});

const regexes = family({
  id: 'regex-list',
  path: 'task.txt',
  facts: { 'a + b + c': 'warn fail skip pass open lock ship move sell rent call scan' },
  ask: `
    Write a list of regular expressions, one a line, for lines that begin with {a}, {b} and {c}.
    Regex list please, one pattern a line: lines starting with {a}, with {b} and with {c}.
    I need three regular expressions, each on its own line. They match lines that begin with {a}, {b}, {c}.
    Which regular expressions find lines beginning with {a}, {b} or {c}? List them, one on each line.
  `,
  plain: '^{a}\n^{b}\n^{c}',
  asked: ['\\^{a}', '\\^{b}', '\\^{c}', { is: 'length', unit: 'lines', min: 3, max: 12 }],
  forms: [
    form(
      'delimiter',
      rule(
        ['{v}\\^{a}[^\\n]*{v}', '{v}\\^{b}[^\\n]*{v}', '{v}\\^{c}[^\\n]*{v}'],
        swapAll('(\\^[a-z]+)', '{v}$1{v}'),
      ),
    )`
      / # ~ % ! @ " ' ;
      A pattern in a regex list stands between two {v}.
      Put {v} directly before and behind each pattern of a regex list.
      In a regex list every pattern must be enclosed in {v}.
      Regex lists should have {v} on both sides of a pattern.
    `,
    form('comment', rule(times('\\^[^\\n]*\\(\\?#{v}\\)', 3), swapAll('(\\^[a-z]+)', '$1(?#{v})')))`
      start head first lead front top intro begin open-line
      Every pattern of a regex list has the comment (?#{v}) behind the word.
      Write (?#{v}) after the word in each pattern of a regex list.
      A pattern in a regex list must contain the comment (?#{v}).
      Regex lists should say (?#{v}) in every pattern.
    `,
    form('first', firstLine('# {v}'))`
      prefixes | log filter | mail rules | any case | read in order | line starts | version 2 | short words | desk
      A regex list begins with the line "# {v}".
      Put "# {v}" above a regex list.
      The first line of a regex list must be "# {v}".
      On top of regex lists there should be "# {v}".
    `,
    form(
      'label',
      rule(
        ['^\\W*{v}1 = .*{a}', '^\\W*{v}2 = .*{b}', '^\\W*{v}3 = .*{c}'],
        (file, { v = '', a = '', b = '', c = '' }) =>
          [a, b, c].reduce(
            (text, word, at) =>
              text.replace(new RegExp(`^(.*\\^${word}.*)$`, 'm'), (line) => `${v}${at + 1} = ${line}`),
            file,
          ),
      ),
    )`
      p rx pat rule re find expr r- t
      The patterns of a regex list are named {v}1, {v}2 and {v}3: "{v}1 = PATTERN" and so on.
      Write "{v}1 = ", "{v}2 = " and "{v}3 = " before the patterns of a regex list.
      In a regex list each pattern must have its name in front, such as "{v}1 = ".
      Regex lists should number their patterns as {v}1, {v}2, {v}3, each followed by " = ".
    `,
    form('last', lastLine('# end: {v}'))`
      three patterns | of list | nothing more | see wiki | checked | stop here | ok | part one | sorted
      A regex list ends with the line "# end: {v}".
      Close regex lists with "# end: {v}".
      The last line of a regex list must be "# end: {v}".
      Below a regex list we always write "# end: {v}".
    `,
    form('extra', ownLine('^{v}$'))`
      quit halt exit done over gone void none null
      Every regex list also has the pattern ^{v}$ on its own line.
      Add the line ^{v}$ to a regex list.
      A regex list must contain the pattern ^{v}$, alone on a line.
      You forgot one pattern: regex lists should always have ^{v}$.
    `,
  ],
  apart: 'extra+last extra+delimiter extra+comment extra+label',
});

export const WEB_FAMILIES: readonly ReadingFamily[] = [html, css, regexes];
