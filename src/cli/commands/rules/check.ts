import { ChainsieveError } from '../../../lib/errors.ts'
import type { Limits } from '../../../limits/index.ts'
import { within } from '../../../rules/place.ts'
import { command, type Streams } from '../../command.ts'
import type { CheckedRule, RulesService } from '../../rules-service.ts'
import { count, showText } from '../../show.ts'
import { readJson, showFault } from './read.ts'

export const checkRules = command({
  name: 'rules check',
  usage: 'FILE…',
  summary:
    'Checks alert rules in JSON files as the server does. A file has one rule or a list; - reads standard input.',
  settings: ['allowTarget', 'smtp', 'limit'],
  options: {},
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ services, config, log, shutdown, args, streams, print }) => {
    const rules = services.openRules(config, { log, shutdown })
    const files: CheckedFile[] = []
    for (const file of args) {
      const checked = await checkFile(rules, file, streams, config.limits)
      files.push(checked)
      if (!config.json) print(show(checked))
    }
    if (config.json) print(JSON.stringify(files.map(toJson)))
    return files.every(isGood) ? 0 : 1
  },
})

interface CheckedFile {
  file: string
  /** What is wrong with the file as a whole. */
  fault?: string
  /** The rule's place in the file's list; null if the file is not a list. */
  rules: { index: number | null; checked: CheckedRule }[]
}

const checkFile = async (
  rules: RulesService,
  file: string,
  { stdin }: Streams,
  limits: Limits,
): Promise<CheckedFile> => {
  let value: unknown
  try {
    value = await readJson(file, stdin, limits)
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    return { file, fault: error.message, rules: [] }
  }
  if (!Array.isArray(value)) return { file, rules: [{ index: null, checked: rules.check(value) }] }
  if (value.length === 0) return { file, fault: 'There is no rule in its list.', rules: [] }
  return { file, rules: value.map((rule, index) => ({ index, checked: rules.check(rule) })) }
}

const isGood = ({ fault, rules }: CheckedFile): boolean =>
  fault === undefined && rules.every(({ checked }) => checked.rule !== undefined)

const show = (checked: CheckedFile): string => {
  const { file, fault, rules } = checked
  if (fault !== undefined) return showFault(file, { path: '', message: fault })
  const lines = rules.flatMap(({ index, checked }) =>
    checked.rule ? remarks(file, index, checked) : checked.faults.map(fault => showFault(file, within(index, fault))),
  )
  if (isGood(checked)) lines.unshift(showFault(file, { path: '', message: goodness(rules) }))
  return lines.map(line => showText(line, 2_000)).join('\n')
}

const goodness = (rules: CheckedFile['rules']): string =>
  rules[0]?.index === null ? 'good' : `good, ${count(rules.length, 'rule')}`

const remarks = (file: string, index: number | null, { warnings, idle }: CheckedRule & { rule: object }): string[] =>
  [...(idle === undefined ? [] : [`idle: ${idle}.`]), ...warnings.map(warning => `warning: ${warning}`)].map(message =>
    showFault(file, within(index, { path: '', message })),
  )

const toJson = (checked: CheckedFile) => ({
  file: checked.file,
  good: isGood(checked),
  faults:
    checked.fault !== undefined
      ? [{ path: '', message: checked.fault }]
      : checked.rules.flatMap(({ index, checked }) => checked.faults.map(fault => within(index, fault))),
  warnings: checked.rules.flatMap(({ index, checked }) =>
    checked.rule ? checked.warnings.map(message => within(index, { path: '', message })) : [],
  ),
  idle: checked.rules.flatMap(({ index, checked }) =>
    checked.rule && checked.idle !== undefined ? [within(index, { path: '', message: checked.idle })] : [],
  ),
})
