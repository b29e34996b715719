import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { findPackages } from './lesson-literals.ts';
import { decodeLiteralViews, decodeViews, foldText } from './normalize-text.ts';
import { describeTopic, findTopics, isForbidden } from './risky-topics.ts';

/** Something that a text asks for and that no daily work needs. */
interface RiskyAction {
  /** The reason, for people, with the passage. */
  readonly why: string;
  /** The passage as it stands in the normalized text. */
  readonly passage: string;
}

const LONGEST_SHOWN = 80;

/**
 * What a text asks for that a person should read first: code that is fetched and run at once, data that leaves the machine, protections
 * switched off, another source of packages, packages that imitate others, credentials and money that change hands.
 */
export function findRiskyActions(words: string): readonly RiskyAction[] {
  const found = new Map<string, RiskyAction>();
  const take = (why: string, passage: string): void => void found.set(why, { why, passage });
  for (const view of decodeLiteralViews(words))
    for (const sentence of splitFoldedSentences(view)) {
      for (const [what, pattern] of ACTIONS)
        for (const { 0: passage, index } of sentence.matchAll(pattern))
          if (!isForbidden(sentence, index))
            take(`it contains ${what}: ${clip(passage.trim(), LONGEST_SHOWN)}`, passage);
      for (const { text } of findPackages(sentence)) {
        const known = imitatedPackage(text);
        if (known !== undefined)
          take(`it installs a package whose name imitates ${known}: ${clip(text, LONGEST_SHOWN)}`, text);
      }
    }
  for (const view of decodeLiteralViews(words)) {
    const fetched = FETCHED_AND_RUN.exec(view)?.[0];
    if (fetched !== undefined)
      take(`it contains code that is fetched and then run: ${clip(fetched, LONGEST_SHOWN)}`, fetched);
  }
  for (const view of decodeViews(words))
    for (const topic of findTopics(view, false)) take(describeTopic(topic), topic.sentence);
  return [...found.values()];
}

/**
 * The reasons for which a lesson waits whoever said its words, unless it was the owner, since every program with a caller key can type into a
 * chat. `owners`: normalized texts of the owner, and lessons that are in use already.
 */
export function findUnapprovedActions(words: string, owners: readonly string[]): readonly string[] {
  const said = owners.flatMap((text) => [foldText(text), ...decodeViews(text)]).map(plain);
  return findRiskyActions(words)
    .filter(({ passage }) => !said.some((text) => text.includes(plain(passage))))
    .map(({ why }) => why);
}

