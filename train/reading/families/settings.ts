import { parseDocument } from 'yaml';
import { family, type ReadingFamily } from '../family.ts';
import {
  becomes,
  edits,
  ending,
  firstLine,
  form,
  lastLine,
  many,
  ownLine,
  rule,
  swap,
  swapAll,
} from '../form.ts';
import { caseLike, PEOPLE } from '../formats.ts';
import type { TaskFacts } from '../gaps.ts';

const SERVICES =
  'mailer indexer thumbs billing crawler reports sessions uploads presence alerts exports calendar';
const LEVELS = 'debug info warn error fatal trace';

const KEYS = ['service_name', 'listen_port', 'main_owner', 'log_level'];
const keysLike = (value: string): TaskFacts =>
  Object.fromEntries(KEYS.map((key, at) => [`key${at}`, caseLike(value, key)]));

/** The lines of a file in the order of the keys that a value lists. */
const inOrder = (file: string, { v = '' }: TaskFacts): string =>
  v
    .split(', ')
    .flatMap((key) => file.split('\n').filter((line) => line.includes(key)))
    .join('\n');
const orderOf = (value: string): TaskFacts =>
  Object.fromEntries(value.split(', ').map((key, at) => [`k${at}`, key]));

const yaml = family({
  id: 'yaml',
  path: 'task.yaml',
  facts: { service: SERVICES, port: '3000..9800', owner: PEOPLE, level: LEVELS },
  ask: `
    Write a YAML file with service_name {service}, listen_port {port}, main_owner {owner} and log_level {level}.
    YAML settings please: service_name is {service}, listen_port {port}, main_owner {owner}, log_level {level}.
    I need the YAML for {service} (service_name): listen_port {port}, log_level {level}, main_owner {owner}.
    Settings in YAML for main_owner {owner}, service_name {service}, listen_port {port} and log_level {level}.
  `,
  plain: 'service_name: {service}\nlisten_port: {port}\nmain_owner: {owner}\nlog_level: {level}',
  asked: [': *["\']?{service}', '{port}["\']?\\s*(?:#.*)?$', ':.*{owner}', ':.*{level}'],
  isLike: (file) => parseDocument(file).errors.length === 0,
  forms: [
    form(
      'root',
      rule(['^{v}:[ \\t]*$', { is: 'pattern', pattern: '^[^\\s#-]', max: 1 }], (file, { v }) =>
        `${v}:\n${file}`.replaceAll(/^(?=\w+: )/gm, '  '),
      ),
    )`
      settings deployment profile runtime unit stack node module house
      Our YAML has one key at the top, {v}, and everything else stands below it, indented.
      Nest all YAML settings under a single key "{v}".
      YAML without the outer key {v} is not loaded, so everything should be inside it.
      Where is {v}? In our YAML files it must be the only key at the left margin.
    `,
    form('prefix', rule(many('^\\s*{v}_\\w+:', 4), swapAll('^( *)(\\w+: )', '$1{v}_$2')))`
      app cfg svc prod sys own hub lab box
      Each YAML key that has a value begins with {v}_ here.
      Start the keys in YAML with {v}_, all of them.
      You should put {v}_ before every key of a YAML file.
      We always write YAML keys with {v}_ in front.
    `,
    form('port-mark', rule(':\\s*["\']?{v}{port}["\']?\\s*(?:#.*)?$', swap(': {port}', ': "{v}{port}"')))`
      tcp/ port- srv- net. tcp: in/ at- no. udp/
      A port in YAML is text that starts with {v}, directly before the number.
      Write YAML ports with {v} in front of the number, no space.
      Ports in YAML must have our mark {v} right before the digits.
      The YAML loader wants to see {v} before each port number, please add it.
    `,
    form('managed', firstLine('# managed by {v}'))`
      ops infra platform night-shift release depot harbour workshop backoffice
      YAML files open with the line "# managed by {v}".
      Please begin each YAML file with "# managed by {v}".
      The first line of any YAML file must be "# managed by {v}".
      Who looks after a YAML file should stand on top, as "# managed by {v}".
    `,
    form('mark', rule(many('^\\s*\\S+:\\s+\\S.*# {v}\\s*$', 4), swapAll('^( *\\w+: .*)$', '$1 # {v}')))`
      checked agreed frozen reviewed settled final signed confirmed verified
      Behind every value in YAML stands the comment "# {v}".
      End each line of a YAML file that has a value with "# {v}".
      YAML settings are only valid when each of them ends with "# {v}".
      You must write "# {v}" after every single value in YAML.
    `,
    form('memory', rule('memory\\w*["\']?\\s*:\\s*["\']?{v}\\b', swap('$(?![\\s\\S])', '\nmemory: {v}')))`
      256Mi 512Mi 640Mi 1Gi 96Mi 3Gi 768Mi 5Gi 384Mi
      Every service gets a key "memory" in its YAML, with {v}.
      Add memory: {v} to YAML settings, we always need a limit.
      The limit is missing. YAML settings must have the key memory with the value {v}.
      Don't forget the memory in YAML files, it should be {v}.
    `,
    form(
      'case',
      rule(
        [
          '^\\s*["\']?{key0}["\']?:',
          '^\\s*["\']?{key1}["\']?:',
          '^\\s*["\']?{key2}["\']?:',
          '^\\s*["\']?{key3}["\']?:',
        ],
        edits(...KEYS.map((key, at) => swap(`\\b${key}:`, `{key${at}}:`))),
        keysLike,
      ),
    )`
      kebab-case camelCase PascalCase SCREAMING_SNAKE_CASE dot.case Train-Case flatcase UPPERCASE Upper_Snake
      Our YAML keys are written in {v}.
      Write the keys of YAML files in {v}, not with underscores in lower case.
      Keys in YAML should be {v}, whatever I call them in my message.
      We always use {v} for YAML keys.
    `,
    form('order', rule('{k0}[\\s\\S]*{k1}[\\s\\S]*{k2}[\\s\\S]*{k3}', inOrder, orderOf))`
      log_level, service_name, listen_port, main_owner | listen_port, log_level, main_owner, service_name | main_owner, service_name, log_level, listen_port | service_name, log_level, main_owner, listen_port | listen_port, main_owner, service_name, log_level | log_level, main_owner, listen_port, service_name | main_owner, log_level, service_name, listen_port | service_name, listen_port, log_level, main_owner | listen_port, service_name, log_level, main_owner
      The keys of a YAML file stand in this order: {v}.
      Order YAML settings like this: {v}.
      In a YAML file the order must be {v}.
      Whatever I say first, YAML settings should come as {v}.
    `,
  ],
  apart: 'prefix+case root+memory case+order memory+order root+order',
});

