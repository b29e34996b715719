import { Argument } from 'commander';
import { FILES_LINE } from './complete.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, type Positional } from './context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export const declareCompletion: DeclareCommand = (command, act) =>
  void command
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  $ echo 'source <(instar completion bash)' >> ~/.bashrc
  $ echo 'source <(instar completion zsh)' >> ~/.zshrc
  $ instar completion fish > ~/.config/fish/completions/instar.fish
`,
    )
    .action(act(printScript));

async function printScript({ args }: Positional, { printer }: CommandContext): Promise<ExitCode> {
  const shell = args[0] as Shell;
  const script = SCRIPTS[shell];
  printer.document({ shell, script });
  printer.text(script);
  return EXIT.ok;
}

/** Each asks `instar complete`, so that a script stays right when Instar is updated. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of instar for bash: source <(instar completion bash)
_instar() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = '${FILES_LINE}' ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${current#=}")
      return
    fi
    line="\${line%%$'\\t'*}"
    # Bash treats the part behind "=" as a word of its own.
    case "$line" in --*=*) line="\${line#*=}" ;; esac
    COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _instar instar
`,
  zsh: `#compdef instar
# Completion of instar for zsh: source <(instar completion zsh)
_instar() {
  local line value
  local -a candidates
  while IFS= read -r line; do
    if [[ "$line" == '${FILES_LINE}' ]]; then
      _files
      return
    fi
    value="\${line%%$'\\t'*}"
    candidates+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe 'instar' candidates
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _instar instar
`,
  fish: `# Completion of instar for fish: instar completion fish > ~/.config/fish/completions/instar.fish
function __instar_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$found[1]" = '${FILES_LINE}'
        __fish_complete_path "$current"
    else
        printf '%s\\n' $found
    end
end
complete -c instar -f -a '(__instar_complete)'
`,
};
