import { toggle } from '../config/kinds.ts'
import { placesOf, type Setting } from '../config/settings.ts'
import { settingsOf } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { grouped } from './groups.ts'
import { columns, wrapped } from './wrap.ts'

/** The help text on everything. */
export const overview = (version: string, width: number): string =>
  [
    line(`Chainsieve ${version}: search and alerts for EVM chains.`, width),
    '',
    line('Usage: chainsieve COMMAND [arguments] [options]', width),
    ...grouped().flatMap(({ title, commands }) => [
      '',
      `${title}:`,
      ...columns(
        commands.map(({ name, summary }) => [name.padEnd(LONGEST_NAME), summary]),
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

const LONGEST_NAME = Math.max(...COMMANDS.map(({ name }) => name.length))

/** The help text on one command. */
export const usageOf = (command: Command, width: number): string =>
  [
    wrapped(`chainsieve ${command.name} ${command.usage}`.trimEnd(), { width, indent: 9, lead: 'Usage: ' }),
    '',
    line(command.summary, width),
    '',
    'Options:',
    ...columns(optionsOf(command), width),
  ].join('\n')

/** Flags with what they mean: the command's own, then settings. */
export const optionsOf = (command: Command): [flag: string, meaning: string][] => [
  ...Object.entries(command.options).map(([name, setting]) => optionOf(name, setting, '')),
  ...Object.entries(settingsOf(command)).map(([name, setting]) =>
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