/** Without the marks and the frame of a list or a quotation around a sentence. */
const plain = (text: string): string =>
  text
    .replace(/[`"“”«»„>*]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');

/** The file that a program fetches is the one that an interpreter then reads. */
const FETCHED_AND_RUN =
  /\b(?:curl|wget)\b[^\n]{0,200}?\s(?:-o|--output|-O|--output-document)[\s=]+["']?(\S{3,80}?)["'`]?(?=[\s`.]|$)[\s\S]{0,600}?\b(?:(?:ba|z|da)?sh|python\d?|node|perl|ruby|source|chmod \S{1,6})\s+["']?\1/i;

const REMOTE = '(?!(?:https?:\\/\\/)?(?:localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1\\]))';
const ACTIONS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'code that is fetched and run at once',
    /\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n]{0,200}?\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python\d?(?! -[mc]\b)|node|perl|ruby|iex|pwsh)\b|<\(\s*(?:curl|wget)\b[^\n]{0,100}|\$\(\s*(?:curl|wget)\b[^\n]{0,100}|\bbase64\s+(?:-d|-di|--decode)\b[^\n]{0,60}\|\s*\w+|\biex\b|-encodedcommand\s/g,
  ],
  [
    'a command that sends data out',
    new RegExp(
      `\\b(?:curl|wget|http)\\b[^\\n|]{0,120}(?:\\s(?:-d|--data\\S*|-t|--form|--upload-file|--post-file|-f(?=\\s+["']?[\\w-]{1,30}=))\\s)[^\\n|]{0,120}?\\b${REMOTE}(?:https?:\\/\\/)[^\\s]{1,200}|\\|\\s*(?:curl|nc|ncat|mail|sendmail)\\b[^\\n]{0,100}`,
      'g',
    ),
  ],
  [
    'an address that carries data away',
    /https?:\/\/[^\s"'`)]{1,200}[?&]\w{1,20}=(?:[a-z]{3,}\)?$|\{|\$|<|summary|topic)[^\s"'`)]{0,60}/g,
  ],
  [
    'a bare network address',
    /\b(?:https?|ftp):\/\/(?!(?:127|10|192\.168|0\.0\.0\.0)[.\d]*)(?:\d{1,3}\.){3}\d{1,3}\S{0,60}/g,
  ],
  [
    'a command that destroys what is outside the work',
    /\brm\s+-[a-z]*[rf][a-z]*\s+(?:--no-preserve-root\s+)?["']?(?:\/(?:\s|\*|$)|~\/?(?:\s|\*|$)|\$home\b\/?(?:\s|$)|\.\.|~\/(?:work|projects|documents|src)\b|\S*\/\.\.)|--no-preserve-root|\bmkfs|\bdd\s+if=\S+\s+of=\/dev|\bpush\b[^\n`]{0,40}\s(?:--force\b(?!-with-lease)|-f\b)[^\n`]{0,40}\b(?:main|master)\b|\bpush\b[^\n`]{0,40}\b(?:main|master)\b[^\n`]{0,20}--force\b(?!-with)/g,
  ],
  [
    'a setting that lowers a protection',
    /verify\s?=\s?false|rejectunauthorized\W{1,3}false|node_tls_reject_unauthorized\W{1,2}0|--no-verify\b|--no-gpg-sign\b|--no-check-certificate|--trusted-host\b|stricthostkeychecking\W{1,3}no|sslverify\W{1,3}false|insecureskipverify|--dangerously\S{0,30}|--skip-approval|--no-require-hashes|access-control-allow-origin['"]?\s?[:,]\s?['"]?\*|public-read|setenforce\s+0|ufw\s+disable|alg['"]?\s?:\s?['"]?none|cert_none|0\.0\.0\.0\/0\s+trust|\bhusky=0\b|passwordauthentication\s+yes|grant\s+all\s+privileges|\bchmod\s+(?:-r\s+)?[0-7]?777\b|\bumask\s+0+\b|--privileged\b|\bcurl\s+-\w*k\w*\s+https?:\/\/(?!localhost|127)\S{0,60}|allowed-tools:\s*bash\(\*\)/g,
  ],
  [
    'a change of where packages or pushes go',
    /(?:--index-url|--extra-index-url|--registry|config set registry|remote (?:add|set-url) \S{1,40})[\s=]\S{0,100}|\b(?:index-url|index_url|registry|extra-index-url)\s?=\s?["']?https?:\/\/\S{1,100}|\bgem sources? (?:--add|-a)\s\S{1,100}|\bstrict-ssl\s?=\s?false/g,
  ],
  ['a way out of a container', /\s-v\s+(?:\S{0,60}docker\.sock\b|\/:\/)\S{0,60}/g],
  ['a key that gets access', /\bssh-(?:ed25519|rsa)\s+aaaa\S{0,60}/g],
  [
    'code that is unpacked and run at once',
    /\b(?:npm pack|tar x\w*|tar -x\w*|unzip)\b[^\n]{0,200}&&\s*(?:node|python\d?|(?:ba|z)?sh|\.\/)\S{0,60}/g,
  ],
  [
    'a command that hands a credential over',
    /\b(?:npx|uvx|bunx|curl|wget)\b[^\n`]{0,120}\$\{?\w{0,30}(?:token|secret|password|key)\b|\b(?:cat|echo|tee|printenv|env)\b[^\n`]{0,60}(?:\$\{?\w{0,30}(?:token|secret|password)\b|\.env\b|secrets?\.txt|id_rsa|id_ed25519|\.aws\/credentials|\.netrc)[^\n`]{0,60}[|>]/g,
  ],
  [
    'a file with credentials of the person',
    /(?:~|\$home)\/\.(?:ssh\/id_\w+|aws\/credentials|netrc|pgpass)\b|\/etc\/shadow\b|\bid_(?:rsa|ed25519)\b(?!\.pub)|\bbrowser cookies\b/g,
  ],
];

/** Packages that many projects install, with hyphens for underscores: names close to one of these are how malicious packages are found. */
const KNOWN: ReadonlySet<string> = new Set(
  `lodash react react-dom vue svelte angular next nuxt vite webpack rollup esbuild typescript ts-node tsx eslint prettier jest vitest
  mocha chai sinon cypress playwright puppeteer express fastify koa axios undici node-fetch request moment moment-timezone dayjs
  date-fns luxon chalk commander yargs dotenv cross-env rimraf nodemon concurrently husky lint-staged zod joi ajv uuid nanoid debug
  winston pino morgan body-parser cors helmet passport jsonwebtoken bcrypt bcryptjs mongoose sequelize prisma typeorm knex redis
  ioredis graphql apollo-server socket.io tailwindcss postcss autoprefixer sass styled-components redux zustand mobx rxjs jquery
  bootstrap babel left-pad colors colorama glob minimist handlebars ejs pug sharp multer nodemailer stripe electron
  storybook turbo changeset svelte-check eslint-plugin-security eslint-plugin-import eslint-config-next eslint-config-prettier
  requests urllib3 httpx aiohttp flask django fastapi uvicorn gunicorn starlette pydantic sqlalchemy alembic celery numpy pandas
  scipy matplotlib seaborn scikit-learn torch tensorflow keras transformers pillow opencv-python beautifulsoup4 lxml selenium pytest
  pytest-cov tox mypy ruff black flake8 isort pylint poetry pipenv virtualenv boto3 botocore awscli google-cloud-storage azure-storage-blob
  psycopg2 psycopg2-binary pymysql pymongo cryptography paramiko fabric ansible jinja2 click typer rich loguru pyyaml toml
  python-dateutil pytz requests-toolbelt tqdm joblib jupyter ipython streamlit gradio openai anthropic langchain
  serde serde-json tokio anyhow thiserror clap reqwest axum actix-web tracing rand rayon chrono sqlx diesel
  rails rspec rubocop sidekiq puma devise nokogiri bundler rake sinatra laravel symfony phpunit monolog guzzle
  git node jq ripgrep curl wget docker kubectl helm terraform nginx postgresql mysql sqlite ffmpeg imagemagick pandoc make cmake gcc
  python3 python3-pip python3-venv build-essential libpq-dev ca-certificates gnupg unzip vim tmux htop`.split(
    /\s+/,
  ),
);
const LONGEST = 40;
const SHORTEST = 6;
/** Parts of names with which ecosystems extend a known tool. */
const EXTENDS =
  /^(?:plugin|preset|loader|types?|cli|check|core|client|server|sdk|react|vue|node|python|py|js|ts|test|tests|utils?|adapter|router|dom|native|query|hook|form|redux|eslint|jest|vite|next|lint)$/;

/**
 * The known package that a name imitates: it is a letter or two away from it, or wraps it into other words ("fast-lodash-es6").
 * Undefined for known packages, and for names that resemble none.
 */
function imitatedPackage(named: string): string | undefined {
  const name = named.replace(/(?<=.)@[\w.^~*-]*$/, '').replaceAll('_', '-');
  if (name.startsWith('@') || name.includes('/') || name.length > LONGEST || KNOWN.has(name))
    return undefined;
  const parts = name.split(/[-.]/);
  for (const known of KNOWN) {
    if (known.length < SHORTEST) continue;
    const most = known.length >= 8 ? 2 : 1;
    if (isNear(name, known, most) || parts.some((part) => part !== known && isNear(part, known, 1)))
      return known;
    const others = parts.filter((part) => part !== known);
    const isWrapped = others.length < parts.length && others.length > 1;
    if (isWrapped && !others.some((part) => EXTENDS.test(part))) return known;
  }
  return undefined;
}

/** Whether a name differs from another by at most `most` letters that were added, left out or exchanged. */
function isNear(a: string, b: string, most: number): boolean {
  if (a === b || Math.abs(a.length - b.length) > most) return false;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const best = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
      next.push(isSwap ? Math.min(best, (row[j - 2] ?? 0) + cost) : best);
    }
    row = next;
  }
  return (row[b.length] ?? most + 1) <= most;
}
