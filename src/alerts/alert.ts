import type { Kind } from '../mapping/index.ts'
import type { Quiet } from '../rules/notify/quiet.ts'
import type { Confirmations, FinalityTag, TargetType } from '../rules/rule.ts'
import type { ShownStep } from '../windows/sequence.ts'
import type { ShownCondition } from '../windows/spec.ts'

/**
 * `pending`, then `confirmed`; a reorg turns these into `withdrawn` and `retracted`. `resolved`: of a
 * rule with windows, confirmed, and its conditions hold no longer.
 */
export type AlertState = 'pending' | 'confirmed' | 'withdrawn' | 'retracted' | 'resolved'

export interface RuleMatch {
  rule: number
  /** `matching` of the rule. */
  revision: number
  targetType: TargetType
  /** Blocks required above that of the entity, or the finality tag that must reach it. */
  confirmations: Confirmations
  notifyPending: boolean
  block: number
  blockHash: string
  entity: { _id: string; _type: Kind | 'state' }
  /** JSON text of the entity's whole `_source`. */
  source: string
  /** Epoch milliseconds at which the block was received. */
  receivedAt: number
  /** Set for a rule of several networks, since two of them may have the same blocks. */
  network?: string | undefined
  /** Set for a rule with `notify.quiet`. */
  quiet?: Quiet | undefined
  /** Set for an alert of windows: its key and values. */
  when?: AlertWindow | undefined
  /** Set for a rule over several networks: its alerts are not due before the others are as deep. */
  waits?: true
}

/** What a window had when it opened an alert. */
export interface AlertWindow {
  /** By the names of `by`. */
  key: Readonly<Record<string, string | null>>
  /** Over several networks, which share no block numbers, it has times in epoch seconds. */
  window: {
    fromBlock?: number
    toBlock?: number
    fromTime?: number
    toTime?: number
    blocks?: number
    seconds?: number
  }
  conditions: ShownCondition[]
  matches: number
  /** Ids of the first matches. */
  entities: string[]
  late: false
  /** Of a rule with steps; `missing`: the one that did not come. */
  steps?: ShownStep[]
  /** Where the conditions held no longer. */
  ended?: { network?: string; block: number; conditions: ShownCondition[] }
}

export interface StoredAlert extends Omit<RuleMatch, 'notifyPending' | 'network' | 'quiet' | 'waits'> {
  /** Hash of rule, revision, chain, block and entity, which deduplicates (idempotent) matches. */
  id: string
  state: AlertState
  /** Epoch milliseconds of the last change of state. */
  changedAt: number
}

/** A message about an alert to its receivers. Numbers grow, and are never reused in one store. */
export interface OutboxEntry {
  n: number
  /** `reopened`: a reorg undid what had resolved it. */
  type: 'pending' | 'confirmed' | 'retracted' | 'resolved' | 'reopened' | 'repeated'
  /** Of `repeated` with what it had in that block. */
  alert: StoredAlert
  /** Of `repeated`: the block. */
  repeat?: number
}

/** The index of a state or type is its number in the store. */
export const STATES: readonly AlertState[] = ['pending', 'confirmed', 'withdrawn', 'retracted', 'resolved']
export const TYPES: readonly OutboxEntry['type'][] = [
  ...(['pending', 'confirmed', 'retracted', 'resolved', 'reopened', 'repeated'] as const),
]

/** Finality tags as numbers in the column of confirmations. */
const TAGS: Readonly<Record<FinalityTag, number>> = { safe: -1, finalized: -2 }
export const toStored = (confirmations: Confirmations): number =>
  typeof confirmations === 'number' ? confirmations : TAGS[confirmations]
export const fromStored = (stored: number): Confirmations =>
  stored === -1 ? 'safe' : stored === -2 ? 'finalized' : stored

/** Offsets in the column `due` of blocks that wait for a finality tag, above all block numbers. */
const DUE: Readonly<Record<FinalityTag, number>> = { safe: 2 ** 40, finalized: 2 ** 41 }
/** Value of `due`: the head that confirms the alert, or the block plus the offset of its tag. */
export const dueOf = (block: number, confirmations: Confirmations): number =>
  typeof confirmations === 'number' ? block + confirmations : DUE[confirmations] + block
/** `due` of what waits for other networks: beyond all blocks and tags. */
export const NOT_DUE = Number.MAX_SAFE_INTEGER

export interface AlertRow {
  n: number
  id: string
  rule: number
  revision: number
  target: string
  confirmations: number
  block: number
  block_hash: Buffer
  kind: string
  document: string
  source: string
  state: number
  received_at: number
  changed_at: number
  windows: string | null
}

export const toAlert = (row: AlertRow): StoredAlert => ({
  id: row.id,
  rule: row.rule,
  revision: row.revision,
  targetType: row.target as TargetType,
  confirmations: fromStored(row.confirmations),
  block: row.block,
  blockHash: `0x${row.block_hash.toString('hex')}`,
  entity: { _id: row.document, _type: row.kind as Kind | 'state' },
  source: row.source,
  receivedAt: row.received_at,
  state: STATES[row.state]!,
  changedAt: row.changed_at,
  ...(row.windows !== null && { when: JSON.parse(row.windows) as AlertWindow }),
})
