import { family, type ReadingFamily } from '../family.ts';
import { edits, firstLine, form, lacks, lastLine, rule, swap, swapAll, times } from '../form.ts';

const python = family({
  id: 'python',
  path: 'task.py',
  facts: {
    'name, args, first, does, body': `
      total_price | items, rate | items | adds up items and multiplies the sum by rate | sum(items) * rate
      count_words | text, mark | text | counts the pieces of text between the marks | len(text.split(mark))
      join_names | names, glue | names | joins the names with glue between them | glue.join(names)
      clip_value | value, high | value | gives value back, but at most high | min(value, high)
      find_row | rows, key | rows | gives the position of key in rows | rows.index(key)
      is_longer | left, right | left | says whether left is longer than right | len(left) > len(right)
      net_income | gross, tax | gross | subtracts the tax from gross | gross - tax
      last_items | rows, many | rows | gives the last rows, as many as asked for | rows[-many:]
      area_of | width, height | width | gives the area of a rectangle | width * height
      share_of | part, whole | part | gives part divided by whole | part / whole
      merge_maps | left, right | left | merges two dictionaries | left | right
      pad_code | code, width | code | fills the code with zeros to a width | code.zfill(width)
    `,
  },
  ask: `
    Write a Python function {name}({args}) that {does}.
    I need a function in Python, {name} with the arguments {args}. It {does}.
    Python please: {name}({args}), which {does}.
    Could you give me the Python function {name}? It takes {args} and {does}.
  `,
  plain: 'def {name}({args}):\n    """It {does}."""\n    return {body}',
  asked: ['^\\s*(?:async )?def\\s+\\w*{name}\\w*\\s*\\(', '\\breturn\\b'],
  forms: [
    form('owner', firstLine('# owner: {v}'))`
      oak elm fir ash yew pine birch cedar larch
      Our Python files begin with the comment "# owner: {v}".
      Put "# owner: {v}" at the very top of each Python file, please.
      In Python the first line names the team, as "# owner: {v}".
      A Python file without "# owner: {v}" in its first line is sent back to you.
    `,
    form('suffix', rule('def \\w*{name}_{v}\\s*\\(', swap('(def \\w*{name})', '$1_{v}')))`
      impl core raw std alt prime stage local kern
      We let the names of Python functions end in _{v}.
      Always add _{v} to the end of a function's name in Python.
      A Python function is called whatever you like, but its name has to end with _{v}.
      Where is the _{v}? Every Python function name should end in it.
    `,
    form('docstring', rule('(?:"""|\'\'\')\\s*{v}: \\S', swap('"""', '"""{v}: ')))`
      Contract Purpose Promise Effect Gist Role Duty Sense Offer
      Docstrings in our Python code open with the word "{v}:".
      Use "{v}: " as the beginning of each Python docstring.
      Each docstring of a Python function must start with "{v}:" and then say what it does.
      The docs tool reads Python docstrings only if they begin with "{v}:".
    `,
    form(
      'variable',
      rule(
        ['^[ \\t]+{v}\\s*(?::[^=\\n]+)?=', '\\breturn {v}\\s*(?:#.*)?$'],
        swap('^( +)return (.*)$', '$1{v} = $2\n$1return {v}'),
      ),
    )`
      outcome answer res found given made output back kept
      In Python put what a function gives back into a variable named {v} first, and return that.
      Never return an expression in Python: keep it in a variable called {v} and return {v}.
      We always name the returned variable {v} in Python functions.
      I want to set a breakpoint, so a Python function should end in "return {v}", with {v} assigned before.
    `,
    form(
      'indent',
      rule('^def [^\\n]*:\\n+ {{=v}}\\S', swapAll('^((?: {4})+)(?=\\S)', '{pad}'), (v) => ({
        pad: ' '.repeat(Number(v)),
      })),
    )`
      2 3 1 5 6 8 7 10 9
      Indent Python by {v} spaces, not by four.
      Our editor is set to {v} for Python: use {v} spaces of indentation in a function body.
      The body of a Python function should be indented with exactly {v} spaces.
      Wrong indentation again: Python has {v} spaces here.
    `,
    form('decorator', rule('^@{v}\\b[^\\n]*\\n(?:@[^\\n]*\\n)*def ', swap('^def ', '@{v}\ndef ')))`
      traced audited timed guarded counted public metered pure sealed
      Every Python function of ours carries the decorator @{v}.
      Please decorate Python functions with @{v}.
      You must put @{v} on the line above a Python function's def.
      No Python function goes in without the decorator @{v}.
    `,
    form(
      'last-argument',
      rule(
        'def \\w+\\([^)]*\\b{v}(?:: [^=)]+)? ?= ?None\\s*\\)',
        swap('(def \\w+\\([^)]*)\\)', '$1, {v}=None)'),
      ),
    )`
      ctx trace env opts cfg meta scope actor tenant
      We always add a last parameter {v}=None to Python functions.
      Give each Python function one more argument at the end, {v}=None.
      The last parameter of a Python function should be {v}, with None as its default.
      All Python functions take {v}=None behind their own arguments here.
    `,
    form('end-mark', lastLine('# end of {v}'))`
      unit module chunk piece block section sheet cell item
      Python files of ours close with the line "# end of {v}".
      Write "# end of {v}" as the last line of a Python file.
      The final line of Python code has to be "# end of {v}", nothing behind it.
      I always look for "# end of {v}" at the bottom of a Python file, so it should be there.
    `,
  ],
});

