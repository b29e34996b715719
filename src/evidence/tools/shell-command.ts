import type { Program } from '../../text/shell-programs.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
/** The subcommand: `log` in `git log`, `test` in `npm test`. */
const sub = (program: Program): string => program.args.find((arg) => !arg.startsWith('-')) ?? '';
const has = (program: Program, ...flags: string[]): boolean =>
  flags.some((flag) => program.args.includes(flag));

/** Programs whose exit code 1 means "no", not an error. */
const ASKING = words(
  'grep egrep fgrep zgrep rg ag ack pgrep pidof diff cmp test [ [[ which type command hash lsof fuser expr false colordiff',
);
const ASKING_GIT = words(
  'grep diff diff-index diff-files merge-base show-ref rev-parse check-ignore cat-file config ls-files',
);

export function isQuestion(program: Program): boolean {
  if (ASKING.has(program.name)) return true;
  if (program.name === 'git') return ASKING_GIT.has(sub(program));
  if (program.name === 'systemctl') return sub(program).startsWith('is-');
  return program.name === 'jq' && has(program, '-e', '--exit-status');
}

const READING = words(
  'cat bat less more head tail nl tac awk gawk grep egrep fgrep zgrep zcat rg ag ack find fd ls tree wc sort uniq cut tr column jq yq xxd hexdump strings file stat du df ps env printenv echo printf journalctl dmesg history man date pwd true cd sleep curl wget http diff cmp which type readlink realpath basename dirname',
);
const READING_GIT = words('log show diff blame status grep reflog shortlog describe');
/** Without a name to act on they only list. */
const LISTING_GIT = words('branch tag stash remote');
const LISTS = words('list show -l --list -v -r -a -vv --merged --show-current get-url');
const READING_SUBS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['docker', words('logs ps inspect images compose')],
  ['podman', words('logs ps inspect images')],
  ['kubectl', words('logs describe get')],
  ['gh', words('run pr issue api')],
  ['heroku', words('logs')],
  ['fly', words('logs')],
]);

/** The program shows existing content (a file, a log, a page): errors in its output are not errors of this call. */
export function isReading(program: Program): boolean {
  if (program.writes) return false;
  if (READING.has(program.name)) return true;
  if (program.name === 'sed')
    return !program.args.some((arg) => arg.startsWith('-i') || arg === '--in-place');
  if (program.name === 'git') return READING_GIT.has(sub(program)) || isListing(program);
  if (program.args.length === 1 && has(program, '--version', '-v', '-V', '--help', '-h', 'version'))
    return true;
  if (program.name === 'docker' && sub(program) === 'compose') return has(program, 'logs', 'ps');
  return READING_SUBS.get(program.name)?.has(sub(program)) ?? false;
}

function isListing(program: Program): boolean {
  if (!LISTING_GIT.has(sub(program))) return false;
  const rest = program.args.slice(program.args.indexOf(sub(program)) + 1);
  // A bare `git stash` puts changes away.
  return rest.length === 0 ? sub(program) !== 'stash' : rest.some((arg) => LISTS.has(arg));
}

const CHECKS = words(
  'vitest jest mocha ava tap playwright cypress pytest py.test tox nox unittest rspec minitest rake phpunit pest ctest tsc vue-tsc eslint biome oxlint prettier ruff flake8 mypy pyright pylint black gcc g++ clang clang++ cc c++ javac kotlinc rustc swiftc mvn mvnw gradle gradlew make cmake ninja bazel shellcheck golangci-lint staticcheck webpack vite rollup esbuild next turbo nx hadolint terraform stylelint standard xo knip nextest cabal stack sbt lein bats behave karma jasmine cucumber ng svelte-check pre-commit rubocop phpstan psalm ktlint detekt swiftlint checkstyle actionlint yamllint markdownlint ansible-lint tflint valgrind clang-tidy cppcheck dbt buf isort',
);
const CHECK_SUBS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['npm', words('test t tst run run-script')],
  ['pnpm', words('test t run lint build typecheck check tsc')],
  ['yarn', words('test run lint build typecheck check tsc')],
  ['bun', words('test run build')],
  ['deno', words('test check lint run task')],
  ['go', words('test build vet run')],
  ['cargo', words('test build check clippy run nextest bench')],
  ['dotnet', words('test build run')],
  ['swift', words('test build run')],
  ['mix', words('test compile')],
  ['flutter', words('test analyze build')],
  ['composer', words('test')],
  ['rails', words('test')],
  ['zig', words('build test run')],
  ['uv', words('run')],
]);
const INTERPRETERS = words(
  'node python python3 ruby php perl java tsx ts-node deno bun lua Rscript julia elixir scala',
);

/** A run of the project's code, tests, compilers or linters: a failure is about the code, not about the call. */
export function isCheck(program: Program): boolean {
  if (CHECKS.has(program.name) || CHECK_SUBS.get(program.name)?.has(sub(program))) return true;
  if (program.name === 'pnpm' || program.name === 'yarn')
    return !/^(add|install|i|remove|up)?$/.test(sub(program));
  return INTERPRETERS.has(program.name) || /\.(sh|py|js|mjs|rb|pl)$/.test(program.name);
}

/** A program with arbitrary output: a line that begins with "error:" need not be an error of the run. */
export const isProgram = (program: Program): boolean => INTERPRETERS.has(program.name);

/** The code is part of the call itself (`-c`, a heredoc), so its errors are the caller's. */
export function isInline(program: Program): boolean {
  if (!INTERPRETERS.has(program.name)) return false;
  return program.heredoc || has(program, '-c', '-e', '-r', '--eval', '-p', '-');
}

const ENDLESS_SUBS = words('dev start serve watch preview');
const RUNNERS = words('npm pnpm yarn bun next vite ng nuxt astro');

/** A server or a watcher: in the foreground it never ends. */
export function isEndless(program: Program): boolean {
  if (has(program, '--watch', '-w', '--watchAll') || (program.name === 'tail' && has(program, '-f', '-F')))
    return true;
  if (program.name === 'nodemon' || has(program, 'runserver', 'http.server')) return true;
  const named = program.args.filter((arg) => !arg.startsWith('-') && arg !== 'run');
  return RUNNERS.has(program.name) && ENDLESS_SUBS.has(named[0] ?? '');
}

const CHANGING = words('tee mv cp rm patch apply_patch touch truncate install dd ln');
const CHANGING_GIT = words(
  'apply checkout reset restore revert merge rebase cherry-pick am pull switch stash',
);

/** The program changes files. */
export function isChange(program: Program): boolean {
  if (program.writes || CHANGING.has(program.name)) return true;
  if (program.name === 'sed' || program.name === 'perl')
    return program.args.some((arg) => arg.startsWith('-i') || arg.startsWith('-pi'));
  return program.name === 'git' && CHANGING_GIT.has(sub(program));
}
