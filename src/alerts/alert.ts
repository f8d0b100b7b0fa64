import type { Kind } from '../mapping/index.ts'
import type { Confirmations, TargetType } from '../rules/rule.ts'

/**
 * `pending` until the head is as far above as the rule asks, then `confirmed`, and fired. `withdrawn`: its block was reorganised away
 * before. `retracted`: after it had fired.
 */
export type AlertState = 'pending' | 'confirmed' | 'withdrawn' | 'retracted'

/** What a rule found in a block that is about to be stored. */
export interface RuleMatch {
  rule: number
  /** `matching` of the rule. */
  revision: number
  targetType: TargetType
  /** Blocks above the entity's own that must be stored before it fires, 0: at once; or the mark that must have reached it. */
  confirmations: Confirmations
  /** Also notifies while the alert is pending. */
  notifyPending: boolean
  block: number
  blockHash: string
  entity: { _id: string; _type: Kind }
  /** JSON text of the entity's whole `_source`. */
  source: string
  /** Epoch milliseconds at which the block was received. */
  receivedAt: number
  /** Of a rule of several networks: which this is, since two of them may have the same blocks. */
  network?: string | undefined
}

export interface StoredAlert extends Omit<RuleMatch, 'notifyPending' | 'network'> {
  /** Hash of rule, revision, chain, block and entity: the same alert has the same id however often it is found. */
  id: string
  state: AlertState
  /** Epoch milliseconds of the last change of state. */
  changedAt: number
}

/** A message about an alert to its receivers. Numbers grow, and are never reused in one store. */
export interface OutboxEntry {
  n: number
  type: 'pending' | 'confirmed' | 'retracted'
  alert: StoredAlert
}