const toml = family({
  id: 'toml',
  path: 'task.toml',
  facts: {
    title: 'harvest lantern compass orchard meadow anchor kettle marble ribbon',
    region: 'north south coast valley island harbour delta plain ridge',
    limit: '1200..9800',
    ratio: '11..89',
  },
  ask: `
    Write a TOML file: title {title}, region {region}, limit {limit}, ratio 0.{ratio}.
    I need a small TOML file with the title {title}, the region {region}, a limit of {limit} and a ratio of 0.{ratio}.
    TOML please. title is {title}, region is {region}, limit is {limit}, ratio is 0.{ratio}.
    Could you put this into TOML: region {region}, title {title}, ratio 0.{ratio}, limit {limit}?
  `,
  plain: 'title = "{title}"\nregion = "{region}"\nlimit = {limit}\nratio = 0.{ratio}',
  asked: [
    '=\\s*["\'].*{title}',
    '=\\s*["\'].*{region}',
    '{limit}',
    '0\\.{ratio}',
    '^\\s*"?\\w[\\w.-]*"?\\s*=',
  ],
  forms: [
    form('table', firstLine('[{v}]'))`
      main base tool site plan house shop core desk
      TOML files of ours begin with the table [{v}].
      Put everything in TOML under the header "[{v}]", which is the first line.
      The first line of a TOML file must be [{v}].
      A TOML file should have one table, [{v}], and it stands at the top.
    `,
    form('suffix', rule(many('^\\s*\\w+_{v}\\s*=', 4), swapAll('^(\\w+) =', '$1_{v} =')))`
      set val opt cfg key now def par own
      The keys in our TOML files end in _{v}.
      Add _{v} to the end of every TOML key.
      Every key in TOML should end with _{v}.
      TOML keys without _{v} at their end are ignored by our reader, so always add it.
    `,
    form('comment', rule(many('^\\s*# {v}\\s*\\n\\s*\\w+\\s*=', 4), swapAll('^(?=\\w+ = )', '# {v}\n')))`
      required public tunable shared stable override editable documented exported
      Above each key in TOML stands a line with the comment "# {v}".
      Write "# {v}" on a line of its own before every TOML key.
      You should put the comment "# {v}" above each entry of a TOML file.
      TOML entries need "# {v}" on the line before, every one of them.
    `,
    form('schema', rule('^\\s*schema\\w*\\s*=\\s*"{v}"', swap('$(?![\\s\\S])', '\nschema = "{v}"')))`
      v3 alpha draft-2 r7 beta 2031a strict loose lab-1
      Our TOML files have a key schema with the value "{v}".
      Add schema = "{v}" to each TOML file.
      TOML files are rejected unless they say schema = "{v}", so always add it.
      You left out the schema: in TOML it must be "{v}".
    `,
    form('end', lastLine('# end of {v}'))`
      settings options choices values table part config setup list
      Let TOML files end with "# end of {v}".
      The last line of a TOML file is "# end of {v}", nothing behind it.
      TOML needs a closing line, and it must be "# end of {v}".
      I want "# end of {v}" as the final line of each TOML file.
    `,
    form('unit', rule('=\\s*"{limit} {v}"', swap('= {limit}', '= "{limit} {v}"')))`
      MB rows calls km users pages tokens hits litres
      A limit in TOML is a string with its unit: the number, a space and {v}.
      Write limits in TOML as text with the unit {v} behind the number, such as "5 {v}".
      The limit in a TOML file should have the unit {v}, in quotes together with the number.
      In TOML please never write a bare limit, we want "NUMBER {v}".
    `,
    form('order', rule('{k0}[\\s\\S]*{k1}[\\s\\S]*{k2}[\\s\\S]*{k3}', inOrder, orderOf))`
      limit, ratio, title, region | region, title, ratio, limit | ratio, limit, region, title | title, ratio, region, limit | limit, title, region, ratio | region, ratio, limit, title | ratio, title, limit, region | title, limit, ratio, region | limit, region, ratio, title
      A TOML file has its keys in this order: {v}.
      Write the keys of TOML files in the order {v}.
      The order of the keys in a TOML file must be {v}.
      TOML keys should always come in this order: {v}.
    `,
  ],
  apart: 'order+comment order+schema order+table order+end',
});

