import type { RuleConfig } from '../rule.ts'
import { type Grouping, groupingOf } from './group.ts'
import { quietOf } from './quiet.ts'

/** What happens to an alert; `source` is the JSON text of its document, which it has until its end. */
export type AlertEvent = { alert: number; block: number /** Epoch seconds of the block. */; time: number } & (
  | { type: 'opened'; network: string; source: string }
  | { type: 'repeated' | 'ended' }
)

/** How a receiver gets messages. */
export interface ReceiverOfMessages {
  /** Whether `group` holds for it. */
  groups: boolean
  /** How long messages wait without a group, to be one. */
  digestMs: number
}

/** Counts the messages that a receiver of a rule would have got, as if each block were final at once. */
export const createMessageCount = (
  { config, pending }: { config: RuleConfig; pending: boolean },
  { groups, digestMs }: ReceiverOfMessages,
) => {
  const { notify, targetType } = config
  /** Of messages before those of confirmed alerts, and of the others. */
  const streams = { early: createJoinedMessages(), late: createJoinedMessages() }
  const digest = digestMs > 0 ? { key: '', size: Number.POSITIVE_INFINITY, waitMs: digestMs } : undefined
  /** Of alerts of which more is told. */
  const open = new Map<number, Grouping>()
  const groupOf = (event: AlertEvent): Grouping | undefined => {
    if (event.type !== 'opened') return open.get(event.alert)
    const grouping = (groups ? groupingOf(notify?.group, { ...event, targetType }) : undefined) ?? digest
    if ((notify?.resolved === true || notify?.again) && grouping) open.set(event.alert, grouping)
    return grouping
  }
  return {
    add(event: AlertEvent) {
      const grouping = groupOf(event)
      if (event.type === 'ended') open.delete(event.alert)
      if (event.type === 'ended' && notify?.resolved !== true) return
      if (pending && event.type === 'opened') streams.early.add(event, grouping)
      streams.late.add(event, grouping)
    },
    count: (): number => streams.early.count() + streams.late.count(),
  }
}

const createJoinedMessages = () => {
  const waiting = new Map<string, { until: number; alerts: Map<number, AlertEvent['type']> }>()
  let sent = 0
  return {
    add({ alert, type, time }: AlertEvent, grouping: Grouping | undefined) {
      if (!grouping) return void sent++
      const { key, size, waitMs } = grouping
      let group = waiting.get(key)
      if (group && time >= group.until) {
        sent++
        group = undefined
      }
      // An alert of which more is told before it was told is told once, as it opened or ended.
      if (type === 'repeated' && group?.alerts.get(alert) === 'opened') return
      if (type !== 'opened' && group?.alerts.delete(alert) && group.alerts.size === 0) group = undefined
      group ??= { until: time + waitMs / 1_000, alerts: new Map() }
      group.alerts.set(alert, type)
      waiting.set(key, group)
      if (group.alerts.size < size) return
      sent++
      waiting.delete(key)
    },
    count: (): number => sent + waiting.size,
  }
}

/** Which matches, in the order of the chain, are alerts: `quiet` keeps others back. */
export const createQuietFilter = (config: RuleConfig) => {
  const last = new Map<string, { block: number; time: number }>()
  return ({ block, time, source }: { block: number; time: number; source: string }): boolean => {
    const quiet = quietOf(config, source)
    if (!quiet) return true
    const before = last.get(quiet.key)
    if (
      before &&
      (quiet.blocks === undefined ? time - before.time < quiet.seconds! : block - before.block < quiet.blocks)
    )
      return false
    last.set(quiet.key, { block, time })
    return true
  }
}
