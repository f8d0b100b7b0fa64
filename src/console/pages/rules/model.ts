import { at, isObject, type Json, type JsonObject, textAt } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'

/** What a rule may look at. */
export const TARGETS: readonly { type: string; kind: Kind; label: string }[] = [
  { type: 'Transaction', kind: 'tx', label: 'Transactions' },
  { type: 'Event', kind: 'event', label: 'Events' },
  { type: 'Log', kind: 'log', label: 'Logs, as they are stored' },
  { type: 'Call', kind: 'call', label: 'Calls, also between contracts' },
  { type: 'Method', kind: 'call', label: 'Calls by transactions themselves' },
  { type: 'Trace', kind: 'trace', label: 'Traces' },
  { type: 'Contract', kind: 'contract', label: 'New contracts' },
  { type: 'Token', kind: 'token', label: 'New tokens' },
  { type: 'Block', kind: 'block', label: 'Blocks' },
]

export const kindOf = (targetType: string): Kind | undefined => TARGETS.find(({ type }) => type === targetType)?.kind

/** Whether its entities have arguments. */
export const hasArguments = (targetType: string): boolean => ['event', 'call'].includes(kindOf(targetType) ?? '')

export const COMPARING = [
  ...['Equals', 'Equals (ignore case)', 'Equals any', 'Equals any (ignore case)'],
  ...['Greater', 'Greater or Equal', 'Less', 'Less or Equal'],
]
export const INSPECT = 'Inspect'

export const takesList = (operator: string): boolean => operator.startsWith('Equals any')

export const CHANNELS = ['Webhook (POST)', 'Webhook (GET)', 'Email', 'Chat']

export const EMPTY_CONDITION: JsonObject = { name: '', operator: 'Equals', value: '' }
export const EMPTY_ARGUMENT: JsonObject = {
  name: 'args',
  operator: INSPECT,
  operatorParameters: [{ name: '', operator: 'Equals', value: '' }],
}

export const emptyAction = (type: string): JsonObject => ({ type, parameters: parametersOf(type) })

const parametersOf = (type: string): JsonObject => {
  if (type === 'Email') return { recipients: [] }
  if (type === 'Chat') return { url: '', text: '', channel: '', username: '' }
  return { url: '' }
}

export const emptyRule = (network: string): JsonObject => {
  const [technology = '', blockchain = '', name = ''] = network.split('/')
  return {
    name: '',
    maxConfirmationCount: 3,
    ...{ technology, blockchain, network: name },
    config: { targetType: 'Transaction', targetMap: [EMPTY_CONDITION], alerts: [emptyAction('Webhook (POST)')] },
  }
}

/** What the server adds to a rule; it is not part of what its owner writes. */
const SERVERS = ['id', 'createdAt', 'updatedAt', 'triggerCount', 'idle', 'failing', 'warnings', 'cancelledDeliveries']

export const ownOf = (rule: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(rule).filter(([name]) => !SERVERS.includes(name)))

/** The value with a member set, or left out where that is undefined; what is no object becomes one. */
export const put = (value: Json | undefined, name: string, member: Json | undefined): JsonObject => {
  const before = isObject(value) ? value : {}
  if (member !== undefined) return { ...before, [name]: member }
  return Object.fromEntries(Object.entries(before).filter(([it]) => it !== name))
}

export const putConfig = (rule: JsonObject, name: string, member: Json): JsonObject =>
  put(rule, 'config', put(rule.config, name, member))

export const listAt = (value: Json | undefined, path: string): Json[] => {
  const found = at(value, path)
  return Array.isArray(found) ? found : []
}

export const targetOf = (rule: Json): string => textAt(rule, 'config.targetType') ?? ''

/** Whether a condition can be asked for already: nothing of it is empty. */
export const isWhole = (condition: Json): boolean => {
  if (!isObject(condition) || !condition.name) return false
  if (condition.operator === INSPECT) {
    const inner = listAt(condition, 'operatorParameters')
    return inner.length > 0 && inner.every(isWhole)
  }
  return Array.isArray(condition.value) ? condition.value.length > 0 : condition.value !== ''
}

/** A condition as a sentence. */
export const saying = (condition: Json): string => {
  if (!isObject(condition)) return String(condition)
  const { name, operator, value, useScaledValue } = condition
  const inner = listAt(condition, 'operatorParameters')
  if (operator === INSPECT) return inner.map(it => `${name}.${saying(it)}`).join(', ')
  const shown = Array.isArray(value) ? value.join(', ') : String(value)
  return `${name} ${SAID.get(String(operator)) ?? operator} ${shown}${useScaledValue === true ? ' in units of the token' : ''}`
}

/** Operators in a sentence. */
const SAID: ReadonlyMap<string, string> = new Map([
  ['Greater', 'is greater than'],
  ['Greater or Equal', 'is at least'],
  ['Less', 'is less than'],
  ['Less or Equal', 'is at most'],
  ['Equals', 'is'],
  ['Equals any', 'is one of'],
  ['Equals (ignore case)', 'is, in any letter case,'],
  ['Equals any (ignore case)', 'is, in any letter case, one of'],
])