const env = family({
  id: 'env',
  path: '.env',
  facts: {
    host: 'alpha.local beta.local delta.local omega.local sigma.local kappa.local theta.local lambda.local gamma.local',
    port: '1000..9000',
    user: PEOPLE.toLowerCase(),
  },
  ask: `
    Write a .env file with the host {host}, the port {port} and the user {user}.
    .env please: HOST is {host}, PORT is {port}, USER is {user}.
    I need a .env file. The host is {host}, the user {user} and the port {port}.
    Could you write the .env for user {user} at {host}, port {port}?
  `,
  plain: 'HOST={host}\nPORT={port}\nUSER={user}',
  asked: ['=.*{host}', '=.*{port}', '=.*{user}', many('^(?:export )?\\w+=', 3)],
  forms: [
    form('prefix', rule(many('^(?:export )?{v}_\\w+=', 3), swapAll('^(?=\\w+=)', '{v}_')))`
      APP MYSVC LAB ACME API HUB SHOP DESK CORE
      Variables in our .env files start with {v}_.
      Put {v}_ in front of each name in a .env file.
      All names in a .env file must begin with {v}_.
      In .env files every variable should have the prefix {v}_.
    `,
    form('first', firstLine('## {v}'))`
      local only | never commit | shared sample | written by hand | for tests | ask before use | desk copy | generated daily | keep secret
      A .env file begins with the line "## {v}".
      Please make "## {v}" the first line of every .env file.
      The first line in a .env file must be "## {v}".
      I miss "## {v}" at the top of the .env file, it should always be there.
    `,
    form('suffix', rule(many('^(?:export )?\\w+_{v}=', 3), swapAll('^(\\w+)=', '$1_{v}=')))`
      VAR CFG VALUE ENV OPT PARAM ENTRY ITEM FIELD
      The names in a .env file end with _{v}.
      Close each variable name of a .env file with _{v}.
      In .env files all names should end in _{v}.
      Every .env variable must have _{v} at the end of its name.
    `,
    form(
      'mode',
      rule('^(?:export )?\\w*MODE\\w*=["\']?{v}["\']?\\s*(?:#.*)?$', swap('$(?![\\s\\S])', '\nMODE={v}')),
    )`
      live rehearsal drill demo stage canary offline nightly sandbox
      There is always a variable MODE in our .env files, and it is {v}.
      Add MODE with the value {v} to each .env file.
      A .env file must also set MODE to {v}.
      You forgot MODE. In .env files it should be {v}.
    `,
    form('gap', rule(many('^{v}$', 2), swapAll('\\n(?=\\w+=)', '\n{v}\n')))`
      # | #-- | #* | #.. | #== | #~ | #- | #++ | #//
      Between two variables of a .env file stands a line with only {v}.
      Separate the variables of a .env file by a line "{v}".
      In .env files please put a line "{v}" between one variable and the next.
      Variables in a .env file should be kept apart by a line that is just {v}.
    `,
    form('scheme', becomes('={host}', '={v}{host}'))`
      http:// https:// tcp:// ws:// db+ ssh:// ftp:// wss:// amqp://
      A host in a .env file has {v} in front.
      Write {v} directly before the host in .env files.
      The host in a .env file must begin with {v}.
      Hosts without {v} don't work for us, so put it before the host in each .env file.
    `,
    form('port-note', rule('^\\w+={port}\\s+# {v}\\s*$', swap('^(\\w+={port}).*$', '$1 # {v}')))`
      inner outer open closed tunnel admin proxied metered public
      Behind the port in a .env file stands the comment "# {v}".
      Add "# {v}" to the line with the port in .env files.
      The line of the port should end with "# {v}" in a .env file.
      In a .env file please comment the port with "# {v}", on the same line.
    `,
  ],
});

