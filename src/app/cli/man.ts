import { NETWORK_SETTINGS, placesOf, SETTINGS, type Setting } from '../../config/settings.ts'
import { grouped, optionOf } from './usage.ts'

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

/** A line of text as it stands: no character of it is an instruction. */
const roffText = (line: string): string =>
  line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^[.']/, '\\&$&')
    .replace(/\P{ASCII}/gu, it => `\\[u${it.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