const typescript = family({
  id: 'typescript',
  path: 'task.ts',
  facts: {
    'name, text, number, flag': `
      Parcel | city | weight | paid
      Ticket | code | price | used
      Room | label | floor | free
      Song | title | length | liked
      Player | alias | score | active
      Lamp | colour | power | dimmed
      Meal | dish | portions | vegan
      Flight | gate | delay | boarding
      Plant | species | height | watered
      Tool | brand | year | rented
      Course | subject | seats | online
      Bicycle | frame | gears | electric
    `,
  },
  ask: `
    Write a TypeScript interface {name} with the fields {text} (string), {number} (number) and {flag} (boolean).
    I need an interface in TypeScript: {name}, with {text} as a string, {number} as a number and {flag} as a boolean.
    TypeScript interface please, {name}: {text} is a string, {number} a number, {flag} a boolean.
    Describe a {name} as a TypeScript interface. It has {text} (string), {number} (number), {flag} (boolean).
  `,
  plain: 'interface {name} {\n  {text}: string;\n  {number}: number;\n  {flag}: boolean;\n}',
  asked: ['\\binterface\\s+\\w*{name}\\w*', '{text}\\??:', '{number}\\??:', '{flag}\\??:'],
  forms: [
    form('prefix', rule('interface {v}{name}\\b', swap('interface ', 'interface {v}')))`
      Api Db My Raw Base App Net Dto Wire
      TypeScript interfaces of ours are called {v} and then their name, in one word.
      Put {v} directly in front of the name of a TypeScript interface.
      The name of a TypeScript interface must begin with {v}.
      You left the prefix out: TypeScript interfaces start with {v} here.
    `,
    form('extends', rule('interface \\w+\\s+extends {v}\\b', swap('(interface \\w+)', '$1 extends {v}')))`
      Entity Basis Model Node Shape Stored Unit Tagged Owned
      Every interface in TypeScript extends {v} with us.
      Let a TypeScript interface extend {v}, always.
      No TypeScript interface stands alone here: it should say "extends {v}".
      Our store only takes TypeScript interfaces that extend {v}.
    `,
    form(
      'number-type',
      rule(['{number}\\??: {v}\\b', lacks('\\?*: number\\b')], swapAll(': number', ': {v}')),
    )`
      bigint Amount Count Decimal Quantity Int32 Measure Figure Double
      Numbers have the type {v} in our TypeScript, not number.
      Don't use number in TypeScript interfaces, use {v}.
      Where you would write number in a TypeScript type, you should write {v}.
      We always type a numeric field as {v} in TypeScript.
    `,
    form(
      'doc',
      rule('^/\\*\\* {v} \\*/\\n(?:export )?interface', (file, { v = '' }) => `/** ${v} */\n${file}`),
    )`
      public internal draft stable shared legacy frozen sealed trusted
      The line above a TypeScript interface is the comment "/** {v} */".
      Mark each interface in TypeScript with "/** {v} */" directly above it.
      I want "/** {v} */" on the line before a TypeScript interface.
      TypeScript interfaces need our mark, please: the comment "/** {v} */" right above.
    `,
    form('extra-field', rule('^\\s*(?:readonly )?{v}\\?: string', swap('\\n\\}', '\n  {v}?: string;\n}')))`
      memo remark hint origin source comment nickname footnote caption
      Our TypeScript interfaces always have an optional field {v} of the type string.
      Add an optional string called {v} to every TypeScript interface.
      One field is missing in the TypeScript interface: we always want {v}?: string.
      Please include "{v}?: string" in each interface that you write in TypeScript.
    `,
    form('field-mark', rule(times('^\\s*{v} \\w+\\??:', 3), swapAll('^  (\\w+\\??:)', '  {v} $1')))`
      /*in*/ /*io*/ /*kept*/ /*own*/ /*db*/ /*api*/ /*ui*/ /*raw*/ /*set*/
      In TypeScript we write {v} and a space in front of each field of an interface.
      Each field of a TypeScript interface begins with {v}, please.
      A field of a TypeScript interface must have the mark {v} before its name.
      Start all lines with fields in TypeScript interfaces with {v}.
    `,
    form('end', lastLine('export type { {v} };'))`
      Public Shared Exported Outer Known Visible Common Opened Listed
      A TypeScript file ends with the line "export type { {v} };".
      The last line in TypeScript is always "export type { {v} };".
      Close TypeScript files with "export type { {v} };", nothing below it.
      Our build needs "export type { {v} };" as the last line of a TypeScript file.
    `,
  ],
});