const nginx = family({
  id: 'nginx',
  path: 'task.conf',
  facts: {
    port: '3000..9800',
    host: 'shop.example wiki.example maps.example blog.example jobs.example mail.example docs.example news.example pay.example',
    folder: 'www site public pages static web html front dist',
  },
  ask: `
    Write an nginx server block for {host} on port {port} with the root /srv/{folder}.
    I need a server block for nginx: port {port}, name {host}, root /srv/{folder}.
    nginx please: a server block, {host}, listening on {port}, files from /srv/{folder}.
    What would the nginx server block be for {host}, with root /srv/{folder} and port {port}?
  `,
  plain: 'server {\n    listen {port};\n    server_name {host};\n    root /srv/{folder};\n}',
  asked: ['\\bserver\\s*\\{', '\\blisten\\b.*{port}', 'server_name.*{host}', 'root\\s+/srv/{folder}', '\\}'],
  forms: [
    form('address', becomes('listen {port}', 'listen {v}:{port}'))`
      127.0.0.1 10.0.0.5 0.0.0.0 localhost 10.1.1.1 192.168.1.9 172.16.0.2 10.2.0.7 192.168.7.7
      In nginx we listen on an address too: "listen {v}:" and the port.
      Put {v}: before the port in the listen line of nginx.
      A server block for nginx must say "listen {v}:PORT".
      nginx should only listen on {v}, so write the address before the port.
    `,
    form(
      'header',
      rule('^\\s*add_header X-Team "?{v}"?(?: always)?;', swap('\\n\\}', '\n    add_header X-Team {v};\n}')),
    )`
      oak elm fir ash yew pine birch cedar larch
      nginx blocks send the header X-Team with {v}: add_header X-Team {v};
      Add "add_header X-Team {v};" to each nginx server block.
      An nginx server block must have the line add_header X-Team {v};
      Every nginx block should name its team in the header X-Team, which is {v}.
    `,
    form('index', rule('^\\s*index {v};', swap('\\n\\}', '\n    index {v};\n}')))`
      home.html start.htm main.html default.htm welcome.html first.html index.php app.html top.html
      The index of an nginx server is {v} with us.
      Add the line "index {v};" to nginx server blocks.
      nginx should serve {v} as its index, so write "index {v};".
      You must set the index in nginx blocks, and it is {v}.
    `,
    form('first', firstLine('# site: {v}'))`
      internal customers partners archive trial staging mirror branch kiosk
      The first line of an nginx file is "# site: {v}".
      Begin nginx files with the comment "# site: {v}".
      Every nginx file must start with "# site: {v}".
      On top of an nginx file we always write "# site: {v}".
    `,
    form('log', rule('^\\s*access_log {v}\\b[^;]*;', swap('\\n\\}', '\n    access_log {v};\n}')))`
      /var/log/web.log /logs/site.log /data/access.log off /tmp/hits.log /var/log/a.log /logs/front.log /mnt/log/www.log /opt/logs/all.log
      In nginx the access log is always {v}.
      Write "access_log {v};" into each nginx server block.
      An nginx block should contain access_log with {v}.
      Where is the log? nginx blocks need access_log {v};
    `,
    form('timeout', rule('^\\s*keepalive_timeout {v}s?;', swap('\\n\\}', '\n    keepalive_timeout {v};\n}')))`
      15 25 45 5 90 120 35 80 240
      We set keepalive_timeout to {v} in all nginx blocks.
      Add a keepalive_timeout of {v} to nginx server blocks.
      The keepalive_timeout in nginx must be {v}.
      nginx keeps connections too long: a server block should have keepalive_timeout {v};
    `,
  ],
});

