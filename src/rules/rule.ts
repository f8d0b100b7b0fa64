import type { Kind } from '../mapping/index.ts'
import type { Receiver } from './channels.ts'

/** An alerting rule as its owner wrote it (see `schema.ts` for what is checked), and as it is stored. */

/** What a rule may look at, and the kind of entity that it is. */
export const TARGET_KINDS = {
  Event: 'event',
  Log: 'log',
  Transaction: 'tx',
  Call: 'call',
  Contract: 'contract',
  Token: 'token',
  Trace: 'trace',
  /** Of a transaction's own. */
  Method: 'call',
  Block: 'block',
} as const satisfies Record<string, Kind>

export type TargetType = keyof typeof TARGET_KINDS
export const TARGET_TYPES = Object.keys(TARGET_KINDS) as readonly TargetType[]

export const OPERATORS = [
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
export type Operator = (typeof OPERATORS)[number]

/** A condition of any of the three levels. */
export interface Condition {
  name: string
  operator: Operator
  /** A list with the two `Equals any`, absent with `Inspect`. */
  value?: string | string[]
  /** Second level only. */
  useScaledValue?: boolean
  /** With `Inspect` only. */
  operatorParameters?: Condition[] | null
}

export type PayloadItem =
  | { fieldType: 'Field'; fieldName: string; subPayloads?: null }
  | { fieldType: 'Sub Field'; fieldName: string; subPayloads: PayloadItem[] }

export type Action = { payload?: PayloadItem[] } & Receiver

/** Marks of finality that nodes tell as tags of blocks. */
export const FINALITY_TAGS = ['safe', 'finalized'] as const
export type FinalityTag = (typeof FINALITY_TAGS)[number]
/** What an alert waits for: blocks above its own, or that a node tells its block to be safe or finalized. */
export type Confirmations = number | FinalityTag

export interface RuleConfig {
  targetType: TargetType
  targetMap: Condition[]
  alerts: Action[]
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
  /** First block that the rule looks at; by default the one above all blocks that are known when the rule is created. */
  startBlock?: number | null
  /** Also notifies of a match while it is pending. */
  notifyPending?: boolean
  /** Other properties that its owner keeps with it. */
  [further: string]: unknown
}

export interface StoredRule {
  id: number
  account: number
  /** Grows with every change: the rule's ETag. */
  revision: number
  /** Grows with changes of what is matched, so that a new name makes no alert a second time. Part of every alert's id. */
  matching: number
  enabled: boolean
  /** `technology/blockchain/network`, or the pattern of several; see networks.ts. */
  network: string
  /**
   * First block that it looks at; null while the network's head is not known: it is fixed when the head is first followed. Of several networks
   * each fixes its own, and this stays null.
   */
  startBlock: number | null
  input: RuleInput
  /** Why it cannot be worked with, in sentences; it is paused then, and its input says nothing. */
  unfit?: string
  /** Epoch milliseconds. */
  createdAt: number
  updatedAt: number
}

/** The networks of a rule: one by its name, or several by patterns, part by part: `ethereum/ethereum,base/mainnet`. */

/** `technology/blockchain/network` of a rule, or the pattern of several. */
export const networkOf = ({ technology, blockchain, network }: RuleInput): string =>
  [technology, blockchain, network].map(textOf).join('/')
/** In one order, so that the same networks have one name. */
const textOf = (names: NetworkNames): string => (typeof names === 'string' ? names : [...names].sort().join(','))
/** Whether it is the pattern of several. */
export const isWide = (network: string): boolean => /[*,]/.test(network)
/** Whether a rule of that network, or of several by a pattern, looks at this one. */
export const covers = (rule: string, network: string): boolean => {
  if (!isWide(rule)) return rule === network
  const [wanted, parts] = [rule.split('/'), network.split('/')]
  return (
    parts.length === wanted.length && wanted.every((part, i) => part === '*' || part.split(',').includes(parts[i]!))
  )
}
/** Names in lists that no network has in their place, as `blockchain: bsae`. */
export const unknownNames = (rule: string, networks: readonly string[]): string[] => {
  if (!isWide(rule)) return []
  const known = networks.map(network => network.split('/'))
  return rule
    .split('/')
    .flatMap((names, i) =>
      names.split(',').flatMap(name => (name === '*' || known.some(parts => parts[i] === name) ? [] : [name])),
    )
}
