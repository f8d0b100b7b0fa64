import { createHash } from 'node:crypto'
import type { StoredAlert } from '../../alerts/alert.ts'
import { readSource } from '../../rules/notify/values.ts'
import type { Action, StoredRule } from '../../rules/rule.ts'
import type { AlertMessage, ChannelOf, MessageType } from '../channels/channel.ts'
import type { Db } from './file.ts'

/** Message parts that all states of an alert share. */
type MessageHead = Pick<AlertMessage, 'targetType' | 'confirmations' | 'entity' | 'when'>

/** Stores receivers and messages once each. */
export const createMessages = (db: Db) => {
  const addReceiver = db
    .prepare<[string, string, string, string, string], number>(
      `INSERT INTO receiver (action, channel, destination, target, shown) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (action) DO UPDATE SET destination = excluded.destination, shown = excluded.shown RETURNING id`,
    )
    .pluck()
  const addMessage = db.prepare('INSERT INTO message (network, alert, head, source) VALUES (?, ?, ?, ?)')
  const addSaid = db.prepare('INSERT INTO said (rule, revision, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')

  const receiverOf = (action: Action, channels: ChannelOf) => {
    const channel = channels.of(action)
    const destination = channel.destination(action)
    const id = addReceiver.get(
      JSON.stringify(action),
      action.type,
      destination,
      targetHash([action.type, action.parameters]),
      channel.shown(action),
    )!
    return { id, destination, combines: channel.combines === true }
  }

  const keepMessage = (network: string, rule: StoredRule, alert: StoredAlert): number => {
    addSaid.run(rule.id, rule.revision, JSON.stringify(saidBy(rule)))
    return Number(addMessage.run(network, alert.id, JSON.stringify(messageHead(alert)), alert.source).lastInsertRowid)
  }

  return { receiverOf, keepMessage }
}

interface Claimed {
  network: string
  alert: string
  type: MessageType
  repeat: number | null
  account: number
  destination: string
  changed_at: number
  action: string
  said: string
  head: string
  source: string
}

export const createLoad = (db: Db) => {
  const load = db.prepare<[number], Claimed>(
    `SELECT d.network, d.alert, d.type, d.repeat, d.account, d.destination, d.changed_at, r.action, s.text AS said, m.head, m.source
     FROM delivery d JOIN receiver r ON r.id = d.receiver JOIN message m ON m.id = d.message
       JOIN said s ON s.rule = d.rule AND s.revision = d.revision
     WHERE d.id = ?`,
  )
  return (deliveries: readonly number[]) => {
    const rows = deliveries.map(id => load.get(id)!)
    const { destination, account, action } = rows[0]!
    return { destination, account, action: JSON.parse(action) as Action, messages: rows.map(parseMessageRow) }
  }
}

export const saidBy = ({ id, input }: Pick<StoredRule, 'id' | 'input'>): AlertMessage['rule'] => ({
  id,
  name: input.name,
  version: input.version ?? null,
})

export const messageHead = (alert: StoredAlert): MessageHead => ({
  targetType: alert.targetType,
  confirmations: alert.confirmations,
  entity: { ...alert.entity, blockNumber: alert.block },
  ...(alert.when && { when: alert.when }),
})

const parseMessageRow = ({ said, head, source, ...row }: Claimed): AlertMessage => ({
  id: row.alert,
  type: row.type,
  ...(row.repeat !== null && { repeat: row.repeat }),
  network: row.network,
  timestamp: row.changed_at,
  rule: JSON.parse(said) as AlertMessage['rule'],
  ...(JSON.parse(head) as MessageHead),
  source: readSource(source),
})

const targetHash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
