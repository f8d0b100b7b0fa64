import { CHANNEL_TYPES, CHANNELS, channelNamed, type Parameter, WITHOUT_BODY } from '../../../rules/channels.ts'
import { type RuleOperator, TARGET_KINDS, type TargetType } from '../../../rules/rule.ts'
import { isJsonObject, type Json, type JsonObject, member, stringifyJson, textAt, valueAt } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'
import { INSPECT } from './condition-rows.ts'

/** Label of the choice, and what one of them is called. */
const TARGET_WORDS: Record<TargetType, readonly [label: string, noun: string]> = {
  Event: ['Events', 'event'],
  Transaction: ['Transactions', 'transaction'],
  Call: ['Calls, also between contracts', 'call'],
  Method: ['Calls by transactions themselves', 'call by a transaction'],
  Log: ['Logs, as they are stored', 'log'],
  Trace: ['Traces', 'trace'],
  Contract: ['New contracts', 'new contract'],
  Token: ['New tokens', 'new token'],
  Block: ['Blocks', 'block'],
  State: ['Balances, and answers of contracts', 'reading'],
}

export const TARGETS = Object.entries(TARGET_WORDS).map(([type, [label, noun]]) => ({
  ...{ type, label, noun },
  /** Undefined of readings, which are no documents. */
  kind: (TARGET_KINDS as Partial<Record<string, Kind>>)[type],
}))

export const targetKind = (targetType: string): Kind | undefined =>
  TARGETS.find(({ type }) => type === targetType)?.kind

export const hasArguments = (targetType: string): boolean => ['event', 'call'].includes(targetKind(targetType) ?? '')

export const OPERATOR_PHRASES: Record<Exclude<RuleOperator, typeof INSPECT>, string> = {
  Equals: 'is',
  'Equals (ignore case)': 'is (any letter case)',
  'Equals any': 'is one of',
  'Equals any (ignore case)': 'is one of (any letter case)',
  Greater: 'is more than',
  'Greater or Equal': 'is at least',
  Less: 'is less than',
  'Less or Equal': 'is at most',
}

const DEFAULT_RECEIVER = 'Webhook (POST)'
/** Default first. */
export const RECEIVER_TYPES: readonly string[] = [
  DEFAULT_RECEIVER,
  ...CHANNEL_TYPES.filter(type => type !== DEFAULT_RECEIVER),
]

/** Parameters of a receiver type; unknown types have a URL. */
export const receiverParameters = (type: string): [name: string, parameter: Parameter][] =>
  Object.entries(CHANNELS[channelNamed(type) ?? DEFAULT_RECEIVER])

export const hasBody = (type: string): boolean => !WITHOUT_BODY.has(type)

export const EMPTY_CONDITION: JsonObject = { name: '', operator: 'Equals', value: '' }

/** A rule of this kind begins with what most ask for. */
export const firstCondition = (targetType: string): JsonObject => ({
  ...EMPTY_CONDITION,
  name: FIRST_NAMES[targetKind(targetType) ?? 'log'] ?? '',
})

const FIRST_NAMES: Partial<Record<Kind, string>> = { event: 'event', call: 'method', tx: 'from', log: 'address' }

export const isWholeAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text)

export const emptyAction = (type = DEFAULT_RECEIVER): JsonObject => ({
  type,
  parameters: Object.fromEntries(
    receiverParameters(type).flatMap(([name, { holds, optional }]) =>
      optional ? [] : [[name, holds === 'addresses' ? [] : '']],
    ),
  ),
})

/** Receiver without secrets, as others may see the screen. */
export const receiverOf = (action: Json): string =>
  receiverParameters(textAt(action, 'type') ?? '')
    .filter(([, { holds, form, optional }]) => holds === 'addresses' || holds === 'url' || (form && !optional))
    .map(([name, { secret, holds }]) => {
      const value = valueAt(action, `parameters.${name}`)
      if (holds === 'key') return value ? (textAt(action, 'type') ?? '') : ''
      if (Array.isArray(value)) return value.join(', ')
      const url = String(value ?? '')
      try {
        const { origin, pathname } = new URL(url)
        return secret ? origin : origin + decodeURI(pathname)
      } catch {
        return url
      }
    })
    .filter(Boolean)
    .join(', ')

