import { toggle } from '../../config/kinds.ts'
import { placesOf, type Setting } from '../../config/settings.ts'
import { commandSettings } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'

interface Completed {
  /** One word or two. */
  words: readonly string[]
  summary: string
  files: boolean
  flags: readonly Flag[]
}

export interface Flag {
  flag: string
  meaning: string
  repeats: boolean
  /** The kind of its value; undefined if it takes none. */
  value: { placeholder: string; choices: readonly string[]; files: boolean } | undefined
}

export const completions = (commands: readonly Command[] = COMMANDS): Completed[] =>
  commands.map(command => ({
    words: command.name.split(' '),
    summary: command.summary,
    files: FILES.test(command.usage.replace(/--[\w-]+ \S+/g, '')),
    flags: [
      ...Object.entries({ ...command.options, ...commandSettings(command) }).map(([name, setting]) =>
        completedFlag(name, setting),
      ),
      { flag: '--help', meaning: 'Shows this help.', repeats: false, value: undefined },
    ],
  }))

const FILES = /\b(FILE|DIR)\b/

const completedFlag = (name: string, { kind, meaning, list }: Setting): Flag => {
  const { placeholder } = kind
  const choices = /^[a-z]+(\|[a-z]+)+$/.test(placeholder) ? placeholder.split('|') : []
  return {
    ...{ flag: placesOf(name).flag, meaning, repeats: list },
    value: kind === toggle ? undefined : { placeholder, choices, files: FILES.test(placeholder) },
  }
}

/** First words in order, each with the commands that begin with it. */
const byFirstWord = (all: readonly Completed[]): [first: string, commands: Completed[]][] => {
  const found = new Map<string, Completed[]>()
  for (const one of all) found.set(one.words[0]!, [...(found.get(one.words[0]!) ?? []), one])
  return [...found]
}

const isGroup = (commands: readonly Completed[]): boolean => commands.some(({ words }) => words.length > 1)

export const summaryOf = (commands: readonly Completed[]): string =>
  isGroup(commands) ? `Commands: ${commands.map(({ words }) => words[1]).join(', ')}.` : commands[0]!.summary

/** Completion for bash 4 and later. Words need no quoting: they are names from our own tables. */
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

export const fish = (all: readonly Completed[]): string => {
  const firsts = byFirstWord(all)
  const lines = firsts.flatMap(([first, commands]) => {
    const own = `complete -c chainsieve -n __fish_use_subcommand -a ${first} -d ${fishQuoted(summaryOf(commands))}`
    if (!isGroup(commands)) return [own]
    const seconds = commands.map(({ words }) => words[1]).join(' ')
    const open = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds}`
    return [
      own,
      ...commands.map(
        ({ words, summary }) =>
          `complete -c chainsieve -n ${fishQuoted(open)} -a ${words[1]} -d ${fishQuoted(summary)}`,
      ),
    ]
  })
  const flags = all.flatMap(({ words, flags: own, files }) => {
    const when = fishQuoted(words.map(word => `__fish_seen_subcommand_from ${word}`).join('; and '))
    return [
      ...own.map(flag => `complete -c chainsieve -n ${when} ${fishFlag(flag)}`),
      ...(files ? [`complete -c chainsieve -n ${when} -F`] : []),
    ]
  })
  return `# fish completion for chainsieve: chainsieve completion fish > ~/.config/fish/completions/chainsieve.fish
complete -c chainsieve -f
${[...lines, ...flags].join('\n')}
`
}

const fishFlag = ({ flag, meaning, value }: Flag): string => {
  const takes = !value
    ? ''
    : value.choices.length > 0
      ? ` -x -a ${fishQuoted(value.choices.join(' '))}`
      : value.files
        ? ' -r -F'
        : ' -x'
  return `-l ${flag.slice(2)}${takes} -d ${fishQuoted(meaning)}`
}

const fishQuoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

export const zsh = (all: readonly Completed[]): string => {
  const firsts = byFirstWord(all)
  return `#compdef chainsieve
# zsh completion for chainsieve: chainsieve completion zsh > "\${fpath[1]}/_chainsieve"
_chainsieve() {
  local -a names
  if (( CURRENT == 2 )); then
    names=(
${firsts.map(([first, commands]) => `      ${zshDescription(first, summaryOf(commands))}`).join('\n')}
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
${commands.map(({ words, summary }) => `          ${zshDescription(words[1]!, summary)}`).join('\n')}
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
${[...flags.map(flagSpec), ...(files ? [zshQuoted('*:file:_files')] : [])].map(spec => `        ${spec}`).join(' \\\n')} ;;`,
  )
  .join('\n')}
  esac
}
if [[ $funcstack[1] == _chainsieve ]]; then _chainsieve "$@"; else compdef _chainsieve chainsieve; fi
`
}

const zshQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** zsh ends the name at the first colon. */
const zshDescription = (name: string, summary: string): string => zshQuoted(`${name}:${summary.replaceAll(':', '\\:')}`)

const flagSpec = ({ flag, meaning, repeats, value }: Flag): string => {
  const text = meaning.replace(/[[\]:\\]/g, '\\$&')
  const action = !value ? '' : value.choices.length > 0 ? `(${value.choices.join(' ')})` : value.files ? '_files' : ' '
  const argument = value ? `:${value.placeholder.replace(/[:\\]/g, '\\$&')}:${action}` : ''
  return zshQuoted(`${repeats ? '*' : ''}${flag}[${text}]${argument}`)
}

export const SHELLS: ReadonlyMap<string, (all: readonly Completed[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])