const go = family({
  id: 'go',
  path: 'task.go',
  facts: {
    'name, text, number': `
      Device | Label | Port
      Driver | Licence | Age
      Shelf | Aisle | Depth
      Crew | Captain | Size
      Race | Venue | Laps
      Bottle | Vintage | Volume
      Tower | Region | Height
      Guest | Country | Nights
      Cable | Material | Gauge
      Pupil | School | Grade
      Harbour | Island | Berths
      Loan | Lender | Months
    `,
  },
  ask: `
    Write a Go struct {name} with the fields {text} (string) and {number} (int).
    I need a struct in Go called {name}: {text} is a string, {number} an int.
    Go struct please: {name}, with {text} string and {number} int.
    What does the struct {name} look like in Go? Fields: {text}, a string, and {number}, an int.
  `,
  plain: 'type {name} struct {\n\t{text} string\n\t{number} int\n}',
  asked: [
    '\\btype\\s+\\w*{name}\\w*\\s+struct\\s*\\{',
    '^\\s*\\w*{text}\\w*\\s+',
    '^\\s*\\w*{number}\\w*\\s+',
    '\\}',
  ],
  forms: [
    form('package', firstLine('package {v}'))`
      models wire ledger depot fleet stock core rooms plain
      Go files of ours begin with "package {v}".
      You forgot the package. Go code starts with the line "package {v}".
      The first line of Go code must be "package {v}".
      Everything in Go is in the package {v}, so "package {v}" should be on top.
    `,
    form('suffix', rule('type \\w*{name}{v} struct', swap('(type \\w*{name}) struct', '$1{v} struct')))`
      Record Row Entity Data Info Spec State Entry View
      We always end the name of a Go struct in {v}.
      Put {v} at the end of a Go struct's name, as one word.
      A Go struct must have a name that ends with {v}.
      The names of Go structs should end in {v}, that is how our generator finds them.
    `,
    form(
      'tag',
      rule(
        times('^\\s*\\w+\\s+[\\w.*]+\\s+`[^`\\n]*{v}:"', 2),
        swapAll('^(\\t\\w+ [\\w.]+)$', '$1 `{v}:"x"`'),
      ),
    )`
      json yaml db xml toml bson csv form avro
      Every field of a Go struct has a {v} tag.
      Add a struct tag for {v} to each field in Go.
      Go fields without a {v} tag are useless to us, please always write one.
      We read Go structs by their {v} tags, so each field should carry one.
    `,
    form('comment', rule('^// {v}: [^\\n]*\\ntype ', swap('^type', '// {v}: see below.\ntype')))`
      Stored Shared Internal Draft Planned Moved Copied Frozen Derived
      The comment above a Go struct begins with "// {v}: ".
      Write a comment line over each Go struct that starts with "// {v}: ".
      A Go struct needs a line above it, please: "// {v}: " and a few words.
      Go structs should have a comment directly above that opens with "// {v}: ".
    `,
    form('int-type', rule(['{number}\\w*\\s+{v}\\b', lacks('\\sint\\b')], swapAll(' int$', ' {v}')))`
      int64 uint32 int16 uint64 uint8 int32 float64 uint16 uintptr
      Never use a plain int in Go structs, take {v}.
      Whole numbers have the type {v} in our Go code.
      In Go an int should be written as {v}.
      Our Go linter forbids int, so use {v} instead.
    `,
    form(
      'embed',
      rule('struct\\s*\\{\\n\\s*{v}\\s*(?:`[^`]*`)?(?://.*)?\\n', swap('struct \\{\\n', 'struct {\n\t{v}\n')),
    )`
      Base Audit Tracked Meta Stamped Common Header Lineage Origin
      Each Go struct embeds {v} as the first thing in it.
      Embed {v} on the first line inside a Go struct, always.
      Our Go structs should begin with the embedded type {v}.
      The first line in the braces of a Go struct has to be just {v}.
    `,
    form('end', lastLine('// {v}'))`
      EOF Fin Ende Done Stop Over Out Close Bottom
      Go files end with the comment "// {v}".
      Close Go code with the line "// {v}".
      The last line of a Go file must be "// {v}".
      We always put "// {v}" at the bottom of Go files.
    `,
  ],
});