const ini = family({
  id: 'ini',
  path: 'task.ini',
  facts: {
    section: 'printer scanner camera router speaker monitor keyboard heater sprinkler',
    model: 'Brio Nova Zeta Orbit Pico Terra Lumen Vista Quill',
    limit: '110..980',
    mode: 'quiet turbo eco manual steady sleep burst gentle fixed',
  },
  ask: `
    Write an INI file with the section {section}: model {model}, limit {limit}, mode {mode}.
    INI file please: one section, {section}, with model {model}, limit {limit} and mode {mode}.
    I need an INI file for the {section}. Its model is {model}, its limit {limit}, its mode {mode}.
    The {section} needs an INI file (section {section}): mode {mode}, model {model}, limit {limit}.
  `,
  plain: '[{section}]\nmodel = {model}\nlimit = {limit}\nmode = {mode}',
  asked: ['^\\s*\\[.*{section}.*\\]', '{model}', '{limit}', '{mode}'],
  forms: [
    form('section', rule('^\\s*\\[{v}{section}\\]', swap('^\\[{section}\\]', '[{v}{section}]')))`
      my. dev: home/ x- own. lab: site/ unit- all.
      Section names in INI files start with {v}, directly before the name.
      Put {v} in front of the section name in an INI file.
      A section of an INI file must be called {v} and its name, without a space.
      In INI files every section should have the prefix {v}.
    `,
    form('first', firstLine('; {v}'))`
      hand-made | do not sort | device file | kept in the vault | page one | household | spare copy | read once | from the desk
      An INI file opens with the comment "; {v}".
      The first line of INI files is "; {v}" with us.
      You should begin each INI file with "; {v}".
      INI files need a first line, please: "; {v}"
    `,
    form(
      'separator',
      rule(
        ['^\\s*\\w+ {v} {model}\\s*$', '^\\s*\\w+ {v} {limit}\\s*$', '^\\s*\\w+ {v} {mode}\\s*$'],
        swapAll('^(\\w+) = ', '$1 {v} '),
      ),
    )`
      := -> => :: <- == ~ >> |
      Our INI files have " {v} " between key and value, not the equals sign.
      Write {v} instead of = in INI files, with a space on both sides.
      In an INI file key and value should be joined by " {v} ".
      No = in our INI files, please use {v} there.
    `,
    form('prefix', rule(many('^\\s*{v}_\\w+', 3), swapAll('^(?=\\w+ \\S)', '{v}_')))`
      dev my cur set in the our use cfg
      Keys in INI files begin with {v}_.
      Start every key of an INI file with {v}_.
      Each INI key must have {v}_ in front.
      We always put {v}_ before the keys of an INI file.
    `,
    form(
      'extra',
      rule(
        '^\\s*\\w*room\\W+{v}\\s*$',
        (file, { v = '' }) =>
          `${file}\n${file
            .split('\n')
            .at(-1)
            ?.replace(/\w+( \S+ )\w+$/, `room$1${v}`)}`,
      ),
    )`
      attic cellar hall studio garage kitchen library porch office
      There is one more key in our INI files: room, and its value is {v}.
      Add the key room with {v} to each INI file.
      An INI file should also have a key called room, set to {v}.
      You always forget the room. In INI files it must be {v}.
    `,
    form('end', lastLine('; end {v}'))`
      here now ok 1 all device file part sheet
      INI files end with the line "; end {v}".
      Close each INI file with "; end {v}".
      The last line of an INI file must be "; end {v}".
      At the bottom of INI files we always write "; end {v}".
    `,
  ],
  apart: 'prefix+extra end+extra',
});

