import { byFirstWord, type Completed, type Flag, isGroup, summaryOf } from './table.ts'

/** Completion for fish 3 and later. */
export const fish = (all: readonly Completed[]): string => {
  const firsts = byFirstWord(all)
  const lines = firsts.flatMap(([first, commands]) => {
    const own = `complete -c chainsieve -n __fish_use_subcommand -a ${first} -d ${quoted(summaryOf(commands))}`
    if (!isGroup(commands)) return [own]
    const seconds = commands.map(({ words }) => words[1]).join(' ')
    const open = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds}`
    return [
      own,
      ...commands.map(
        ({ words, summary }) => `complete -c chainsieve -n ${quoted(open)} -a ${words[1]} -d ${quoted(summary)}`,
      ),
    ]
  })
  const flags = all.flatMap(({ words, flags: own, files }) => {
    const when = quoted(words.map(word => `__fish_seen_subcommand_from ${word}`).join('; and '))
    return [
      ...own.map(flag => `complete -c chainsieve -n ${when} ${flagOf(flag)}`),
      ...(files ? [`complete -c chainsieve -n ${when} -F`] : []),
    ]
  })
  return `# fish completion for chainsieve: chainsieve completion fish > ~/.config/fish/completions/chainsieve.fish
complete -c chainsieve -f
${[...lines, ...flags].join('\n')}
`
}

const flagOf = ({ flag, meaning, value }: Flag): string => {
  const takes = !value
    ? ''
    : value.choices.length > 0
      ? ` -x -a ${quoted(value.choices.join(' '))}`
      : value.files
        ? ' -r -F'
        : ' -x'
  return `-l ${flag.slice(2)}${takes} -d ${quoted(meaning)}`
}

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