export const emptyRule = (network: string): JsonObject => {
  const [technology = '', blockchain = '', name = ''] = network.split('/')
  return {
    name: '',
    maxConfirmationCount: 3,
    ...{ technology, blockchain, network: name },
    config: { targetType: 'Event', targetMap: [firstCondition('Event')], alerts: [emptyAction()] },
  }
}

/** Members added by the server. */
const SERVERS = ['id', 'createdAt', 'updatedAt', 'triggerCount', 'idle', 'failing', 'warnings', 'cancelledDeliveries']

export const ownOf = (rule: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(rule).filter(([name]) => !SERVERS.includes(name)))

/** Sets a member, or removes it if undefined; other values become objects. */
export const withMember = (value: Json | undefined, name: string, member: Json | undefined): JsonObject => {
  const before = isJsonObject(value) ? value : {}
  if (member !== undefined) return { ...before, [name]: member }
  return Object.fromEntries(Object.entries(before).filter(([it]) => it !== name))
}

/** A natural number; what is none is kept, for the server to refuse. */
export const numberOrText = (text: string): Json => (/^\d{1,15}$/.test(text) ? Number(text) : text)

/** Sets a member of the config, or removes it if undefined. */
export const withConfig = (rule: JsonObject, name: string, member: Json | undefined): JsonObject =>
  withMember(rule, 'config', withMember(rule.config, name, member))

export const targetOf = (rule: Json): string => textAt(rule, 'config.targetType') ?? ''

/** Example rules for the demo chain; they begin with its first block, to have alerts at once. */
export const DEMO_NETWORK = 'ethereum/demo/local'

/** Address of `chainsieve receive`. */
const DEMO_RECEIVER = 'http://127.0.0.1:8700/alerts'

const offered = (name: string, targetType: string, targetMap: readonly Json[]): JsonObject => ({
  ...{ name, technology: 'ethereum', blockchain: 'demo', network: 'local', maxConfirmationCount: 3, startBlock: 0 },
  config: {
    targetType,
    targetMap: [...targetMap],
    alerts: [{ type: DEFAULT_RECEIVER, parameters: { url: DEMO_RECEIVER } }],
  },
})

const equals = (name: string, value: string) => ({ name, operator: 'Equals', value })
const ABOVE_2500 = { name: 'value', operator: 'Greater', value: '2500', useScaledValue: true }

export const OFFERS: readonly { name: string; what: string; rule: JsonObject }[] = [
  {
    name: 'alice',
    what: 'Alice sends two ether or more',
    rule: offered('Alice spends', 'Transaction', [
      equals('from', '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'),
      { name: 'value.coin', operator: 'Greater or Equal', value: '2' },
    ]),
  },
  {
    name: 'dollars',
    what: 'More than 2,500 demo dollars move',
    rule: offered('Large transfers of the demo dollar', 'Event', [
      equals('event', 'Transfer'),
      equals('address', '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'),
      { name: 'args', operator: INSPECT, operatorParameters: [ABOVE_2500] },
    ]),
  },
]

export interface RuleFault {
  path: string
  message: string
}

export const nameOfRule = ({ id, name }: { id: number; name: string }): string => name.trim() || `Rule ${id}`

export const ruleNetwork = ({ technology, blockchain, network }: JsonObject): string =>
  `${technology}/${blockchain}/${network}`

export type FaultAt = (path: string, options?: { inside?: boolean }) => string | undefined

/** `inside`: also faults of nested places. */
export const faultAt =
  (faults: readonly RuleFault[]): FaultAt =>
  (path, { inside = false } = {}) =>
    faults.find(
      it => it.path === path || (inside && (it.path.startsWith(`${path}[`) || it.path.startsWith(`${path}.`))),
    )?.message

