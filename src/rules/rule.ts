import { isRecord } from '../lib/arrays.ts'
import type { Kind } from '../mapping/index.ts'
import type { NewestSpec, WindowSpan, WindowSpec } from '../windows/spec.ts'
import { type AlertReceiver, type CHANNEL_ALIASES, type ChannelAlias, channelNamed } from './channels.ts'
import type { ReadConfig } from './state/call.ts'
import { lookedFor, type SequenceSpec } from './windows/steps.ts'

/** Kind of entity for each rule target. */
export const TARGET_KINDS = {
  Event: 'event',
  Log: 'log',
  Transaction: 'tx',
  Call: 'call',
  Contract: 'contract',
  Token: 'token',
  Trace: 'trace',
  /** The transaction's own call. */
  Method: 'call',
  Block: 'block',
} as const satisfies Record<string, Kind>

/** `State`: what a node says of accounts and contracts at a block, which is no document of the store. */
export type TargetType = keyof typeof TARGET_KINDS | 'State'
export const DOCUMENT_TARGETS = Object.keys(TARGET_KINDS) as readonly (keyof typeof TARGET_KINDS)[]
export const TARGET_TYPES: readonly TargetType[] = [...DOCUMENT_TARGETS, 'State']

/** Kind of document that a rule looks at; a caller must not ask this of `State`. */
export const kindOfTarget = (target: TargetType): Kind => {
  if (target === 'State') throw new Error('readings of state are no documents of the store')
  return TARGET_KINDS[target]
}

export const RULE_OPERATORS = [
  'Greater',
  'Greater or Equal',
  'Less',
  'Less or Equal',
  'Equals',
  'Equals (ignore case)',
  'Equals any',
  'Equals any (ignore case)',
  'Inspect',
] as const
export type RuleOperator = (typeof RULE_OPERATORS)[number]
/** Of `Or` one condition holds, of `Not` none. */
export const LOGIC_OPERATORS = ['Or', 'Not'] as const

/** The values of a watch list of the account. */
export interface ListValue {
  list: string
}

export interface NamedCondition {
  name: string
  operator: RuleOperator
  /** A list with the two `Equals any`, also a watch list; absent with `Inspect`. */
  value?: string | string[] | ListValue
  /** Second level only. */
  useScaledValue?: boolean
  /** With `Inspect` of a list: one of its elements meets all conditions. */
  sameElement?: boolean
  /** With `Inspect` only. */
  operatorParameters?: RuleCondition[] | null
}

/** Conditions of its level, of which one holds, or none. */
export interface LogicCondition {
  name?: undefined
  operator: (typeof LOGIC_OPERATORS)[number]
  value?: undefined
  operatorParameters: RuleCondition[]
}

export type RuleCondition = NamedCondition | LogicCondition

export const isListValue = (value: unknown): value is ListValue => isRecord(value) && typeof value.list === 'string'

/** Names of the watch lists that a rule uses. */
export const listsIn = (config: RuleConfig): string[] => [
  ...new Set(
    [...lookedFor(config).flatMap(({ targetMap }) => targetMap), ...endsOfState(config)].flatMap(function named({
      value,
      operatorParameters,
    }: RuleCondition): string[] {
      return [...(isListValue(value) ? [value.list] : []), ...(operatorParameters ?? []).flatMap(named)]
    }),
  ),
]

const endsOfState = ({ targetType, when }: RuleConfig): RuleCondition[] =>
  targetType === 'State' ? ((when as NewestSpec<RuleCondition> | undefined)?.resolve ?? []) : []

export const isLogic = (condition: RuleCondition): condition is LogicCondition =>
  LOGIC_OPERATORS.some(operator => operator === condition.operator)

export type PayloadItem =
  | { fieldType: 'Field'; fieldName: string; subPayloads?: null }
  | { fieldType: 'Sub Field'; fieldName: string; subPayloads: PayloadItem[] }

export type Action = { payload?: PayloadItem[]; message?: string } & AlertReceiver

/** An action as its owner wrote it. */
export type WrittenAction =
  | Action
  | {
      [A in ChannelAlias]: Omit<Extract<Action, { type: (typeof CHANNEL_ALIASES)[A] }>, 'type'> & { type: A }
    }[ChannelAlias]