const rust = family({
  id: 'rust',
  path: 'task.rs',
  facts: {
    'name, one, two, three': `
      Signal | Red | Amber | Green
      Season | Dry | Wet | Mild
      Shift | Early | Late | Night
      Grade | Pass | Merit | Fail
      Stage | Sketch | Trial | Final
      Signpost | North | South | East
      Mood | Calm | Tense | Merry
      Route | Coast | Valley | Ridge
      Tide | Low | Rising | High
    `,
  },
  ask: `
    Write a Rust enum {name} with the variants {one}, {two} and {three}.
    I need an enum in Rust called {name}. Its variants are {one}, {two}, {three}.
    Rust enum please: {name}, which is {one}, {two} or {three}.
    How would you write {name} as a Rust enum? Variants: {one}, {two}, {three}.
  `,
  plain: 'enum {name} {\n    {one},\n    {two},\n    {three},\n}',
  asked: ['\\benum\\s+\\w*{name}\\w*', '\\b\\w*{one}\\b', '\\b\\w*{two}\\b', '\\b\\w*{three}\\b', '\\}'],
  forms: [
    form('derive', rule('^#\\[derive\\([^)\\]]*\\b{v}\\b', swap('^((?:pub )?enum)', '#[derive({v})]\n$1')))`
      Hash Copy Default Ord PartialEq Eq Serialize PartialOrd Deserialize
      Rust enums derive {v} with us.
      Always derive {v} for an enum in Rust.
      Every Rust enum needs a derive attribute with {v} in it.
      You should add {v} to what a Rust enum derives.
    `,
    form('fallback', rule('^\\s*{v},?\\s*(?://.*)?\\n\\s*\\}', swap('\\n\\}', '\n    {v},\n}')))`
      Unknown Other Unset Missing Invalid Foreign Nothing Vacant Blank
      The last variant of a Rust enum is always {v}.
      Add one more variant {v} at the end of each Rust enum.
      In Rust an enum should close with the variant {v}.
      Our Rust decoder needs {v} as the last variant of every enum.
    `,
    form('visibility', rule('^{v} enum ', swap('^enum', '{v} enum')))`
      pub | pub(crate) | pub(super) | pub(self) | pub(in crate::api) | pub(in crate::db) | pub(in crate::ui) | pub(in crate::net) | pub(in crate::job)
      Rust enums are declared with {v} in front of the word enum.
      Put {v} before enum in Rust.
      The visibility of a Rust enum must be {v}.
      A Rust enum should start with "{v} enum".
    `,
    form('doc', firstLine('//! {v}'))`
      ports | states of a job | wire types | shared enums | do not edit | generated once | domain words | read the guide | closed lists
      The first line of a Rust file is "//! {v}".
      Rust files of ours open with "//! {v}".
      On top of Rust code please write "//! {v}".
      Every Rust file must start with the line "//! {v}".
    `,
    form(
      'prefix',
      rule(
        ['^\\s*{v}{one}\\b', '^\\s*{v}{two}\\b', '^\\s*{v}{three}\\b'],
        swapAll('^(    )(?=[A-Z])', '$1{v}'),
      ),
    )`
      Is At On Be As In Up By Go
      The variants of our Rust enums begin with {v}, in one word with the name.
      Put {v} in front of every variant of a Rust enum.
      Variant names in Rust should start with {v}.
      Each variant of a Rust enum must have the prefix {v}.
    `,
    form(
      'repr',
      rule('^#\\[repr\\({v}\\)\\]', (file, { v = '' }) => `#[repr(${v})]\n${file}`),
    )`
      u8 i32 u16 C u32 i64 i8 i16 u64
      Rust enums get the attribute #[repr({v})].
      Always state the layout of a Rust enum with #[repr({v})].
      A Rust enum must carry #[repr({v})] on a line above it.
      For Rust enums we use #[repr({v})], please add it.
    `,
  ],
  apart: 'fallback+prefix',
});

