import type { Kind } from '../mapping/index.ts'
import type { TargetType } from '../rules/rule.ts'
import type { AlertState, OutboxEntry, StoredAlert } from './alert.ts'

/** States and types as they are numbered in the store. */
export const STATES: readonly AlertState[] = ['pending', 'confirmed', 'withdrawn', 'retracted']
export const TYPES: readonly OutboxEntry['type'][] = ['pending', 'confirmed', 'retracted']

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
}

export const toAlert = (row: AlertRow): StoredAlert => ({
  id: row.id,
  rule: row.rule,
  revision: row.revision,
  targetType: row.target as TargetType,
  confirmations: row.confirmations,
  block: row.block,
  blockHash: `0x${row.block_hash.toString('hex')}`,
  entity: { _id: row.document, _type: row.kind as Kind },
  source: row.source,
  receivedAt: row.received_at,
  state: STATES[row.state]!,
  changedAt: row.changed_at,
})