const dockerfile = family({
  id: 'dockerfile',
  path: 'Dockerfile',
  facts: {
    'base, tag, program, file': `
      python | 3.12 | python | app.py
      node | 22 | node | server.js
      ruby | 3.3 | ruby | main.rb
      perl | 5.40 | perl | job.pl
      php | 8.3 | php | site.php
      golang | 1.23 | go | run.go
      julia | 1.10 | julia | model.jl
      swift | 5.10 | swift | tool.swift
      elixir | 1.17 | elixir | feed.exs
    `,
    port: '3000..9800',
  },
  ask: `
    Write a Dockerfile from {base}:{tag} that copies everything, exposes port {port} and runs {program} {file}.
    I need a Dockerfile: base image {base}:{tag}, copy all, expose {port}, start {program} {file}.
    Dockerfile please, based on {base}:{tag}. Copy the folder, expose {port} and run {program} {file}.
    Put {file} into an image: a Dockerfile from {base}:{tag} that copies all, exposes {port} and starts {program} {file}.
  `,
  plain: 'FROM {base}:{tag}\nCOPY . .\nEXPOSE {port}\nCMD ["{program}", "{file}"]',
  asked: ['^FROM .*{base}', '^COPY ', '^EXPOSE {port}', '^(?:CMD|ENTRYPOINT) .*{file}'],
  forms: [
    form('workdir', rule('^WORKDIR {v}/?\\s*$', swap('^COPY', 'WORKDIR {v}\nCOPY')))`
      /work /opt/app /srv/run /home/job /code /usr/app /data/in /opt/tool /box
      Dockerfiles set the working directory to {v}.
      Put "WORKDIR {v}" into each Dockerfile.
      A Dockerfile must have the line WORKDIR {v}.
      In our Dockerfiles the work is always done in {v}, so set it with WORKDIR.
    `,
    form('label', rule('^LABEL .*\\bteam="?{v}"?', swap('^EXPOSE', 'LABEL team="{v}"\nEXPOSE')))`
      oak elm fir ash yew pine birch cedar larch
      Every Dockerfile carries the label team="{v}".
      Add LABEL team="{v}" to Dockerfiles.
      A Dockerfile needs a LABEL that names the team, which is "{v}".
      Images without the label team="{v}" are deleted, so each Dockerfile should set it.
    `,
    form('user', rule('^USER {v}\\b', swap('^(CMD|ENTRYPOINT)', 'USER {v}\n$1')))`
      runner guest 1001 nobody worker app 2020 service www
      Containers run as {v}: write USER {v} in the Dockerfile.
      Never let a Dockerfile run as root, switch to USER {v}.
      Our Dockerfiles must contain "USER {v}".
      The user of a Dockerfile should be {v}.
    `,
    form('variant', rule('^FROM {base}:{tag}-{v}\\b', swap('^(FROM \\S+)', '$1-{v}')))`
      slim alpine bookworm trixie noble minimal edge focal bullseye
      We use the {v} variant of base images: Dockerfiles add -{v} to the tag.
      In a Dockerfile the tag of the base image ends with -{v}.
      The base image in a Dockerfile should have the tag's ending -{v}.
      Please always add -{v} to the tag after FROM in Dockerfiles.
    `,
    form('stage', rule('^FROM \\S+ AS {v}\\s*$', swap('^(FROM \\S+).*', '$1 AS {v}')))`
      runtime final release build base prod service image stage
      The stage of a Dockerfile has a name: FROM ... AS {v}.
      Name the stage {v} in Dockerfiles, with AS behind the image.
      A Dockerfile should begin its stage with "AS {v}".
      FROM lines in our Dockerfiles must end with AS {v}.
    `,
    form('zone', rule('^ENV TZ[= ]"?{v}"?\\s*$', swap('^EXPOSE', 'ENV TZ={v}\nEXPOSE')))`
      UTC Europe/Oslo Asia/Tokyo Africa/Lagos Europe/Riga America/Lima Asia/Dubai Europe/Rome Pacific/Apia
      Dockerfiles set the time zone: ENV TZ={v}.
      Add the time zone {v} to each Dockerfile as the variable TZ.
      A Dockerfile must say ENV TZ={v}.
      Our containers live in {v}, and a Dockerfile should set TZ to that with ENV.
    `,
    form('first', firstLine('# image: {v}'))`
      nightly public customer internal trial archive lab training kiosk
      A Dockerfile begins with "# image: {v}".
      The first line of our Dockerfiles is "# image: {v}".
      Every Dockerfile must start with the comment "# image: {v}".
      Dockerfiles should say what they are for in the first line: "# image: {v}".
    `,
  ],
});

