import { foldedWords } from './normalize-text.ts';

/** A command line that a lesson names. */
export interface NamedCommand {
  readonly text: string;
  /** It is a usual command of development that changes nothing outside its folder. */
  readonly isOrdinary: boolean;
}

const CODE = /`([^`\n]{2,300})`/g;
const FENCE = /^\s{0,3}(?:```|~~~)\s*(\w*)/;
const SHELL_FENCE = /^(?:|sh|bash|zsh|shell|console|terminal|powershell|cmd)$/;
const ASKED_TO_RUN =
  /\b(?:run|execute|invoke|launch|start|call|type|enter|issue)(?:ning|ing|s)?\s*(?:the )?(?:command |script )?:?\s*$/;
const ASSIGNMENT = /^[a-z_]\w*=/;
const PREFIXES: ReadonlySet<string> = new Set([
  'sudo',
  'time',
  'env',
  'exec',
  'nice',
  'command',
  'timeout',
  'npx',
  'bunx',
  'uvx',
]);

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
/** Programs that read, build, check or test. */
const ORDINARY = set(
  `ls cat head tail less grep rg ag fd wc sort uniq diff comm cut tr awk sed jq yq echo printf test true false pwd cd mkdir cp mv
  touch which type file stat du df tree xxd od date env export set basename dirname realpath sleep seq tee
  pytest tox mypy ruff black isort flake8 pylint tsc tsx eslint prettier biome vitest jest mocha vite webpack rollup esbuild playwright
  cypress nx turbo next knip make cmake ninja ctest meson bazel cargo rustc rustfmt clippy go gofmt gcc g++ clang javac java mvn
  gradle gradlew dotnet php ruby rake rspec bundle rails mix elixir flutter dart swift stack cabal ghc zig sbt lein alembic
  python python3 node deno perl psql sqlite3 mysql redis-cli tar gzip gunzip zip unzip shellcheck hadolint terraform helm kubectl docker
  docker-compose podman git npm pnpm yarn bun pip pip3 uv poetry pipenv composer gem prisma django-admin protoc`,
);
/** Subcommands that fetch, publish, install, or change what others have. */
const REACHING = set(
  `install add i get publish push login logout adduser config remote clone deploy apply destroy delete exec upload release global link
  unlink remove uninstall rm prune reset clean rebase filter-branch filter-repo dlx create init upgrade update import rollout scale drain
  cp attach run submodule fetch-pack send-email replace patch edit annotate label taint proxy port-forward`,
);
/** Programs whose first word decides what they do. */
const WITH_SUBCOMMANDS = set(
  'git npm pnpm yarn bun pip pip3 uv poetry pipenv composer gem cargo go docker podman docker-compose kubectl helm terraform dotnet bundle mix dart flutter prisma deno',
);
/** `npm run build` runs a script of the project; `docker run` runs anything. */
const SCRIPT_RUNNERS = set('npm pnpm yarn bun cargo go poetry pipenv uv dotnet dart flutter mix deno');
const INTERPRETERS = set('python python3 node deno perl ruby php java bash sh');
const REACHING_FLAGS =
  /(?:^|\s)(?:--force|--global|-g|--privileged|--no-verify|--unsafe\S*|--trust\S*|--allow\S*|--disable\S*|--skip\S*|--no-\S*check\S*|--insecure|--yes|-y|--upload-file|--post-file)(?=\s|=|$)|[>]|\$\(|:\/\/|\w@\w+\.\w|(?:^|[\s=])(?:~\/|\/(?!dev\/null)\w)/;
const INLINE = /(?:^|\s)(?:-c|-e|--eval|-r)\s/;

/** Whether a command reads, builds, checks or tests, and nothing else, as far as its words tell. */
function isOrdinaryCommand(program: string, args: readonly string[]): boolean {
  if (!ORDINARY.has(program)) return false;
  const said = args.join(' ');
  if (REACHING_FLAGS.test(said) || (INTERPRETERS.has(program) && INLINE.test(` ${said} `))) return false;
  if (!WITH_SUBCOMMANDS.has(program)) return true;
  const [subcommand = '', ...names] = args.filter((arg) => !arg.startsWith('-'));
  // Without a name, what the project declares is installed.
  if (subcommand === 'install' || subcommand === 'i') return names.length === 0;
  if (subcommand === 'run') return SCRIPT_RUNNERS.has(program);
  return !REACHING.has(subcommand);
}

/** The commands of a normalized lesson: code and shell blocks that begin with a program, and code that it tells to run. */
export function findNamedCommands(folded: string): readonly NamedCommand[] {
  const found = new Map<string, NamedCommand>();
  const take = (code: string, isToBeRun: boolean): void => {
    for (const part of code.split(/\s*(?:&&|\|\||;|(?<!\|)\|(?!\|))\s*/)) {
      const text = part.replace(/^\$\s+/, '').trim();
      const words = text.split(/\s+/).filter((word) => !ASSIGNMENT.test(word));
      const at = words.findIndex((word) => !PREFIXES.has(word));
      const program = (words[at] ?? '').replace(/^\.?venv\/bin\//, '');
      const isPath =
        /^(?:\.{0,2}\/|~\/)?[\w@.-]+(?:\/[\w@.-]+)+$/.test(program) ||
        /\.(?:sh|bash|ps1|bat|cmd)$/.test(program);
      const isKnown = ORDINARY.has(program);
      const isNamed = isToBeRun && /^[a-z][\w.-]*$/.test(program);
      if (!isKnown && !isNamed && !(isPath && (isToBeRun || words.length > 1))) continue;
      // A program's name alone is no command.
      if (words.length < 2 && !isToBeRun) continue;
      found.set(text, { text, isOrdinary: isOrdinaryCommand(program, words.slice(at + 1)) });
    }
  };
  let fence: string | undefined;
  for (const line of folded.split('\n')) {
    const mark = FENCE.exec(line);
    if (mark !== null) {
      fence = fence === undefined ? (mark[1] ?? '') : undefined;
      continue;
    }
    if (fence !== undefined) {
      if (SHELL_FENCE.test(fence)) take(line, false);
      continue;
    }
    for (const match of line.matchAll(CODE))
      take(match[1] ?? '', ASKED_TO_RUN.test(line.slice(0, match.index)));
  }
  return [...found.values()].filter(({ text }) => foldedWords(text).length > 0);
}
