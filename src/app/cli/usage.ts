import { toggle } from '../../config/kinds.ts'
import { NETWORK_SETTINGS, placesOf, SETTINGS, type Setting } from '../../config/settings.ts'
import { commandSettings } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** Wraps text at `width`; lines begin with `indent` spaces, the first one with `lead`. */
export const wrapped = (
  text: string,
  { width, indent, lead }: { width: number; indent: number; lead: string },
): string => {
  const lines: string[] = []
  let line = lead
  let begun = false
  for (const word of text.split(' ')) {
    if (begun && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ' '.repeat(indent) + word
    } else line += begun ? ` ${word}` : word
    begun = true
  }
  return [...lines, line].join('\n')
}

/** Narrower output is unreadable. */
const MIN_WIDTH = 40

/** Width of a terminal. Other output is not wrapped, which keeps it searchable. */
export const widthOf = ({ isTTY, columns }: { isTTY?: boolean; columns?: number }): number =>
  isTTY && columns ? Math.max(MIN_WIDTH, columns) : Number.POSITIVE_INFINITY

/** Two columns; a wide left column puts the right one on the next line. */
const columns = (rows: readonly (readonly [string, string])[], width: number): string[] => {
  const left = Math.max(...rows.map(([it]) => it.length))
  const indent = left + 4
  const isBelow = indent > width / 2
  return rows.map(([name, text]) =>
    isBelow
      ? `  ${name}\n${wrapped(text, { width, indent: 6, lead: ' '.repeat(6) })}`
      : wrapped(text, { width, indent, lead: `  ${name.padEnd(left)}  ` }),
  )
}

/** Groups of the help text, in order: full names, or the shared first word of commands. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Collect blocks': ['serve', 'dev', 'replay', 'index', 'import'],
  'Ask and watch': ['search', 'export', 'mcp', 'status', 'health', 'doctor', 'stats'],
  'Look after data': ['backup', 'restore', 'verify', 'prune', 'move', 'compact', 'salvage'],
  'Alert rules': ['rules', 'lists', 'silences', 'receive'],
  Accounts: ['account', 'accounts', 'token', 'audit'],
  ABIs: ['abi'],
  'This program': ['completion'],
}

interface Group {
  title: string
  commands: readonly Command[]
}

/** A test ensures that no command ends up in the last group. */
export const grouped = (commands: readonly Command[] = COMMANDS): Group[] => {
  const isIn = (names: readonly string[]) => (command: Command) =>
    names.includes(command.name) || names.includes(command.name.split(' ')[0]!)
  const groups = Object.entries(GROUPS).map(([title, names]) => ({ title, commands: commands.filter(isIn(names)) }))
  const known = new Set(groups.flatMap(it => it.commands))
  const others = commands.filter(it => !known.has(it))
  return [...groups, { title: OTHERS, commands: others }].filter(it => it.commands.length > 0)
}

export const OTHERS = 'Other commands'

export const overview = (version: string, width: number): string =>
  [
    line(`Chainsieve ${version}: search and alerts for EVM chains.`, width),
    '',
    line('Usage: chainsieve COMMAND [arguments] [options]', width),
    ...grouped().flatMap(({ title, commands }) => [
      '',
      `${title}:`,
      ...columns(
        commands.map(({ name, summary }) => [name.padEnd(NAME_WIDTH), summary]),
        width,
      ),
    ]),
    '',
    line(
      'chainsieve COMMAND --help lists the options of a command. Environment variables and a config file can set them, too.',
      width,
    ),
    line('Exit codes: 0 done, 1 failed, 2 wrong usage.', width),
  ].join('\n')

const line = (text: string, width: number): string => wrapped(text, { width, indent: 0, lead: '' })

const NAME_WIDTH = Math.max(...COMMANDS.map(({ name }) => name.length))

export const usageOf = (command: Command, width: number): string =>
  [
    wrapped(`chainsieve ${command.name} ${command.usage}`.trimEnd(), { width, indent: 9, lead: 'Usage: ' }),
    '',
    line(command.summary, width),
    '',
    'Options:',
    ...columns(optionsOf(command), width),
  ].join('\n')

/** Flags and their meanings: options of the command, then settings. */
const optionsOf = (command: Command): [flag: string, meaning: string][] => [
  ...Object.entries(command.options).map(([name, setting]) => optionOf(name, setting, '')),
  ...Object.entries(commandSettings(command)).map(([name, setting]) =>
    optionOf(name, { ...setting, ...defaultOf(command, name) }, ` [${placesOf(name).env}]`),
  ),
  ['--help', 'Shows this help.'],
]

const defaultOf = ({ defaults = {} }: Command, name: string) => {
  const value = defaults[name]
  return value === undefined ? {} : { fallback: String(value) }
}

export const optionOf = (name: string, { kind, fallback, meaning, list }: Setting, env: string): [string, string] => {
  const value = kind === toggle ? '' : ` ${kind.placeholder}`
  const standing = fallback === undefined || kind === toggle ? '' : ` Default: ${fallback}.`
  return [`${placesOf(name).flag}${value}`, `${meaning}${list ? ' May be repeated.' : ''}${standing}${env}`]
}

/** The man page chainsieve(1), written when the program is built. */
export const manPage = (version: string): string =>
  [
    `.TH CHAINSIEVE 1 "" "Chainsieve ${roffText(version)}" "User Commands"`,
    '.SH NAME',
    roffText('chainsieve - search and alerts for EVM chains'),
    '.SH SYNOPSIS',
    '.B chainsieve',
    roffText('COMMAND [arguments] [options]'),
    '.SH DESCRIPTION',
    roffText(
      'Chainsieve indexes EVM chains, answers searches in the dialect of Elasticsearch, and sends alerts by rules.',
    ),
    ...grouped().flatMap(({ title, commands }) => [
      `.SH ${roffText(title.toUpperCase())}`,
      ...commands.flatMap(({ name, usage, summary, options }) => [
        ...entry(`chainsieve ${name} ${usage}`.trimEnd(), summary),
        ...Object.entries(options).flatMap(([option, setting]) => describeOption(option, setting, true)),
      ]),
    ]),
    '.SH OPTIONS',
    roffText(
      'Each command takes some of these: chainsieve COMMAND --help lists them. All take --data, --config and --json.',
    ),
    ...Object.entries<Setting>({ ...SETTINGS, ...NETWORK_SETTINGS }).flatMap(([name, setting]) =>
      describeOption(name, setting),
    ),
    '.SH ENVIRONMENT',
    roffText(
      `Each option has a variable: ${placesOf('queryDeadline').flag} is ${placesOf('queryDeadline').env}. Flags win over variables, and variables over the config file.`,
    ),
    '.SH FILES',
    ...entry('chainsieve.toml', 'The config file, in the data folder.'),
    '.SH EXIT STATUS',
    roffText('0 done, 1 failed, 2 wrong usage.'),
    '',
  ].join('\n')

const entry = (head: string, body: string): string[] => ['.TP', `.B ${roffText(head)}`, roffText(body)]

const describeOption = (name: string, setting: Setting, inside = false): string[] => {
  const lines = entry(...optionOf(name, setting, ''))
  return inside ? ['.RS', ...lines, '.RE'] : lines
}

/** Escapes a line of text: no character is a roff instruction. */
const roffText = (line: string): string =>
  line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^[.']/, '\\&$&')
    .replace(/\P{ASCII}/gu, it => `\\[u${it.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