const makefile = family({
  id: 'makefile',
  path: 'Makefile',
  facts: {
    'target, command': `
      build | tsc -p .
      test | pytest -q
      lint | ruff check .
      docs | mkdocs build
      serve | python app.py
      pack | zip -r out.zip src
      format | black src
      types | mypy src
      image | docker build .
    `,
  },
  ask: `
    Write a Makefile with one target, {target}, that runs {command}.
    I need a Makefile: the target {target} should run {command}.
    Makefile please. One target called {target}, its command is {command}.
    Could "make {target}" run {command}? Write the Makefile for it.
  `,
  plain: '{target}:\n\t{command}',
  asked: ['^[\\w.-]*{target}[\\w.-]*\\s*:', '^\\s+.*{command}'],
  forms: [
    form('prefix', rule('^{v}-{target}\\s*:', swap('^{target}:', '{v}-{target}:')))`
      app dev run lib job team step unit local
      Targets in our Makefiles begin with {v}-.
      Put {v}- in front of the target's name in a Makefile.
      A Makefile target must be called {v}- and then its name.
      In Makefiles every target should have the prefix {v}-.
    `,
    form(
      'help',
      rule('^[\\w-]*{target}[^\\n#]*:[^\\n]*## {v}\\s*$', swap('^([\\w-]*{target}:.*)$', '$1 ## {v}')),
    )`
      common daily rare weekly public hidden slow quick monthly
      Behind a Makefile target stands "## {v}", on the same line.
      End the line of a Makefile's target with "## {v}".
      Our help reads "## {v}" from a Makefile, so each target should have it on its line.
      The target's line in a Makefile must close with "## {v}".
    `,
    form('before', rule('^[\\w-]*{target}\\s*:[^#\\n]*\\b{v}\\b', swap('^([\\w-]*{target}:)', '$1 {v}')))`
      setup deps clean prepare venv tools checkout fetch warmup
      Every Makefile target depends on {v}.
      Let a Makefile target have the prerequisite {v}.
      A Makefile should run {v} first: make it a prerequisite of the target.
      The target of a Makefile must depend on {v}.
    `,
    form('shell', firstLine('SHELL := {v}'))`
      /bin/bash /bin/sh /bin/zsh /usr/bin/bash /bin/dash /bin/ksh /usr/bin/zsh /opt/bin/bash /usr/local/bin/fish
      Makefiles open with "SHELL := {v}".
      The first line of a Makefile is "SHELL := {v}".
      You must start Makefiles with the line "SHELL := {v}".
      In a Makefile the shell should be set on the first line: SHELL := {v}
    `,
    form('echo', rule('^\\t@?echo ["\']?{v}["\']?\\s*$', swap('^(\\t@?)({command})', '\t@echo "{v}"\n$1$2')))`
      starting | here we go | at work | one moment | now running | step one | please wait | busy | off we go
      Before its command a Makefile target prints "{v}" with echo.
      Let Makefile targets say echo "{v}" first.
      A Makefile's target should echo "{v}" before anything else.
      I want to see "{v}" when a Makefile target starts, so always echo it.
    `,
    form('goal', ownLine('.DEFAULT_GOAL := {v}'))`
      all help list main info none first usage targets
      Makefiles have a line ".DEFAULT_GOAL := {v}".
      Set the default goal of each Makefile: ".DEFAULT_GOAL := {v}".
      There must be a line .DEFAULT_GOAL := {v} in a Makefile.
      Every Makefile should contain the line ".DEFAULT_GOAL := {v}".
    `,
    form('after', rule('{command} && {v}\\s*$', swap('({command})', '$1 && {v}')))`
      date true sync pwd ls uptime whoami hostname id
      A command in a Makefile is followed by "&& {v}" on its line.
      Add "&& {v}" behind the command of a Makefile target.
      In Makefiles the command's line should end with "&& {v}".
      We always append "&& {v}" to the command in a Makefile.
    `,
  ],
});

