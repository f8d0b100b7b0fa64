import { createHash } from 'node:crypto'
import { isRecord } from '../lib/arrays.ts'
import { CHANNELS, channelNamed, type Parameter } from './channels.ts'
import { actionsOf, type RuleInput } from './rule.ts'

/**
 * A key as answers show it. Its digest says whether two are the same, so that a rule that was read
 * can be written back, and a file with the key compares with a rule.
 */
const hideKey = (key: string): string =>
  isHiddenKey(key) ? key : `[secret ${createHash('sha256').update(key).digest('hex').slice(0, 8)}]`

export const isHiddenKey = (value: unknown): boolean =>
  typeof value === 'string' && /^\[secret [\da-f]{8}\]$/.test(value)

const channelParameters = (type: unknown): [name: string, parameter: Parameter][] => {
  const named = channelNamed(type)
  return named === undefined ? [] : Object.entries(CHANNELS[named])
}

/** The keys of an action by the names of their parameters. */
export const actionKeys = ({
  type,
  parameters,
}: {
  type: unknown
  parameters: unknown
}): [name: string, key: string][] =>
  channelParameters(type).flatMap(([name, { holds }]): [string, string][] => {
    const value = holds === 'key' && isRecord(parameters) ? parameters[name] : undefined
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })

/** The rule with its keys hidden, for answers. */
export const withoutKeys = <R extends Pick<RuleInput, 'config'>>(rule: R): R =>
  mapKeys(rule, (_, key) => hideKey(key)) as R

/**
 * Puts back the keys of the rule that it replaces where it has them as answers show them: only for a
 * receiver of the same type and URL, or a changed URL would get a key that its author cannot read.
 */
export const restoreKeys = (rule: unknown, before: RuleInput): unknown =>
  mapKeys(rule, (action, key) => {
    if (!isHiddenKey(key)) return key
    const same = actionsOf(before).filter(
      it => it.type === channelNamed(action.type) && receiverUrl(it) === receiverUrl(action),
    )
    return same.flatMap(actionKeys).find(([, own]) => hideKey(own) === key)?.[1] ?? key
  })

const receiverUrl = ({ parameters }: { parameters?: unknown }): unknown =>
  (isRecord(parameters) && parameters.url) || ''

type AnyAction = Record<string, unknown> & { type: unknown; parameters: unknown }

const mapKeys = (rule: unknown, keyFor: (action: AnyAction, key: string) => string): unknown => {
  if (!isRecord(rule) || !isRecord(rule.config) || !Array.isArray(rule.config.alerts)) return rule
  const alerts = rule.config.alerts.map((action: unknown) => {
    if (!isRecord(action) || !isRecord(action.parameters)) return action
    const keys = actionKeys(action as AnyAction)
    if (keys.length === 0) return action
    const written = keys.map(([name, key]) => [name, keyFor(action as AnyAction, key)])
    return { ...action, parameters: { ...action.parameters, ...Object.fromEntries(written) } }
  })
  return { ...rule, config: { ...rule.config, alerts } }
}
