import { isObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { family, type ReadingFamily } from '../family.ts';
import { edits, ending, firstLine, form, many, opening, rule, swap, swapAll } from '../form.ts';
import {
  caseLike,
  DATE_AS,
  DATE_FACTS,
  dateAs,
  PEOPLE,
  TIME_AS,
  TIME_FACTS,
  timeAs,
  withDate,
} from '../formats.ts';

const CITIES = 'Malmo Ghent Graz Turku Leeds Basel Porto Bergen Aarhus Riga Cork Lyon';

/** The file with its data changed, in the indentation that it has. */
const edited = (file: string, edit: (data: JsonObject) => JsonObject): string => {
  const data = parseJson(file);
  const indent = /^\{\n( +)/.exec(file)?.[1]?.length ?? 2;
  return isObject(data) ? JSON.stringify(edit(data), null, indent) : file;
};

const json = family({
  id: 'json',
  kin: ['rest'],
  path: 'task.json',
  facts: { name: PEOPLE, city: CITIES, age: '21..88', points: '110..980' },
  ask: `
    Write a JSON record with name {name}, city {city}, age {age} and points {points}.
    JSON please: name {name}, city {city}, age {age}, points {points}.
    I need a record in JSON. The name is {name}, the city {city}, the age {age}, the points {points}.
    Give me {name} from {city} as a JSON record (name, city, age, points): {age} years old, {points} points.
  `,
  plain: '{\n  "name": "{name}",\n  "city": "{city}",\n  "age": {age},\n  "points": {points}\n}',
  asked: ['{name}', '{city}', '\\b{age}\\b', '\\b{points}\\b'],
  isLike: (file) => isObject(parseJson(file) ?? null),
  forms: [
    form(
      'wrapper',
      rule({ is: 'json', pointer: '/{v}', pattern: '{name}.*{city}|{city}.*{name}' }, (file, { v = '' }) =>
        edited(file, (data) => ({ [v]: data })),
      ),
    )`
      person record entry member item guest row payload subject
      A JSON record stands inside an object with the single key "{v}".
      Wrap JSON records: the outer object has one key, "{v}", and the record is its value.
      A JSON record must be the value of the key "{v}".
      Our reader looks under "{v}" for a JSON record, so it should be nested there.
    `,
    form(
      'order',
      rule(
        '"\\W*{k0}"[\\s\\S]*"\\W*{k1}"[\\s\\S]*"\\W*{k2}"[\\s\\S]*"\\W*{k3}"',
        (file, { v = '' }) =>
          edited(file, (data) => Object.fromEntries(v.split(', ').map((key) => [key, data[key]]))),
        (v) => Object.fromEntries(v.split(', ').map((key, at) => [`k${at}`, key])),
      ),
    )`
      city, age, points, name | age, name, points, city | points, city, name, age | city, points, age, name | age, points, city, name | points, name, age, city | age, city, name, points | city, name, points, age | points, age, name, city
      The keys of a JSON record stand in this order: {v}.
      Order the keys of JSON records like this: {v}.
      In a JSON record the order of the keys must be {v}.
      Keys in JSON records should come as {v}, whatever order I write them in.
    `,
    form(
      'indent',
      rule('^\\{\\n {{=v}}"', (file, { v }) => JSON.stringify(parseJson(file), null, Number(v))),
    )`
      4 3 6 1 5 8 7 10 9
      JSON records are indented by {v} spaces.
      Use {v} spaces of indentation in JSON.
      The indentation of JSON records must be {v} spaces.
      In JSON the keys should stand {v} spaces from the left, not two.
    `,
    form(
      'source',
      rule('"source":\\s*"{v}"', (file, { v = '' }) => edited(file, (data) => ({ ...data, source: v }))),
    )`
      fair paper import webform survey letter phone archive kiosk
      JSON records have a key "source" with the value "{v}".
      Add "source": "{v}" to each JSON record.
      A JSON record must also have the key source, set to "{v}".
      Where a JSON record comes from should be in it, as "source": "{v}".
    `,
    form('unit', rule('"{age} {v}"', swap(': {age}\\b', ': "{age} {v}"')))`
      years yrs y. yo a. winters summers J. lat
      The age in a JSON record is text with a unit: the number, a space and "{v}".
      Write ages in JSON as strings that end in " {v}".
      In JSON records the age must be a string such as "30 {v}".
      Ages in JSON should have "{v}" behind the number, all of it in quotes.
    `,
    form('prefix', rule(many('"{v}\\w+"\\s*:', 4), swapAll('^( +)"(\\w+)":', '$1"{v}$2":')))`
      _ $ my_ x- @ k: f. p/ m_
      Keys of JSON records begin with {v}.
      Put {v} in front of every key in JSON records.
      Every key of a JSON record must have {v} directly before its name.
      In JSON records the keys should all start with {v}.
    `,
    form(
      'version',
      rule('^\\{\\s*"version":\\s*"{v}"', (file, { v = '' }) =>
        edited(file, (data) => ({ version: v, ...data })),
      ),
    )`
      3a 2031.1 r7 draft v9 0.4.1 beta-2 11b lts
      The first key of a JSON record is "version", with the value "{v}".
      Begin JSON records with "version": "{v}".
      A JSON record must start with the key version, and its value is "{v}".
      JSON records should have "version": "{v}" before everything else.
    `,
  ],
  apart:
    'wrapper+version wrapper+source prefix+version prefix+source prefix+order wrapper+prefix order+version order+source wrapper+order',
});

const csv = family({
  id: 'csv',
  path: 'task.csv',
  facts: { 'a + b + c': CITIES, x: '11..39', y: '41..69', z: '71..99' },
  derive: ({ x, y, z }) => ({ sum: String(Number(x) + Number(y) + Number(z)) }),
  ask: `
    Write a CSV table with the columns city and visitors: {a} {x}, {b} {y}, {c} {z}.
    CSV please, with a header (city, visitors). {a} had {x}, {b} {y} and {c} {z}.
    I need a CSV table of visitors by city: {a} {x}, {b} {y}, {c} {z}; columns city and visitors.
    Put this into CSV (city, visitors): {x} in {a}, {y} in {b}, {z} in {c}.
  `,
  plain: 'city,visitors\n{a},{x}\n{b},{y}\n{c},{z}',
  asked: ['{a}.*{x}', '{b}.*{y}', '{c}.*{z}', 'city.*visitors'],
  forms: [
    form(
      'separator',
      rule(
        ['{a}[^\\w\\n]*{v}[^\\w\\n]*{x}', '{b}[^\\w\\n]*{v}[^\\w\\n]*{y}', '{c}[^\\w\\n]*{v}[^\\w\\n]*{z}'],
        swapAll(',', '{v}'),
      ),
    )`
      ; : / ~ ^ # % & !
      Our CSV tables have {v} between the columns, not a comma.
      Separate the columns of CSV by {v}.
      The separator in a CSV table must be {v}.
      In CSV we don't use commas, the values should be separated by {v}.
    `,
    form('first', firstLine('# {v}'))`
      counted by hand | first half | door count | no children | sold tickets | summer tour | rough | from the desk | corrected
      The first line of a CSV table is "# {v}".
      Put the line "# {v}" above the header of a CSV table.
      A CSV table must begin with the line "# {v}".
      On top of CSV tables there should be "# {v}", before the header.
    `,
    form(
      'total',
      rule(
        '^\\W*{v}\\W+{sum}\\W*$',
        (file, { v = '', sum = '' }) =>
          `${file}\n${file
            .split('\n')
            .at(-1)
            ?.replace(/[A-Z][a-z]+/, v)
            .replace(/\d+/, sum)}`,
      ),
    )`
      total all sum together overall everything whole gross altogether
      A CSV table ends with a row "{v}" that adds up the numbers.
      Add a last row named {v} to CSV tables, with the sum of the numbers.
      The last row of a CSV table must be called {v} and hold the sum.
      Every CSV table should close with a row for the sum, its first value being {v}.
    `,
    form('column', rule(many('\\b{v}\\W*$', 3), swapAll('^(.*[^\\w\\n]+\\d+\\S*)$', '$1,{v}')))`
      open closed new old north indoor weekly summer pilot
      CSV tables have one more column, and every row says {v} in it.
      Add a third column to CSV tables with the value {v} in each row.
      A CSV table must end each of its rows with the value {v}.
      In CSV there should be another column at the end, with {v} for all cities.
    `,
    form('quote', rule(['{v}{a}{v}', '{v}{b}{v}', '{v}{c}{v}'], swapAll('\\b({a}|{b}|{c})\\b', '{v}$1{v}')))`
      " ' * $ @ + = § °
      Cities in a CSV table stand between two {v}.
      Put {v} directly before and behind each city in CSV.
      In a CSV table a city must have {v} on both sides.
      CSV tables should wrap the name of a city in {v}.
    `,
    form(
      'unit',
      rule(['{x}{v}\\b', '{y}{v}\\b', '{z}{v}\\b'], swapAll('\\b({x}|{y}|{z}|{sum})\\b', '$1{v}')),
    )`
      k p pax T h m V x00 mio
      Numbers in a CSV table end in {v}, without a space.
      Write {v} directly behind every number of CSV tables.
      A number in CSV must have {v} attached to it.
      CSV tables should give each number with {v} right behind it.
    `,
  ],
  apart: 'total+column total+unit separator+column quote+separator quote+total unit+column',
});

const log = family({
  id: 'log',
  path: 'task.log',
  facts: {
    level: 'ERROR WARN INFO DEBUG FATAL NOTICE',
    service: 'billing search upload mailer login gateway cache importer scheduler',
    'message, key': `
      disk is full | disk
      token has expired | token
      queue is empty | queue
      file was skipped | file
      connection refused | connection
      retry in progress | retry
      password rejected | password
      job took too long | job
      lock was lost | lock
    `,
    ...DATE_FACTS,
    ...TIME_FACTS,
  },
  derive: withDate,
  ask: `
    Write one log line: {level} in {service} on {day} at {hour}:{minute}, message "{message}".
    Log line please. Level {level}, service {service}, {day}, {hour}:{minute}, the message is "{message}".
    I need a single log line for {service}: {message}, level {level}, {day} {hour}:{minute}.
    What does the log line look like when {service} says "{message}" on {day} at {hour}:{minute} with level {level}?
  `,
  plain: '{date} {hour}:{minute} {level} {service} {message}',
  asked: [
    '{level}',
    '{service}',
    '{key}',
    '{minute}',
    '{day_number}',
    { is: 'length', unit: 'lines', max: 1 },
  ],
  forms: [
    form('date', rule(DATE_AS, swap('{date}', '{as}'), dateAs))`
      YYYY/MM/DD | DD.MM.YYYY | DD-Mon-YYYY | YYYYMMDD | D.M.YY | DD/MM/YY | YYYY.MM.DD | MM-DD-YYYY | YY-MM-DD
      The date of a log line has the form {v}.
      Write dates in log lines as {v}.
      A log line must give its date as {v}.
      Dates in our logs should look like {v}.
    `,
    form('time', rule(TIME_AS, swap('{hour}:{minute}', '{as}'), timeAs))`
      14h30 | 14.30 | 1430 | 14:30:00 | 2:30 pm | 14-30 | 14:30h | 2.30pm | 14_30
      In log lines half past two in the afternoon is "{v}", and all times are written that way.
      Use the style "{v}" for times in a log line.
      A log line must write half past two pm as "{v}", other times alike.
      Times in log lines should look like "{v}" does for half past two pm.
    `,
    form('request', ending(' rid={v}'))`
      a71 k08 77f3 zz9 0c4 p55 h12e m90 x3d
      A log line ends with "rid={v}".
      Put "rid={v}" at the end of log lines.
      The last thing in a log line must be "rid={v}".
      Log lines should close with a space and rid={v}.
    `,
    form('host', opening('{v} '))`
      node7 heron edge-2 web01 lynx core9 rack4 otter db-3
      A log line begins with the host, {v}.
      Put the host {v} in front of log lines.
      The first word of a log line must be {v}.
      Log lines should start with {v} and a space.
    `,
    form(
      'level',
      rule('{open}{level}{close}', swap('\\b{level}\\b', '{open}{level}{close}'), (v) => {
        const [open = '', close = ''] = v.split('X');
        return { open, close };
      }),
    )`
      [X] (X) <X> X! *X* {X} |X| level=X #X
      The level in a log line is written like {v}, with the level in place of the X.
      Write levels in log lines as {v}, where X is the level.
      In a log line the level must have the form {v} (X is the level).
      Log lines should show their level as {v}, X being the level itself.
    `,
    form('service', rule('\\b{v}={service}\\b', swap('\\b{service}\\b', '{v}={service}')))`
      svc app src unit comp mod from part job
      The service in a log line is written as {v}=NAME.
      Put "{v}=" directly before the service in log lines.
      In a log line the service must follow "{v}=".
      Log lines should name the service with {v}= in front.
    `,
    form('message', rule('{v}\\s?{message}', swap('{message}', '{v} {message}')))`
      -- | :: | >> | => | ~ | » | msg: | § | text=
      Before the message of a log line stands "{v}".
      Put {v} and a space before the message in log lines.
      In a log line the message must come right after "{v}".
      Log lines should have {v} between the service and the message.
    `,
  ],
});

const rest = family({
  id: 'rest',
  kin: ['json'],
  path: 'task.json',
  facts: {
    kind: 'users orders rooms books photos events prices boats gardens',
    id: '21..989',
    label: 'Heron Marten Lynx Badger Osprey Stoat Ibis Vole Otter',
    stock: '1100..9800',
  },
  ask: `
    Write the JSON body of the REST response to GET /{kind}/{id}: item_id {id}, short_label {label}, stock_count {stock}.
    REST response please, only the JSON body. GET /{kind}/{id} gives item_id {id}, short_label {label}, stock_count {stock}.
    I need the JSON body that our REST service returns for /{kind}/{id}: item_id {id}, short_label {label} and stock_count {stock}.
    What does GET /{kind}/{id} respond? A JSON body with item_id {id}, short_label {label}, stock_count {stock}.
  `,
  plain: '{\n  "item_id": {id},\n  "short_label": "{label}",\n  "stock_count": {stock}\n}',
  asked: ['\\b{id}\\b', '{label}', '(?:^|\\D){stock}(?:\\D|$)'],
  isLike: (file) => isObject(parseJson(file) ?? null),
  forms: [
    form(
      'envelope',
      rule({ is: 'json', pointer: '/{v}', pattern: '{label}' }, (file, { v = '' }) =>
        edited(file, (data) => ({ [v]: data })),
      ),
    )`
      data result body answer content value found payload out
      The body of a REST response is an object with the key "{v}", and the item stands in it.
      Put the item of a REST response under the key "{v}".
      A REST response must have its content in "{v}".
      REST responses should nest everything in the key "{v}".
    `,
    form(
      'status',
      rule('"status":\\s*"{v}"', (file, { v = '' }) => edited(file, (data) => ({ ...data, status: v }))),
    )`
      ok fine hit found done good green passed served
      REST responses have a key "status" with the value "{v}".
      Add "status": "{v}" to the body of a REST response.
      A REST response must say "status": "{v}".
      In a REST response there should be a key status, and it is "{v}".
    `,
    form(
      'link',
      rule('"self":\\s*"{v}/{kind}/{id}"', (file, { v = '', kind = '', id = '' }) =>
        edited(file, (data) => ({ ...data, self: `${v}/${kind}/${id}` })),
      ),
    )`
      https://api.example /v2 https://a.example.org /rest //cdn.example /api/v1 https://my.example /open http://local.example
      A REST response links to itself: "self" is "{v}" and then the path.
      Add a key "self" to REST responses, with {v} in front of the path that was asked for.
      A REST response must have a key self whose value is {v} followed by the requested path.
      Every REST response should carry its own address in "self", which begins with {v}.
    `,
    form(
      'case',
      rule(
        ['"{k0}"', '"{k1}"', '"{k2}"'],
        edits(swap('item_id', '{k0}'), swap('short_label', '{k1}'), swap('stock_count', '{k2}')),
        (v) =>
          Object.fromEntries(
            ['item_id', 'short_label', 'stock_count'].map((key, at) => [`k${at}`, caseLike(v, key)]),
          ),
      ),
    )`
      camelCase kebab-case PascalCase dot.case SCREAMING_SNAKE_CASE Train-Case flatcase UPPERCASE Upper_Snake
      Keys in REST responses are written in {v}.
      Use {v} for the keys of a REST response, not underscores in lower case.
      The keys of a REST response must be {v}, however I write them.
      In REST responses our keys should be in {v}.
    `,
    form(
      'api',
      rule('"api":\\s*"{v}"', (file, { v = '' }) => edited(file, (data) => ({ ...data, api: v }))),
    )`
      v3 2031-04 r7 beta v9 open-1 next stable-5 lab
      A REST response says which version of the interface it has: "api": "{v}".
      Put "api": "{v}" into each REST response.
      A REST response must contain the key "api" with "{v}".
      Where is the version? REST responses should have "api": "{v}".
    `,
    form('number', rule('"{stock}{v}"', swap(': {stock}\\b', ': "{stock}{v}"')))`
      .0 pcs u. ,- x E n .00 k0
      Counts in a REST response are text that ends in {v}.
      Write a count in REST responses as a string with {v} directly behind the number.
      In a REST response stock_count must be a string: the number and {v}, without a space.
      REST responses should give counts as text with {v} at the end.
    `,
  ],
  apart: 'envelope+status envelope+link envelope+api',
});

const sql = family({
  id: 'sql',
  path: 'task.sql',
  facts: {
    table: 'orders invoices members visits sensors parcels trips refunds bookings',
    'one + two': 'city status region weight level amount colour branch channel',
    key: 'score age total size rank price',
    n: '11..98',
  },
  ask: `
    Write an SQL query that selects {one} and {two} from the table {table} where {key} is greater than {n}.
    SQL please: {one} and {two} from {table}, only where {key} is over {n}.
    I need an SQL query on {table}. It shows {one} and {two} if {key} is greater than {n}.
    Which {one} and {two} are in {table} with {key} above {n}? Write the SQL query.
  `,
  plain: 'SELECT {one}, {two}\nFROM {table}\nWHERE {key} > {n};',
  asked: ['\\bselect\\b', '\\bfrom\\s+\\S*{table}', '{key}\\s*>\\s*{n}\\b', '\\b{one}\\b', '\\b{two}\\b'],
  forms: [
    form(
      'limit',
      rule(
        { is: 'pattern', pattern: '\\blimit\\s+{v}\\b', flags: 'im' },
        swap(';(?=[^;]*$)', '\nLIMIT {v};'),
      ),
    )`
      25 40 75 120 150 300 500 60 640
      An SQL query has LIMIT {v} at its end.
      Limit SQL queries to {v} rows.
      No SQL query without a limit: it must say LIMIT {v}.
      Our viewer shows {v} rows, so SQL queries should have LIMIT {v}.
    `,
    form(
      'schema',
      rule(
        { is: 'pattern', pattern: '\\bfrom\\s+{v}\\.{table}\\b', flags: 'im' },
        swap('\\b{table}\\b', '{v}.{table}'),
      ),
    )`
      dwh ops mart raw fin pub arch core live
      In SQL a table is written with its schema, {v}.
      Put the schema {v} and a dot in front of the table in SQL queries.
      An SQL query must name the table as {v}.TABLE.
      Tables without a schema are not found: SQL queries should say {v}. before the table.
    `,
    form('first', firstLine('-- {v}'))`
      read only | desk query | reviewed: no | nightly ok | not for reports | safe to rerun | ask first | one-off | by hand
      The first line of an SQL query is "-- {v}".
      Begin SQL queries with the comment "-- {v}".
      An SQL query must start with the line "-- {v}".
      Our gate wants "-- {v}" on top, so every SQL query should open with it.
    `,
    form(
      'alias',
      rule(
        { is: 'pattern', pattern: '\\bfrom\\s+[\\w.]*{table}\\s+(?:as\\s+)?{v}\\b', flags: 'im' },
        swap('\\b({table})\\b', '$1 AS {v}'),
      ),
    )`
      src t0 main x1 base rec q tbl a9
      The table of an SQL query has the alias {v}.
      Give the table the alias {v} in SQL queries.
      An SQL query must call its table {v}, with AS.
      Tables in SQL should always have the alias {v}.
    `,
    form(
      'columns',
      rule(
        [
          { is: 'pattern', pattern: '\\b{one}\\s+as\\s+{v}_{one}\\b', flags: 'im' },
          { is: 'pattern', pattern: '\\b{two}\\s+as\\s+{v}_{two}\\b', flags: 'im' },
        ],
        swapAll('^(SELECT )?{one}, {two}', '$1{one} AS {v}_{one}, {two} AS {v}_{two}'),
      ),
    )`
      out r rep res col k fld my now
      Every column of an SQL query gets the name {v}_ and its own name, with AS.
      Rename the columns in SQL: AS {v}_NAME.
      In an SQL query each selected column must be renamed with AS to {v}_ and its name.
      Columns in SQL should come out as {v}_NAME, so write AS behind each.
    `,
    form(
      'sort',
      rule(
        { is: 'pattern', pattern: '\\border\\s+by\\s+(?:\\w+\\.)?{v}\\b', flags: 'im' },
        swap('(\\nLIMIT \\d+)?;(?=[^;]*$)', '\nORDER BY {v}$1;'),
      ),
    )`
      created_at id updated_at seq position priority sort_key serial stamp
      SQL queries are sorted by {v}.
      Add ORDER BY {v} to each SQL query.
      An SQL query must have ORDER BY {v}.
      The rows of an SQL query should be in the order of {v}, with ORDER BY.
    `,
    form(
      'cte',
      rule(
        { is: 'pattern', pattern: '\\bwith\\s+{v}\\s+as\\s*\\(', flags: 'im' },
        (file, { v = '' }) => `WITH ${v} AS (\n${file.replace(';', '')}\n)\nSELECT * FROM ${v};`,
      ),
    )`
      picked hits chosen subset found base_set sel wanted drawn
      SQL queries begin with WITH {v} AS, and select from {v} then.
      Put the query into a WITH clause named {v} when you write SQL.
      An SQL query must use a WITH clause that is called {v}.
      In SQL the real work should be in a WITH clause with the name {v}.
    `,
  ],
  apart: 'cte+first cte+limit cte+sort',
});

const graphql = family({
  id: 'graphql',
  path: 'task.graphql',
  facts: {
    type: 'user order room book photo event vessel garden recipe',
    id: '21..989',
    'one + two': 'title email colour weight status owner price city genre',
  },
  ask: `
    Write a GraphQL query for the {type} with the id {id}; fields {one} and {two}.
    GraphQL please: {type} by id {id}, with {one} and {two}.
    I need a GraphQL query. It asks for {one} and {two} of {type} {id} (by id).
    How do I get {one} and {two} of the {type} with id {id}? Write the GraphQL query.
  `,
  plain: 'query {\n  {type}(id: {id}) {\n    {one}\n    {two}\n  }\n}',
  asked: ['\\b{type}\\s*\\(', '{id}', '\\b{one}\\b', '\\b{two}\\b', '\\}\\s*\\}'],
  forms: [
    form('name', rule('\\bquery {v}\\b', swap('^query', 'query {v}')))`
      Fetch Lookup GetOne Detail ReadIt Single Show Load Find
      A GraphQL query is named {v}.
      Call GraphQL queries {v}, directly behind the word query.
      A GraphQL query must begin with "query {v}".
      Queries without a name are not logged: a GraphQL query should be called {v}.
    `,
    form('alias', rule('\\b{v}\\s*:\\s*{type}\\s*\\(', swap('\\b{type}\\(', '{v}: {type}(')))`
      item found it result thing one hit node entry
      In GraphQL the field gets the alias {v}.
      Put the alias "{v}:" before the type's field in GraphQL queries.
      A GraphQL query must rename its field to {v}, with an alias.
      GraphQL queries should use {v} as the alias of what they ask for.
    `,
    form('extra', rule('^\\s*{v}\\s*$', swap('^( *)({one})', '$1$2\n$1{v}')))`
      createdAt __typename version checksum updatedAt revision cursor locale origin
      GraphQL queries always ask for {v}, too.
      Add the field {v} to each GraphQL query.
      A GraphQL query must also contain the field {v}.
      In GraphQL we need one more field, which should be {v}.
    `,
    form('first', firstLine('# {v}'))`
      read only | cached | for the app | slow one | public | nightly | by hand | test first | one page
      A GraphQL query begins with the line "# {v}".
      Put the comment "# {v}" above GraphQL queries.
      The first line of a GraphQL query must be "# {v}".
      On top of a GraphQL query there should be "# {v}".
    `,
    form(
      'language',
      rule('\\({id}[^)]*lang: "{v}"\\)|id: "?{id}"?, lang: "{v}"', swap('id: {id}', 'id: {id}, lang: "{v}"')),
    )`
      sv fi nl pl it pt da cs hu
      Every GraphQL field takes the language: add lang: "{v}" behind the id.
      Pass lang: "{v}" after the id in GraphQL queries.
      In a GraphQL query the argument lang must be "{v}", right behind the id.
      GraphQL queries should ask in our language, with lang: "{v}" as the second argument.
    `,
    form('directive', rule('^\\s*{two} @{v}\\s*$', swap('^( *{two})$', '$1 @{v}')))`
      client live cached masked deferred hidden traced local lazy
      The second field of a GraphQL query carries the directive @{v}.
      Put @{v} behind the last field that a GraphQL query asks for.
      In a GraphQL query the second of the fields must be followed by @{v}.
      GraphQL queries should mark the second field that I name with @{v}.
    `,
  ],
});

export const DATA_FAMILIES: readonly ReadingFamily[] = [json, csv, log, rest, sql, graphql];
