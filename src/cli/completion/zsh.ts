import { byFirstWord, type Completed, type Flag, isGroup, summaryOf } from './table.ts'

/** Completion for zsh. */
export const zsh = (all: readonly Completed[]): string => {
  const firsts = byFirstWord(all)
  return `#compdef chainsieve
# zsh completion for chainsieve: chainsieve completion zsh > "\${fpath[1]}/_chainsieve"
_chainsieve() {
  local -a names
  if (( CURRENT == 2 )); then
    names=(
${firsts.map(([first, commands]) => `      ${described(first, summaryOf(commands))}`).join('\n')}
    )
    _describe command names
    return
  fi
  local name=$words[2]
  case $name in
${firsts
  .filter(([, commands]) => isGroup(commands))
  .map(
    ([first, commands]) => `    ${first})
      if (( CURRENT == 3 )); then
        names=(
${commands.map(({ words, summary }) => `          ${described(words[1]!, summary)}`).join('\n')}
        )
        _describe command names
        return
      fi
      name="$name $words[3]"
      shift words
      (( CURRENT-- )) ;;`,
  )
  .join('\n')}
  esac
  shift words
  (( CURRENT-- ))
  case $name in
${all
  .map(
    ({ words, flags, files }) => `    '${words.join(' ')}')
      _arguments \\
${[...flags.map(flagSpec), ...(files ? [quoted('*:file:_files')] : [])].map(spec => `        ${spec}`).join(' \\\n')} ;;`,
  )
  .join('\n')}
  esac
}
if [[ $funcstack[1] == _chainsieve ]]; then _chainsieve "$@"; else compdef _chainsieve chainsieve; fi
`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A colon ends the name. */
const described = (name: string, summary: string): string => quoted(`${name}:${summary.replaceAll(':', '\\:')}`)

const flagSpec = ({ flag, meaning, repeats, value }: Flag): string => {
  const text = meaning.replace(/[[\]:\\]/g, '\\$&')
  const action = !value ? '' : value.choices.length > 0 ? `(${value.choices.join(' ')})` : value.files ? '_files' : ' '
  const argument = value ? `:${value.placeholder.replace(/[:\\]/g, '\\$&')}:${action}` : ''
  return quoted(`${repeats ? '*' : ''}${flag}[${text}]${argument}`)
}
