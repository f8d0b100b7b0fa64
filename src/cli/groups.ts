import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** Commands by what they are for, in the order of the help text: whole names, or first words for all that begin with them. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Collect blocks': ['serve', 'dev', 'replay', 'index', 'import'],
  'Ask and watch': ['search', 'export', 'status', 'health', 'doctor', 'stats'],
  'Look after data': ['backup', 'restore', 'verify', 'prune', 'move', 'compact', 'salvage'],
  'Alert rules': ['rules', 'receive'],
  Accounts: ['account', 'accounts', 'token', 'audit'],
  ABIs: ['abi'],
  'This program': ['completion'],
}

export interface Group {
  title: string
  commands: readonly Command[]
}

/** A test holds that no command is left for the last group. */
export const grouped = (commands: readonly Command[] = COMMANDS): Group[] => {
  const isIn = (names: readonly string[]) => (command: Command) =>
    names.includes(command.name) || names.includes(command.name.split(' ')[0]!)
  const groups = Object.entries(GROUPS).map(([title, names]) => ({ title, commands: commands.filter(isIn(names)) }))
  const known = new Set(groups.flatMap(it => it.commands))
  const others = commands.filter(it => !known.has(it))
  return [...groups, { title: OTHERS, commands: others }].filter(it => it.commands.length > 0)
}

export const OTHERS = 'Other commands'
