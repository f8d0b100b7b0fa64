import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AlertState, OutboxEntry, StoredAlert } from '../../src/alerts/alert.ts'
import type { Outbox } from '../../src/alerts/outbox.ts'
import type { AlertMessage, Channel, ChannelOf, SendContext, SendOutcome } from '../../src/delivery/channels/channel.ts'
import { createChannels } from '../../src/delivery/channels/index.ts'
import type { DueDelivery, Queue } from '../../src/delivery/ledger/queue.ts'
import type { DeliveryState } from '../../src/delivery/ledger/records.ts'
import { type DeliveryStore, openDeliveries } from '../../src/delivery/ledger/store.ts'
import { createWorker, type DeliveryWorker, type WorkerOptions } from '../../src/delivery/worker.ts'
import { silent } from '../../src/lib/log.ts'
import type { Action, StoredRule } from '../../src/rules/rule.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** Builders with defaults for what goes into a delivery, and receivers that need no network. */

export const NETWORK = 'ethereum/made-up/mainnet'

export const ACCOUNT = 7

/** What is due in a lane, what was never tried first. */
export const dueIn = (store: Pick<Queue, 'due'>, destination: string, now: number, limit: number): DueDelivery[] =>
  (['first', 'again'] as const)
    .flatMap(turn => store.due({ account: ACCOUNT, destination }, turn, now, limit))
    .slice(0, limit)

export const makeAlert = (id: string, over: Partial<StoredAlert> = {}): StoredAlert => ({
  id,
  rule: 1,
  revision: 1,
  targetType: 'Event',
  confirmations: 0,
  block: 100,
  blockHash: `0x${'b1'.repeat(32)}`,
  entity: { _id: `0x${'7c'.repeat(32)}_e_0`, _type: 'event' },
  source: '{"event":"Transfer","amount":18446744073709551615}',
  state: 'confirmed',
  receivedAt: 1_000,
  changedAt: 2_000,
  ...over,
})

export const post = (url: string): Action => ({ type: 'Webhook (POST)', parameters: { url } })
export const mail = (...recipients: string[]): Action => ({ type: 'Email', parameters: { recipients } })

export const makeRule = (id: number, alerts: Action[], over: Partial<StoredRule> = {}): StoredRule => ({
  id,
  account: ACCOUNT,
  revision: 1,
  matching: 1,
  enabled: true,
  network: NETWORK,
  startBlock: 0,
  createdAt: 0,
  updatedAt: 0,
  input: {
    name: `rule ${id}`,
    maxConfirmationCount: 0,
    technology: 'ethereum',
    blockchain: 'made-up',
    network: 'mainnet',
    config: { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }], alerts },
  },
  ...over,
})

export const makeMessage = (over: Partial<AlertMessage> = {}): AlertMessage => ({
  id: 'a1'.repeat(32),
  type: 'alert.confirmed',
  rule: { id: 7, name: 'Whales', version: null },
  network: 'ethereum/ethereum/mainnet',
  targetType: 'Event',
  confirmations: 3,
  entity: { _id: '0xab_e_1', _type: 'event', blockNumber: 12 },
  source: { event: 'Transfer', amount: 5 },
  timestamp: Date.parse('2026-01-02T03:04:05.678Z'),
  ...over,
})

export const makeContext = (over: Partial<SendContext> = {}): SendContext => ({
  ...{ account: ACCOUNT, secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], now: 0 },
  signal: new AbortController().signal,
  ...over,
})

/** The channels as they are, which may reach receivers on loopback. */
export const openChannels = (
  t: { after(fn: () => unknown): void },
  options: Partial<Parameters<typeof createChannels>[0]> = {},
) => {
  const channels = createChannels({ allowed: ['127.0.0.0/8'], smtp: undefined, mailFrom: undefined, ...options })
  t.after(() => channels.close())
  return channels
}

/** An outbox in memory, to which entries are added while others read. */
export interface FakeOutbox extends Pick<Outbox, 'identity' | 'after' | 'last' | 'version'> {
  entries: OutboxEntry[]
  add(type: OutboxEntry['type'], alert: StoredAlert, repeat?: number): void
}

