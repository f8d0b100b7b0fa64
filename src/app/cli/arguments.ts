import { parseArgs } from 'node:util'
import { fullName } from '../../config/chains.ts'
import type { Flags } from '../../config/index.ts'
import { toggle } from '../../config/kinds.ts'
import { NETWORK_SETTINGS, placesOf, SETTINGS, type Setting } from '../../config/settings.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { COMMON_SETTINGS, type Command, misused } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** A parsed command line; values of flags are still text. */
export type Typed =
  | { wants: 'version' }
  /** Help on a command, or on all of them. */
  | { wants: 'help'; command: Command | undefined }
  | { wants: 'run'; command: Command; args: string[]; settings: Flags; options: Flags }

export const understand = (argv: readonly string[]): Typed => {
  // parseArgs only splits flags from values; this checks them and suggests similar names.
  const { tokens } = parseArgs({ args: [...argv], options: PARSER_OPTIONS, strict: false, tokens: true })
  const words: string[] = []
  const flags = new Map<string, { typed: string; values: (string | undefined)[] }>()
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    // `dev` uses -v for --verbose.
    const name = token.rawName === '-v' && words[0] === 'dev' ? 'verbose' : token.name
    const known = FLAGS.get(`--${name}`)
    if (known === undefined)
      throw misused(`There is no option ${token.rawName}.${didYouMean(token.rawName, FLAGS.keys())}`)
    // `--rpc --ws` is a forgotten value, `--rpc=--ws` is not.
    const forgotten = !token.inlineValue && token.value?.startsWith('-') && token.value !== '-'
    if (known.takesValue && (token.value === undefined || forgotten)) throw misused(`${token.rawName} needs a value.`)
    const flag = flags.get(known.name) ?? { typed: token.rawName, values: [] }
    flag.values.push(token.value)
    flags.set(known.name, flag)
  }

  if (flags.has('version')) return { wants: 'version' }
  const wantsHelp = flags.delete('help') || words[0] === 'help'
  if (words[0] === 'help') words.shift()
  if (wantsHelp && words.length === 0) return { wants: 'help', command: undefined }
  const command = findCommand(words, wantsHelp)
  if (wantsHelp) return { wants: 'help', command }

  const args = words.slice(command!.name.split(' ').length)
  return { wants: 'run', command: command!, args: checkArity(command!, args), ...sort(command!, flags) }
}

export const commandSettings = (command: Command): Record<string, Setting> =>
  Object.fromEntries([...command.settings, ...COMMON_SETTINGS].map(name => [name, ALL_SETTINGS[name]!]))

const ALL_SETTINGS: Record<string, Setting> = { ...SETTINGS, ...NETWORK_SETTINGS }

const OWN_OPTIONS: Record<string, Setting> = Object.assign({}, ...COMMANDS.map(({ options }) => options))

const FLAGS: ReadonlyMap<string, { name: string; takesValue: boolean }> = new Map([
  ['--help', { name: 'help', takesValue: false }],
  ['--version', { name: 'version', takesValue: false }],
  ...Object.entries({ ...ALL_SETTINGS, ...OWN_OPTIONS }).map(
    ([name, { kind }]) => [placesOf(name).flag, { name, takesValue: kind !== toggle }] as const,
  ),
])

const PARSER_OPTIONS = Object.fromEntries(
  [...FLAGS].map(([flag, { name, takesValue }]) => [
    flag.slice(2),
    {
      type: takesValue ? ('string' as const) : ('boolean' as const),
      ...(name === 'help' ? { short: 'h' } : name === 'version' ? { short: 'v' } : {}),
    },
  ]),
)

/** The command that the words name, even if its flags are wrong. */
export const commandNamed = (argv: readonly string[]): string => {
  const flag = argv.findIndex(word => word.startsWith('-'))
  const [first = '', second] = flag < 0 ? argv : argv.slice(0, flag)
  const found = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`)
  return found ? `chainsieve ${found.name}` : 'chainsieve'
}

const findCommand = (words: string[], partly: boolean): Command | undefined => {
  if (words.length === 0) throw misused('Which command?')
  const [first = '', second] = words
  const found = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`)
  if (found) return found
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) =>
    name.slice(first.length + 1),
  )
  if (group.length === 0)
    throw misused(
      `There is no command ${first}.${didYouMean(first, new Set(COMMANDS.map(({ name }) => name.split(' ')[0]!)))}`,
    )
  if (partly) return undefined
  if (second === undefined) throw misused(`chainsieve ${first} what? One of ${group.join(', ')}.`)
  throw misused(`There is no command ${first} ${second}.${didYouMean(second, group)}`)
}

const checkArity = ({ name, usage, arity: [least, most] }: Command, args: string[]): string[] => {
  if (args.length < least) throw misused(`An argument is missing: chainsieve ${name} ${usage}`)
  if (args.length > most)
    throw misused(`${JSON.stringify(args[most])} is one argument too many for chainsieve ${name}.`)
  // Expands short names of chains to names of networks.
  return /^\[?T\/B\/N/.test(usage) ? args.map((arg, i) => (i === 0 ? fullName(arg) : arg)) : args
}

/** Separates flags of settings from flags of the command, and refuses unknown flags. */
const sort = (command: Command, flags: Map<string, { typed: string; values: (string | undefined)[] }>) => {
  const settings: Record<string, string | string[] | boolean> = {}
  const options: Record<string, string | string[] | boolean> = {}
  const taken = commandSettings(command)
  for (const [name, { typed, values }] of flags) {
    const setting = taken[name] ?? command.options[name]
    if (!setting) {
      const names = Object.keys({ ...taken, ...command.options }).map(name => placesOf(name).flag)
      throw misused(`chainsieve ${command.name} takes no ${typed}.${didYouMean(typed, names)}`)
    }
    if (values.length > 1 && !setting.list) throw misused(`${typed} is given twice.`)
    const given = values.map(value => value ?? true)
    const group = taken[name] ? settings : options
    group[name] = setting.list ? (given as string[]) : given[0]!
  }
  return { settings, options }
}