/** The actions of a rule, each with the type that is meant. */
export const actionsOf = ({ config: { alerts } }: Pick<RuleInput, 'config'>): Action[] =>
  alerts.map(action => ({ ...action, type: channelNamed(action.type) }) as Action)

/** Tags by which nodes name final blocks. */
export const FINALITY_TAGS = ['safe', 'finalized'] as const
export type FinalityTag = (typeof FINALITY_TAGS)[number]
/** Blocks above the match, or a tag that its block must have reached. */
export type Confirmations = number | FinalityTag

export interface RuleConfig {
  targetType: TargetType
  targetMap: RuleCondition[]
  alerts: WrittenAction[]
  /** Windows over the matches, steps that follow each other, or with `State` the verdict of readings; absent: every match is an alert. */
  when?: WindowSpec | SequenceSpec | NewestSpec<RuleCondition>
  /** With `State` only, and always there. */
  read?: ReadConfig
  notify?: NotifyConfig
}

export interface NotifyConfig {
  /** After an alert for these values, none for so many blocks, or seconds of the chain's time. */
  quiet?: { by?: string[]; blocks?: number; seconds?: number }
  /** Alerts with these values within a time are one message. `network` is that of the alert. */
  group?: { by?: string[]; wait: { seconds: number }; size?: number }
  /** Tells when the conditions of `when` hold no longer. */
  resolved?: boolean
  /** Tells an alert of windows or readings again, so long after it opened or was last repeated. */
  again?: { after: WindowSpan; if?: 'Worse' }
}

/** One part of the names of networks: a name, `*` for any, or several names. */
export type NetworkNames = string | readonly string[]

export interface RuleInput {
  name: string
  maxConfirmationCount: Confirmations
  technology: NetworkNames
  blockchain: NetworkNames
  network: NetworkNames
  config: RuleConfig
  version?: number
  description?: string | null
  enabled?: boolean
  /** First block that the rule looks at; by default the next one after it was created. */
  startBlock?: number | null
  /** Also notifies of pending matches. */
  notifyPending?: boolean
  /** What rules of the original service call `notifyPending`, which has precedence. */
  sendPendingAlerts?: boolean
  /** Other properties of the owner's. */
  [further: string]: unknown
}

export interface StoredRule {
  id: number
  account: number
  /** Grows with every change: the rule's ETag. */
  revision: number
  /** Grows with each change of the conditions. Part of alert ids, so renaming repeats no alert. */
  matching: number
  enabled: boolean
  /** `technology/blockchain/network`, or a pattern for several. */
  network: string
  /**
   * First block that it looks at; null until the network's head is known, and for several networks,
   * each of which has its own.
   */
  startBlock: number | null
  input: RuleInput
  /** Why it cannot be used, in sentences; it is paused then, and its input is empty. */
  unfit?: string
  /** Epoch milliseconds. */
  createdAt: number
  updatedAt: number
}

export const notifiesPending = ({
  notifyPending,
  sendPendingAlerts,
}: Pick<RuleInput, 'notifyPending' | 'sendPendingAlerts'>): boolean => notifyPending ?? sendPendingAlerts ?? false

export const networkOf = ({ technology, blockchain, network }: RuleInput): string =>
  [technology, blockchain, network].map(networkNamesText).join('/')
/** Sorted: equal networks then have equal names. */
const networkNamesText = (names: NetworkNames): string =>
  typeof names === 'string' ? names : [...names].sort().join(',')
/** Whether it is the pattern of several networks. */
export const isWide = (network: string): boolean => /[*,]/.test(network)
export const covers = (rule: string, network: string): boolean => {
  if (!isWide(rule)) return rule === network
  const [wanted, parts] = [rule.split('/'), network.split('/')]
  return (
    parts.length === wanted.length && wanted.every((part, i) => part === '*' || part.split(',').includes(parts[i]!))
  )
}
/** Names in a pattern that no network has in that part, as `blockchain: bsae`. */
export const unknownNames = (rule: string, networks: readonly string[]): string[] => {
  if (!isWide(rule)) return []
  const known = networks.map(network => network.split('/'))
  return rule
    .split('/')
    .flatMap((names, i) =>
      names.split(',').flatMap(name => (name === '*' || known.some(parts => parts[i] === name) ? [] : [name])),
    )
}