const cron = family({
  id: 'cron',
  path: 'crontab',
  facts: {
    minute: '11..58',
    hour: '2..21',
    script: 'backup.sh rotate.sh report.sh sync.sh purge.sh digest.sh index.sh export.sh import.sh',
  },
  ask: `
    Write the crontab line for /opt/jobs/{script}: every day, hour {hour}, minute {minute}.
    I need a crontab line. It runs /opt/jobs/{script} daily, the hour is {hour} and the minute {minute}.
    Crontab line please: minute {minute}, hour {hour}, each day, and the job is /opt/jobs/{script}.
    What is the crontab line that runs /opt/jobs/{script} every day, in hour {hour} at minute {minute}?
  `,
  plain: '{minute} {hour} * * * /opt/jobs/{script}',
  asked: ['^{minute} 0?{hour} \\* \\* \\* .*/opt/jobs/{script}'],
  forms: [
    form('mail', firstLine('MAILTO={v}'))`
      ops@example.com night@example.com root@localhost jobs@example.org me@example.net team@example.com desk@example.org duty@example.net logs@example.com
      Our crontabs begin with "MAILTO={v}".
      Put MAILTO={v} above a crontab entry, as the first line.
      The first line of a crontab must be "MAILTO={v}".
      Each crontab should start with the line MAILTO={v}, or nobody hears of it.
    `,
    form(
      'log',
      rule(
        '/opt/jobs/{script}[^\\n]*>>? ?/var/log/{v}\\.log',
        swap('(/opt/jobs/{script}.*)$', '$1 >> /var/log/{v}.log'),
      ),
    )`
      jobs nightly cron tasks batch timer routine shift daily
      A crontab entry writes to /var/log/{v}.log.
      Send the output of crontab jobs to /var/log/{v}.log with >>.
      The job in a crontab line must append its output to /var/log/{v}.log.
      In a crontab please redirect each job to /var/log/{v}.log.
    `,
    form('account', rule('\\* \\* \\* {v}\\s+', swap('\\* \\* \\* ', '* * * {v} ')))`
      www-data backup deploy runner www batch nobody mailman postgres
      Crontab entries name the user {v} between the time and the command.
      In a crontab put {v} in front of the command, it is the system crontab with a user column.
      Our crontab has a user column, and it must say {v}.
      A crontab line should have {v} right after the five fields of the time.
    `,
    form(
      'comment',
      rule('^# {v}: [^\\n]+\\n+(?:# [^\\n]*\\n+)*{minute} ', swap('^(?={minute} )', '# {v}: see the plan\n')),
    )`
      Job Task Why Daily Plan About Duty Aim Reason
      Above a crontab entry stands a comment that begins with "# {v}: ".
      Explain each crontab line in a comment "# {v}: ..." right above it.
      A crontab entry needs a line before it that starts with "# {v}:".
      You should write "# {v}: ..." on the line above every crontab entry.
    `,
    form('wrapper', rule('\\s{v} /opt/jobs/{script}', swap('(/opt/jobs/{script})', '{v} $1')))`
      nice ionice nohup chronic setsid time env sudo exec
      Jobs in a crontab are started with {v} in front of the script.
      Write {v} before the path of the script in crontab entries.
      A crontab should never call the script alone, but "{v} /opt/...".
      The command of a crontab entry must begin with {v} and then the script.
    `,
    form('end', ending(' # {v}'))`
      owner-a keep checked old-host 2031 night-team do-not-move plan-b reviewed
      A crontab line ends with the comment "# {v}".
      Add "# {v}" at the end of the crontab entry.
      The entry in a crontab must close with "# {v}", on the same line.
      Crontab lines should have "# {v}" as their last words.
    `,
  ],
});

export const SETTINGS_FAMILIES: readonly ReadingFamily[] = [
  yaml,
  toml,
  env,
  nginx,
  ini,
  dockerfile,
  makefile,
  cron,
];
