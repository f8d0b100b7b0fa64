import { didYouMean } from '../lib/name-matching.ts'
import { MAPPING } from '../mapping/index.ts'
import { shortenText } from '../query/json.ts'
import { attributesOf, leadsToAttribute } from './attributes.ts'
import { WITHOUT_BODY } from './channels.ts'
import { MESSAGE_NAMES, MESSAGE_TOKEN, tokenPath, URL_TOKEN } from './check-alerts.ts'
import { quotedList } from './input.ts'
import { kindOfTarget, type PayloadItem, type RuleCondition, type RuleInput, type WrittenAction } from './rule.ts'
import { OWN_PROPERTIES } from './schema.ts'
import { STATE_FIELD_NAMES } from './state/fields.ts'
import { asAlerted, isSequence } from './windows/steps.ts'

const MAX_INEFFECTIVE = 20

/** What a rule says without any effect, each in a sentence. */
export const findIneffective = (rule: RuleInput): string[] =>
  [
    ...ineffectiveProperties(rule),
    ...rule.config.targetMap.flatMap((condition, index) => ineffectiveValues(condition, `config.targetMap[${index}]`)),
    ...ineffectiveSteps(rule),
    ...rule.config.alerts.flatMap((action, index) => ineffectiveParts(asAlerted(rule), action, `alerts[${index}]`)),
  ].slice(0, MAX_INEFFECTIVE)

const ineffectiveProperties = (rule: RuleInput): string[] => {
  const { maxConfirmationCount, notifyPending, sendPendingAlerts } = rule
  const further = Object.keys(rule).filter(name => !OWN_PROPERTIES.includes(name))
  const shown = further.map(name => shortenText(name))
  const warnings = shown
    .slice(0, MAX_INEFFECTIVE)
    .map(name => `"${name}" is kept, but has no effect.${didYouMean(name, OWN_PROPERTIES)}`)
  if (sendPendingAlerts !== undefined && notifyPending !== undefined && sendPendingAlerts !== notifyPending)
    warnings.push('sendPendingAlerts has no effect beside notifyPending, which means the same: leave it out.')
  if ((notifyPending ?? sendPendingAlerts) === true && maxConfirmationCount === 0)
    warnings.push(
      `${notifyPending === undefined ? 'sendPendingAlerts' : 'notifyPending'} has no effect with maxConfirmationCount 0, since no alert is pending then.`,
    )
  return warnings
}

const ineffectiveSteps = ({ config: { when } }: RuleInput): string[] => {
  if (!isSequence(when)) return []
  const { steps, until } = when
  const parts = [...steps.entries(), ...(until ? [['until', until] as const] : [])]
  return [
    ...(steps[0]!.targetMap ? ['config.targetMap has no effect: the first step has its own. Leave one out.'] : []),
    ...parts.flatMap(([place, { targetMap = [] }]) => {
      const path = place === 'until' ? 'config.when.until' : `config.when.steps[${place}]`
      return targetMap.flatMap((condition, index) => ineffectiveValues(condition, `${path}.targetMap[${index}]`))
    }),
  ]
}

const ineffectiveValues = (condition: RuleCondition, path: string): string[] => {
  const { operator, value, operatorParameters } = condition
  return [
    ...(operator === 'Inspect' && value !== undefined && value !== null
      ? [`${path}.value has no effect: "Inspect" compares nothing itself.`]
      : []),
    ...(operatorParameters ?? []).flatMap((inner, index) =>
      ineffectiveValues(inner, `${path}.operatorParameters[${index}]`),
    ),
  ]
}

const ineffectiveParts = (rule: RuleInput, action: WrittenAction, path: string): string[] => {
  const { type, parameters, payload, message } = action
  const names = namesWithout(rule, path)
  const warnings: string[] = []
  for (const [name, value] of Object.entries({ message, payload }))
    if (value !== undefined && WITHOUT_BODY.has(type))
      warnings.push(`${path}.${name} has no effect: a GET has no body. Put the values into the URL, as {name}.`)
  for (const token of new Set([...(message ?? '').matchAll(MESSAGE_TOKEN)].map(([, token]) => token!)))
    if (!MESSAGE_NAMES.some(it => it === token)) names.look(tokenPath(token).join('.'), `the message of ${path}`)
  if ('url' in parameters && parameters.url !== undefined) {
    const { url } = parameters
    for (const token of new Set([...url.matchAll(URL_TOKEN)].map(([, token]) => token!)))
      names.look(tokenPath(token).join('.'), `the URL of ${path}`)
    const others = [...new Set(url.replace(URL_TOKEN, '').match(/\{[^{}]*\}/g))].map(text => shortenText(text))
    if (others.length > 0)
      warnings.push(
        `The URL of ${path} keeps ${quotedList(others.slice(0, MAX_INEFFECTIVE))} as it is: a token has letters, digits, "_", "$", "." and "#" only.`,
      )
    if (url.replace(URL_TOKEN, '').includes('#'))
      warnings.push(`What follows "#" in the URL of ${path} is not sent: write %23 if it belongs to the URL.`)
  }
  names.lookInPayload(payload ?? [], '')
  return [...warnings, ...names.missing]
}

/** Parts of a reading that no condition compares. */
const MORE_OF_STATE: ReadonlySet<string> = new Set(['args', 'datetime'])

/** Collects names that the rule's entities never have. */
const namesWithout = ({ config: { targetType } }: RuleInput, path: string) => {
  const kind = targetType === 'State' ? undefined : kindOfTarget(targetType)
  const missing: string[] = []
  const look = (name: string, where: string): boolean => {
    if (
      kind === undefined
        ? STATE_FIELD_NAMES.includes(name.split('.')[0]!) || MORE_OF_STATE.has(name)
        : leadsToAttribute(kind, name)
    )
      return true
    if (missing.length < MAX_INEFFECTIVE)
      missing.push(
        `${kind ? MAPPING[kind].name : 'A reading'} has no "${shortenText(name)}", which ${where} names: it will be left out.${didYouMean(shortenText(name), kind ? attributesOf(kind) : STATE_FIELD_NAMES)}`,
      )
    return false
  }
  const lookInPayload = (items: readonly PayloadItem[], around: string) => {
    for (const { fieldName, subPayloads } of items)
      if (look(around + fieldName, `the payload of ${path}`)) lookInPayload(subPayloads ?? [], `${around}${fieldName}.`)
  }
  return { missing, look, lookInPayload }
}
