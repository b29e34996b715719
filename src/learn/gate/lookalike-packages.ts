/** Packages that many projects install: names close to one of these, but not the same, are how malicious packages are found. */
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
  serde serde_json tokio anyhow thiserror clap reqwest axum actix-web tracing rand rayon chrono sqlx diesel
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
export function imitatedPackage(named: string): string | undefined {
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
