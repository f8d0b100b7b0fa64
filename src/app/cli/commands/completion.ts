import { command, misused } from '../command.ts'

export const completion = command({
  name: 'completion',
  usage: 'bash|zsh|fish',
  summary: 'Prints the script that completes commands and options in a shell.',
  settings: [],
  options: {},
  arity: [1, 1],
  run: async ({ args: [shell = ''], streams }) => {
    // Imported late, since the scripts are generated from the list of commands, which contains this one.
    const { SHELLS } = await import('../completion.ts')
    const { completions } = await import('../completion.ts')
    const script = SHELLS.get(shell)
    if (!script)
      throw misused(`There is no completion for ${JSON.stringify(shell)}: name ${[...SHELLS.keys()].join(', ')}.`)
    streams.stdout.write(script(completions()))
  },
})