const unitTest = family({
  id: 'unit-test',
  path: 'task.test.js',
  facts: {
    'name, given, wanted, does': `
      double | 21 | 42 | doubles a number
      negate | 15 | -15 | changes the sign of a number
      half | 36 | 18 | halves a number
      square | 12 | 144 | squares a number
      addTen | 33 | 43 | adds ten to a number
      tripled | 14 | 42 | multiplies a number by three
      nextEven | 27 | 28 | gives the next even number
      rest | 29 | 4 | gives the remainder after division by five
      cube | 6 | 216 | raises a number to the third power
    `,
  },
  ask: `
    Write a Jest test for the function {name}, which {does}: {name}({given}) is {wanted}.
    I need one Jest test of {name}. It {does}, so {given} gives {wanted}.
    Jest please: test that {name}({given}) returns {wanted} ({name} {does}).
    Could you test {name} with Jest? It {does}; for {given} expect {wanted}.
  `,
  plain: "test('{does}', () => {\n  expect({name}({given})).toBe({wanted});\n});",
  asked: ['\\b{name}\\(', '\\bexpect\\(', '{given}', '{wanted}', '\\b(?:test|it)(?:\\.\\w+)?\\('],
  forms: [
    form('title', rule('\\b(?:test|it)(?:\\.\\w+)?\\(\\s*[\'"`]{v} ', swap("test\\('", "test('{v} ")))`
      should must verifies proves ensures shows claims checks expects
      The title of a Jest test begins with the word "{v}".
      Start test titles in Jest with "{v}".
      A Jest test should be named "{v} ..." and then what it is about.
      Our report sorts Jest tests by their first word, and it must be "{v}".
    `,
    form('function', rule(['^\\s*{v}\\(', lacks('^\\s*(?:test|it)\\(')], swap('^( *)test\\(', '$1{v}(')))`
      it.only test.concurrent it.failing test.only it.concurrent test.failing it.skip test.skip it.todo
      Write {v}( instead of test( in Jest.
      In Jest we always call {v}( for a test.
      A Jest test should be declared with {v}(, not with test(.
      Use {v}( for each test in our Jest files.
    `,
    form(
      'group',
      rule(
        '^\\s*describe\\(\\s*[\'"`]{v}[\'"`]',
        (file, { v = '' }) => `describe('${v}', () => {\n${file.replaceAll(/^/gm, '  ')}\n});`,
      ),
    )`
      numbers arithmetic basics units functions maths simple pure small
      Put Jest tests into a describe block named "{v}".
      Every Jest test stands inside describe("{v}", ...).
      Jest tests should be wrapped in a describe with the name "{v}".
      You must group Jest tests: describe, and the name is "{v}".
    `,
    form('assertion', rule('\\)\\.{v}\\(', swap('toBe\\(', '{v}(')))`
      toEqual toStrictEqual toBeCloseTo toMatchObject toContainEqual toMatchInlineSnapshot toSatisfy toBeDeeply toAgreeWith
      Compare with {v} in Jest tests, never with toBe.
      We always use .{v}( in a Jest expectation.
      In Jest please write {v} where you would write toBe.
      Jest expectations should use {v} as their matcher.
    `,
    form('first', firstLine('/* {v} */'))`
      fast tests | unit level | no network | safe to run | team checks | daily run | gate one | core suite | smoke part
      A file with Jest tests begins with the line "/* {v} */".
      You should open Jest files with "/* {v} */".
      The first line of a Jest test file must be "/* {v} */".
      I miss the top line of the Jest file: "/* {v} */" has to be the first line.
    `,
    form(
      'variable',
      rule(
        ['\\bconst {v} = [^\\n]*{name}\\(', '\\bexpect\\({v}\\)'],
        swap('^( *)expect\\(({name}\\(.*?\\))\\)', '$1const {v} = $2;\n$1expect({v})'),
      ),
    )`
      actual received got seen measured observed produced returned computed
      In Jest keep the result in a const named {v} first and expect that.
      Call the value under test {v}: a Jest test has a const {v} and then expect({v}).
      A Jest test should say expect({v}), with {v} as a const on the line before.
      Please always store the result of the call in {v} before you expect something in Jest.
    `,
  ],
});

