import { toggle } from '../config/kinds.ts'
import { placesOf, type Setting } from '../config/settings.ts'
import { settingsOf } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** The help text on everything. */
export const overview = (version: string): string =>
  [
    `Chainsieve ${version}: search and alerts for EVM chains.`,
    '',
    'Usage: chainsieve COMMAND [arguments] [options]',
    '',
    'Commands:',
    ...columns(COMMANDS.map(({ name, summary }) => [name, summary])),
    '',
    'chainsieve COMMAND --help lists the options of a command. Environment variables and a config file can set them, too.',
    'Exit codes: 0 done, 1 failed, 2 wrong usage.',
  ].join('\n')

/** The help text on one command. */
export const usageOf = (command: Command): string =>
  [
    `Usage: chainsieve ${command.name} ${command.usage}`.trimEnd(),
    '',
    command.summary,
    '',
    'Options:',
    ...columns([
      ...Object.entries(command.options).map(([name, setting]) => optionOf(name, setting, '')),
      ...Object.entries(settingsOf(command)).map(([name, setting]) =>
        optionOf(name, { ...setting, ...defaultOf(command, name) }, ` [${placesOf(name).env}]`),
      ),
      ['--help', 'Shows this help.'],
    ]),
  ].join('\n')

const defaultOf = ({ defaults = {} }: Command, name: string) => {
  const value = defaults[name]
  return value === undefined ? {} : { fallback: String(value) }
}

const optionOf = (name: string, { kind, fallback, meaning, list }: Setting, env: string): [string, string] => {
  const value = kind === toggle ? '' : ` ${kind.placeholder}`
  const standing = fallback === undefined || kind === toggle ? '' : ` Default: ${fallback}.`
  return [`${placesOf(name).flag}${value}`, `${meaning}${list ? ' May be repeated.' : ''}${standing}${env}`]
}

const columns = (rows: [string, string][]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
