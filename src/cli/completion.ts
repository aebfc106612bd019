/**
 * `lattice completion`: scripts for shells. A script calls `lattice __complete` for the candidates, so it is the same for every version of
 * the commands.
 *
 * `__complete` prints one candidate per line, followed by a tab and a description, and a last line with what the shell adds: `:files`
 * (names of files), or `:none`.
 */
import type { CliIo, ExitCode } from "./io.ts";

const BASH = `# bash completion for lattice: source it, or save it in a folder that bash-completion reads
_lattice() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" lines line
  COMPREPLY=()
  mapfile -t lines < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  for line in "\${lines[@]}"; do
    case "$line" in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur") ;;
      :none) ;;
      *) line="\${line%%$'\\t'*}"; [[ "$line" == "$cur"* ]] && COMPREPLY+=("$line") ;;
    esac
  done
}
complete -F _lattice lattice ./lattice
`;

const ZSH = `#compdef lattice
# zsh completion for lattice: save it as _lattice in a folder of fpath
_lattice() {
  local -a lines candidates
  local line files=
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    case "$line" in
      :files) files=1 ;;
      :none|'') ;;
      *) candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done
  (( \${#candidates} )) && _describe 'lattice' candidates
  [[ -n "$files" ]] && _files
}
if [ "$funcstack[1]" = "_lattice" ]; then _lattice "$@"; else compdef _lattice lattice; fi
`;

const FISH = `# fish completion for lattice: save it as lattice.fish in ~/.config/fish/completions
function __lattice_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':none'
            case '*'
                echo $line
        end
    end
end
complete -c lattice -f -a '(__lattice_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;

export function printCompletion(io: CliIo, shell: keyof typeof SCRIPTS): ExitCode {
  io.stdout(SCRIPTS[shell]);
  return 0;
}
