import { toggle } from '../../config/kinds.ts'
import { placesOf, type Setting } from '../../config/settings.ts'
import { settingsOf } from '../arguments.ts'
import type { Command } from '../command.ts'
import { COMMANDS } from '../commands/index.ts'

/** A command as shells complete it. */
export interface Completed {
  /** One word or two. */
  words: readonly string[]
  summary: string
  /** Whether arguments are names of files. */
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

/** The same table as for help. */
export const completions = (commands: readonly Command[] = COMMANDS): Completed[] =>
  commands.map(command => ({
    words: command.name.split(' '),
    summary: command.summary,
    files: FILES.test(command.usage.replace(/--[\w-]+ \S+/g, '')),
    flags: [
      ...Object.entries({ ...command.options, ...settingsOf(command) }).map(([name, setting]) => flagOf(name, setting)),
      { flag: '--help', meaning: 'Shows this help.', repeats: false, value: undefined },
    ],
  }))

const FILES = /\b(FILE|DIR)\b/

const flagOf = (name: string, { kind, meaning, list }: Setting): Flag => {
  const { placeholder } = kind
  const choices = /^[a-z]+(\|[a-z]+)+$/.test(placeholder) ? placeholder.split('|') : []
  return {
    ...{ flag: placesOf(name).flag, meaning, repeats: list },
    value: kind === toggle ? undefined : { placeholder, choices, files: FILES.test(placeholder) },
  }
}

/** First words, in their order, each with the commands that begin with it. */
export const byFirstWord = (all: readonly Completed[]): [first: string, commands: Completed[]][] => {
  const found = new Map<string, Completed[]>()
  for (const one of all) found.set(one.words[0]!, [...(found.get(one.words[0]!) ?? []), one])
  return [...found]
}

export const isGroup = (commands: readonly Completed[]): boolean => commands.some(({ words }) => words.length > 1)

/** What the first word of a command means. */
export const summaryOf = (commands: readonly Completed[]): string =>
  isGroup(commands) ? `Commands: ${commands.map(({ words }) => words[1]).join(', ')}.` : commands[0]!.summary