export const makeOutbox = (identity = 'store-1'): FakeOutbox => {
  const entries: OutboxEntry[] = []
  const states: Record<OutboxEntry['type'], AlertState> = {
    pending: 'pending',
    confirmed: 'confirmed',
    retracted: 'retracted',
    resolved: 'resolved',
    reopened: 'confirmed',
    repeated: 'confirmed',
  }
  return {
    identity,
    entries,
    // Numbers need not be without gaps.
    add: (type, alert, repeat) =>
      void entries.push({
        ...{ n: entries.length * 3 + 1, type, alert: { ...alert, state: states[type] } },
        ...(repeat !== undefined && { repeat }),
      }),
    after(n, limit) {
      let [low, high] = [0, entries.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (entries[middle]!.n > n) high = middle
        else low = middle + 1
      }
      return entries.slice(low, low + limit)
    },
    last: () => entries.at(-1)?.n ?? 0,
    version: () => entries.length,
  }
}

export interface Sent {
  action: Action
  messages: readonly AlertMessage[]
  context: SendContext
}

/** Channels that ask a function what becomes of an attempt. `sent` holds them in the order in which they began. */
export const makeChannels = (
  answer: (sent: Sent) => SendOutcome | Promise<SendOutcome> = () => DELIVERED,
): ChannelOf & { sent: Sent[] } => {
  const sent: Sent[] = []
  const channel = (combines: boolean): Channel => ({
    groups: () => true,
    ...(combines && { combines }),
    destination: ({ parameters }) => ('url' in parameters && parameters.url) || 'smtp://mail',
    shown: ({ parameters }) =>
      'recipients' in parameters ? parameters.recipients.join() : new URL(parameters.url ?? 'http://default').host,
    async send(action, messages, context) {
      const one = { action, messages, context }
      sent.push(one)
      return answer(one)
    },
  })
  const [single, combined] = [channel(false), channel(true)]
  return { sent, of: ({ type }) => (type === 'Email' ? combined : single) }
}

export const DELIVERED: SendOutcome = { type: 'delivered', status: 200, head: 'ok' }
export const FAILED: SendOutcome = { type: 'retry', why: 'it answered 500', status: 500, head: 'oh' }
export const GONE: SendOutcome = { type: 'gone', why: 'it answered 410', status: 410, head: '' }
export const REFUSED: SendOutcome = { type: 'refused', why: 'the target is inward' }

export const hang = ({ context: { signal } }: Sent): Promise<SendOutcome> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

export const dataFolder = async (t: { after(fn: () => Promise<void>): void }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** How many deliveries are in each state; tests of rules aside. */
export const statesIn = (store: Pick<DeliveryStore, 'list'>): Partial<Record<DeliveryState, number>> => {
  const told = store.list({ limit: 1_000_000 }).filter(({ type }) => type !== 'alert.test')
  return Object.fromEntries([...Map.groupBy(told, ({ state }) => state)].map(([state, list]) => [state, list.length]))
}

/** Workers over one store and an outbox in memory, in time that is let go by. */
export const setUpWorker = async (
  t: { after(fn: () => void | Promise<void>): void },
  options: Partial<Omit<WorkerOptions, 'clock' | 'store'>> = {},
) => {
  const clock = createVirtualClock()
  const outbox = makeOutbox()
  const store = openDeliveries(await dataFolder(t), { now: clock.now })
  t.after(() => store.close())
  const start = () =>
    createWorker({
      ...{ store, clock, log: silent, channels: makeChannels(), outboxes: () => new Map([[NETWORK, outbox]]) },
      ...{ rules: () => undefined, secrets: () => [] },
      ...options,
      options: { digestMs: 0, ...options.options },
    })
  const stop = async (worker: DeliveryWorker) => {
    const stopped = worker.stop()
    await clock.run(60_000)
    await stopped
  }
  const confirm = (...ids: string[]) => {
    for (const id of ids) outbox.add('confirmed', makeAlert(id, { receivedAt: clock.now() }))
  }
  return { clock, outbox, store, start, stop, confirm }
}