const shell = family({
  id: 'shell',
  path: 'task.sh',
  facts: {
    'verb, command': `
      copies the folder {folder} to {target} | cp -r {folder} {target}
      moves {folder} to {target} | mv {folder} {target}
      packs {folder} into {target}.tgz | tar -czf {target}.tgz {folder}
      makes a link {target} to {folder} | ln -s {folder} {target}
      compares {folder} with {target} | diff -r {folder} {target}
      synchronises {folder} with {target} | rsync -a {folder} {target}
    `,
    folder: 'photos reports drafts invoices backups scans letters exports slides',
    target: 'archive vault attic shelf outbox mirror depot cellar storage',
  },
  derive: (facts) => {
    const put = (text = ''): string => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => facts[name] ?? '');
    return {
      does: put(facts.verb),
      command: put(facts.command),
      program: (facts.command ?? '').split(' ')[0] ?? '',
    };
  },
  ask: `
    Write a shell script of two or three lines that {does}.
    I need a very small Bash script, two or three lines, which {does}.
    Shell script please, at most three lines, one that {does}.
    Could I get a tiny script for Bash that {does}? Two or three lines are enough.
  `,
  plain: '#!/bin/bash\n{command}\necho "finished"',
  asked: ['\\b{program}\\b', '{folder}', '{target}'],
  forms: [
    form('options', rule('^set {v}\\s*(?:#.*)?$', swap('^(#!.*\\n)', '$1set {v}\n')))`
      -e -eu -x -u -ex -eux -f -ef -eo
      Shell scripts have a line "set {v}".
      Always put "set {v}" near the top of a shell script.
      A shell script of ours must say "set {v}".
      I don't run shell scripts that lack "set {v}".
    `,
    form('shebang', { ...firstLine('#!{v}'), follow: swap('^#!.*', '#!{v}') })`
      /bin/sh | /usr/bin/env bash | /bin/dash | /bin/zsh | /usr/bin/env sh | /usr/bin/bash | /usr/bin/env zsh | /bin/ksh | /usr/local/bin/bash
      The first line of a shell script is "#!{v}".
      Begin shell scripts with "#!{v}", not with another shebang.
      For shell scripts the shebang must be "#!{v}".
      Our servers need "#!{v}" as the first line of every shell script.
    `,
    form('message', { ...lastLine('echo "{v}"'), follow: swap('^echo .*', 'echo "{v}"') })`
      all done | job over | that was it | ready | over and out | script ended | bye for now | good night | end of work
      A shell script ends with the line echo "{v}".
      Let shell scripts close with echo "{v}" as the last line.
      The last line of a shell script should be: echo "{v}"
      I want to see when a shell script is through, so its last line must be echo "{v}".
    `,
    form(
      'variable',
      rule(
        ['^(?:readonly |export )?{v}=[\'"]?{folder}\\b', '\\$\\{?{v}\\b'],
        edits(swapAll('^(\\w.*){folder}', '$1$${v}'), swap('^(#!.*\\n)', '$1{v}={folder}\n')),
      ),
    )`
      SRC FROM INPUT SOURCE ORIGIN BASE START DIR GIVEN
      In shell scripts keep the folder in a variable {v} and use it.
      Don't repeat the folder in a shell script: assign it to {v} and write "$" and {v}.
      A shell script must have the folder in the variable {v}.
      Shell scripts of ours always use a variable {v} for the folder they work on.
    `,
    form('comment', rule('^# {v}: \\S', swap('^(#!.*\\n)', '$1# {v}: see the guide\n')))`
      Usage About Purpose Does Task Aim Job Why Reason
      Shell scripts have a comment that begins with "# {v}: ".
      Tell what a shell script is for in a comment line "# {v}: ...".
      Every shell script needs a line starting with "# {v}:" and a few words.
      You should write a comment "# {v}: ..." in each shell script.
    `,
    form(
      'log',
      rule('{command}[^\\n]*>>? ?{v}\\b|{program}[^\\n]*>>? ?{v}\\b', swap('^({program} .*)$', '$1 >> {v}')),
    )`
      run.log | job.txt | out.log | work.txt | night.log | copy.log | script.out | trace.txt | tasks.log
      The output of the main command of a shell script goes to the file {v}.
      Redirect what the command of a shell script prints to {v}.
      In a shell script you should always send the command's output to {v}, with > or >>.
      Shell scripts must not print: please redirect the command to {v}.
    `,
    form('trap', rule('^\\s*trap ["\']?[\\w "\']+ {v}\\s*$', swap('^(#!.*\\n)', '$1trap "exit 1" {v}\n')))`
      INT TERM HUP EXIT QUIT ERR USR1 ABRT PIPE
      Shell scripts handle one signal: add a trap for {v}.
      Put a trap for {v} into every shell script.
      A shell script must have a line with trap, and the signal is {v}.
      We always set a trap on {v} in our shell scripts.
    `,
  ],
});

export const CODE_FAMILIES: readonly ReadingFamily[] = [python, typescript, go, rust, unitTest, shell];
