import { byFirstWord, type Completed, type Flag, isGroup } from './table.ts'

/** Completion for bash 4 and later. All words are names from our own tables, without quotes in them. */
export const bash = (all: readonly Completed[]): string => {
  const firsts = byFirstWord(all)
  const groups = firsts.filter(([, commands]) => isGroup(commands))
  const flags = [...new Map(all.flatMap(it => it.flags).map(it => [it.flag, it])).values()]
  return `# bash completion for chainsieve: source <(chainsieve completion bash)
_chainsieve() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} name=\${COMP_WORDS[1]} flags= files=
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W "${firsts.map(([first]) => first).join(' ')} --help --version" -- "$cur"))
    return
  fi
  case $name in
${groups
  .map(
    ([first, commands]) => `    ${first})
      if (( COMP_CWORD == 2 )); then
        COMPREPLY=($(compgen -W "${commands.map(({ words }) => words[1]).join(' ')}" -- "$cur"))
        return
      fi
      name="$name \${COMP_WORDS[2]}" ;;`,
  )
  .join('\n')}
  esac
  case $prev in
${flags
  .filter(({ value }) => value)
  .map(valueCase)
  .join('\n')}
  esac
  case $name in
${all
  .map(
    ({ words, flags: own, files }) =>
      `    '${words.join(' ')}') flags='${own.map(({ flag }) => flag).join(' ')}'${files ? ' files=1' : ''} ;;`,
  )
  .join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _chainsieve chainsieve
`
}

const valueCase = ({ flag, value }: Flag): string => {
  if (value!.choices.length > 0)
    return `    ${flag}) COMPREPLY=($(compgen -W "${value!.choices.join(' ')}" -- "$cur")); return ;;`
  return value!.files
    ? `    ${flag}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;`
    : `    ${flag}) return ;;`
}
