import { dirname, join } from 'node:path'
import { testDocuments } from '../../../back-test/documents.ts'
import { ChainsieveError, refuse } from '../../../lib/errors.ts'
import type { RuleInput } from '../../../rules/rule.ts'
import { checkRule } from '../../../rules/schema.ts'
import {
  alertsOfOtherForm,
  checkRuleTest,
  compareAlerts,
  type ExpectedAlert,
  MAX_TESTED,
  placeOfAlert,
  type RuleTest,
  type RuleTestResult,
} from '../../rule-tests.ts'
import { CALL_SETTINGS, type CommandContext, command } from '../command.ts'
import { formatCount, formatText } from '../format.ts'
import { formatFault, readJsonFile } from './rule-files.ts'

export const rulesVerifyCommand = command({
  name: 'rules verify',
  usage: 'FILE.test.json…',
  summary:
    'Compares what rules find in stored blocks, or in documents of test files, with the alerts that these expect. Exit code 1 if they differ.',
  settings: [...CALL_SETTINGS, 'queryDeadline', 'limit'],
  options: {},
  arity: [1, Number.POSITIVE_INFINITY],
  run: async context => {
    const tested: { file: string; result: RuleTestResult }[] = []
    for (const file of context.args) tested.push({ file, result: await testFile(context, file) })
    return tested
  },
  format: tested => tested.map(({ file, result }) => formatText(file) + formatResult(result)).join('\n'),
  json: tested => tested.map(({ file, result }) => ({ file, ...result })),
  code: tested => (tested.every(({ result }) => hasNoDifference(result)) ? 0 : 1),
})

const testFile = async (
  { services, config, shutdown, streams }: Pick<CommandContext, 'services' | 'config' | 'shutdown' | 'streams'>,
  file: string,
): Promise<RuleTestResult> => {
  const { test, faults } = checkRuleTest(await readJsonFile(file, streams.stdin, config.limits))
  if (!test) throw refuse('bad_test', faults.map(fault => formatFault(file, fault)).join('\n'))
  const place = typeof test.rule === 'string' ? join(dirname(file), test.rule) : undefined
  const written = place === undefined ? test.rule : await readJsonFile(place, streams.stdin, config.limits)
  const checked = checkRule(written, { limits: config.limits })
  if (!checked.rule) throw refuse('bad_rule', checked.faults.map(fault => formatFault(place ?? file, fault)).join('\n'))
  const { rule } = checked
  const others = alertsOfOtherForm(rule, test)
  if (others.length > 0) throw refuse('bad_test', others.map(fault => formatFault(file, fault)).join('\n'))
  try {
    return compareAlerts(rule, test, await findForTest(rule, test, { services, config, shutdown }))
  } catch (error) {
    throw error instanceof ChainsieveError ? refuse(error.code, `${file}: ${error.message}`, error.cause) : error
  }
}

const findForTest = (
  rule: RuleInput,
  { from, to, documents, blockSeconds = 12 }: RuleTest,
  { services, config, shutdown }: Pick<CommandContext, 'services' | 'config' | 'shutdown'>,
) => {
  if (documents) return testDocuments(rule, { from, to, documents, blockSeconds }, config.limits)
  const rules = services.openRules(config, { shutdown })
  const size = rule.config.when ? 0 : MAX_TESTED
  return rules.simulate(rule, { from: { block: from }, to: { block: to }, size, episodes: MAX_TESTED })
}

const hasNoDifference = ({ missing, further }: RuleTestResult): boolean => missing.length + further.length === 0

const formatResult = (result: RuleTestResult): string => {
  const { found, missing, further } = result
  if (hasNoDifference(result)) return `: good, ${formatCount(found, 'alert', 'alerts')}`
  const line = (sign: string) => (it: ExpectedAlert) => ({
    place: placeOfAlert(it),
    text: `  ${sign} ${JSON.stringify(it)}`,
  })
  const lines = [...missing.map(line('-')), ...further.map(line('+'))].toSorted((a, b) => a.place - b.place)
  return [
    `: ${formatCount(missing.length, 'alert is', 'alerts are')} missing (-), ${formatCount(further.length, 'is', 'are')} not expected (+)`,
    ...lines.map(({ text }) => text),
  ].join('\n')
}
