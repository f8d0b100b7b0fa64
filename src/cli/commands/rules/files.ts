import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ChainsieveError, messageOf, refuse } from '../../../lib/errors.ts'
import type { Limits } from '../../../limits/index.ts'
import { within } from '../../../rules/place.ts'
import type { RuleInput } from '../../../rules/rule.ts'
import { checkRule } from '../../../rules/schema.ts'
import type { Context } from '../../command.ts'
import { showText } from '../../show.ts'
import { nameOf, readJson, showFault } from './read.ts'

export interface FileRule {
  file: string
  rule: RuleInput
}

/** The rules of a command's files; undefined where they have faults, which standard error then tells, a line each. */
export const rulesOf = async ({
  args,
  streams,
  config,
}: Pick<Context, 'args' | 'streams' | 'config'>): Promise<FileRule[] | undefined> => {
  const { rules, faults } = await readRules(args, streams.stdin, config.limits)
  for (const fault of faults) streams.stderr.write(`${showText(fault, 2_000)}\n`)
  return faults.length > 0 ? undefined : rules
}

/** The rules of files and folders, or everything that is wrong with them, a line each. The server judges where they would send to. */
const readRules = async (
  paths: readonly string[],
  stdin: Readable,
  limits: Limits,
): Promise<{ rules: FileRule[]; faults: string[] }> => {
  const rules = new Map<string, FileRule>()
  const faults: string[] = []
  for (const file of [...new Set(paths.flatMap(filesOf))]) {
    let value: unknown
    try {
      value = await readJson(file, stdin, limits)
    } catch (error) {
      if (!(error instanceof ChainsieveError)) throw error
      faults.push(showFault(file, { path: '', message: error.message }))
      continue
    }
    const list = Array.isArray(value) ? value : [value]
    if (list.length === 0) faults.push(showFault(file, { path: '', message: 'There is no rule in its list.' }))
    for (const [index, one] of list.entries()) {
      const checked = checkRule(one, { limits })
      const place = Array.isArray(value) ? index : null
      for (const fault of checked.faults) faults.push(showFault(file, within(place, fault)))
      if (!checked.rule) continue
      const other = rules.get(checked.rule.name)
      if (other) {
        const message = `${nameOf(other.file)} has a rule of this name, too: names tell rules apart here.`
        faults.push(showFault(file, within(place, { path: 'name', message })))
      } else rules.set(checked.rule.name, { file, rule: checked.rule })
    }
  }
  return { rules: [...rules.values()], faults }
}

/** A folder means the JSON files in it and below. */
const filesOf = (path: string): string[] => {
  if (path === '-') return [path]
  let isFolder: boolean
  try {
    isFolder = statSync(path).isDirectory()
  } catch (error) {
    throw refuse('file_unreadable', `${path} cannot be read: ${messageOf(error)}`, error)
  }
  if (!isFolder) return [path]
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
  if (files.length === 0) throw refuse('no_rules', `There is no .json file in ${path}.`)
  return files.sort().map(name => join(path, name))
}