/** Path of a selected field. */
export type Way = readonly string[]

export const wayKey = (way: Way): string => JSON.stringify(way)

export const waysOf = (payload: Json | undefined, before: Way = []): Way[] =>
  (Array.isArray(payload) ? payload : []).flatMap(item => {
    const way = [...before, textAt(item, 'fieldName') ?? '']
    return textAt(item, 'fieldType') === 'Sub Field' ? waysOf(member(item, 'subPayloads'), way) : [way]
  })

export const payloadOf = (ways: readonly Way[]): JsonObject[] => {
  const names = [...new Set(ways.map(([name = '']) => name))]
  return names.map((fieldName): JsonObject => {
    const below = ways.filter(way => way[0] === fieldName).map(way => way.slice(1))
    if (below.some(way => way.length === 0)) return { fieldType: 'Field', fieldName }
    return { fieldType: 'Sub Field', fieldName, subPayloads: payloadOf(below) }
  })
}

/** Selectable members; arguments go by name. */
export const membersFor = (value: Json): [name: string, value: Json][] => {
  if (isJsonObject(value)) return Object.entries(value)
  if (!Array.isArray(value)) return []
  return value.flatMap((item): [string, Json][] => {
    const name = textAt(item, 'name')
    const inner = member(item, 'value')
    return name === undefined || name === '' || inner === undefined ? [] : [[name, inner]]
  })
}

/** Selecting a field replaces selected members of it. */
export const toggleWay = (ways: readonly Way[], way: Way, chosen: boolean): Way[] => {
  const key = wayKey(way)
  const isWithin = (it: Way) => wayKey(it.slice(0, way.length)) === key
  const others = ways.filter(it => !isWithin(it))
  return chosen ? [...others, way] : others
}

export const MOST_LEVELS = 3

interface Difference {
  path: string
  base: Json | undefined
  mine: Json | undefined
  theirs: Json | undefined
  /** Default choice: the side that changed it. */
  choice: 'mine' | 'theirs'
  both: boolean
}

const CONFIG = 'config'

/** Conditions and receivers are merged as a whole: half of each would be nobody's rule. */
export const ruleDifferences = (base: JsonObject, mine: JsonObject, theirs: JsonObject): Difference[] => {
  const parts = (rule: JsonObject): [string, Json][] => [
    ...Object.entries(rule).filter(([name]) => name !== CONFIG),
    ...Object.entries(rule[CONFIG] ?? {}).map(([name, value]): [string, Json] => [`${CONFIG}.${name}`, value as Json]),
  ]
  const [was, own, others] = [base, mine, theirs].map(rule => new Map(parts(rule))) as [
    Map<string, Json>,
    Map<string, Json>,
    Map<string, Json>,
  ]
  const paths = [...new Set([...own.keys(), ...others.keys()])]
  return paths.flatMap((path): Difference[] => {
    const [before, my, their] = [was.get(path), own.get(path), others.get(path)]
    if (isSameJson(my, their)) return []
    const [mineChanged, theirsChanged] = [!isSameJson(before, my), !isSameJson(before, their)]
    const choice = mineChanged ? 'mine' : 'theirs'
    return [{ path, base: before, mine: my, theirs: their, choice, both: mineChanged && theirsChanged }]
  })
}

/** Their rule with the chosen parts of mine. */
export const mergedOf = (theirs: JsonObject, differences: readonly Difference[]): JsonObject =>
  differences.reduce((rule, { path, mine, choice }) => {
    if (choice === 'theirs') return rule
    const [first, inner] = path.startsWith(`${CONFIG}.`) ? [CONFIG, path.slice(CONFIG.length + 1)] : [path]
    return inner === undefined
      ? withMember(rule, first!, mine)
      : withMember(rule, CONFIG, withMember(rule[CONFIG], inner, mine))
  }, theirs)

const isSameJson = (a: Json | undefined, b: Json | undefined): boolean => stringifyJson(a) === stringifyJson(b)
