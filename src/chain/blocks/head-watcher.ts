import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock, withTimeout } from '../../lib/retry.ts'
import { secretUrl } from '../../lib/secret.ts'
import type { HeadBudget } from '../budget/head-budget.ts'
import { type Head, parseBody, toHead } from '../rpc/answers.ts'
import { type Connection, openConnection } from '../rpc/connection.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { type Rpc, STRIDE } from '../rpc/rpc.ts'
import { createHider, describeNetwork, parseNodeUrl } from '../rpc/transport.ts'
import type { EndpointStatus } from '../source.ts'

export type Heads = ReturnType<typeof createHeads>

interface HeadsOptions {
  rpc: Rpc
  budget: HeadBudget
  /** Poll interval. Default: a sixth of the block time, between 100 ms and 2 s. */
  pollMs?: number
  safetyPollMs?: number | undefined
  announcing?: Pick<Endpoint, 'head'> | undefined
  clock: Clock
}

/** Waits for a new head: by WebSocket announcements (newHeads), and by polling. */
export const createHeads = (options: HeadsOptions) => {
  const { rpc, budget, pollMs, safetyPollMs = SAFETY_POLL_MS, announcing, clock } = options
  let pushed: Head | undefined
  let highest = -1
  /** Times that schedule polls, by `clock.elapsed`. */
  let pushedAt = Number.NEGATIVE_INFINITY
  let onSilence: (() => void) | undefined
  let due = Number.NEGATIVE_INFINITY
  let wake: (() => void) | undefined
  let blockMs = 6_000
  let movedAt: number | undefined

  const moved = (head: Head) => {
    const now = clock.elapsed()
    if (head.number > highest) {
      // Each new block is weighted once: the block time of a fast chain is known after a few polls.
      const before = 0.8 ** (head.number - highest)
      if (highest >= 0 && movedAt !== undefined)
        blockMs = blockMs * before + ((now - movedAt) / (head.number - highest)) * (1 - before)
      if (highest >= 0) budget.came(head.number - highest, blockMs)
      highest = head.number
      movedAt = now
    }
  }
  const untilDue = () => (movedAt === undefined ? 0 : movedAt + blockMs * EARLY - clock.elapsed())
  const interval = () => {
    const active = pollMs ?? Math.max(Math.min(Math.max(blockMs / 6, 100), 2_000), rpc.isSparing ? untilDue() : 0)
    return onSilence === undefined ? active : Math.max(active, safetyPollMs)
  }
  const wait = async (ms: number, signal: AbortSignal) => {
    const controller = new AbortController()
    wake = () => controller.abort()
    try {
      await clock.sleep(ms, AbortSignal.any([signal, controller.signal]))
    } catch (error) {
      if (signal.aborted || !controller.signal.aborted) throw error
    } finally {
      wake = undefined
    }
  }

  const poke = () => {
    due = Number.NEGATIVE_INFINITY
    wake?.()
  }

  return {
    /** The newest announced head since the last call, or a polled one; undefined on failure. */
    async next(signal: AbortSignal): Promise<Head | undefined> {
      for (;;) {
        signal.throwIfAborted()
        const now = clock.now()
        const restsUntil = budget.restsUntil()
        if (now < restsUntil) {
          // Sleeps in short steps: the clock may be set, and timers have a maximum.
          await wait(Math.min(restsUntil - now, LONGEST_REST_MS), signal)
          continue
        }
        if (pushed !== undefined) {
          const head = pushed
          pushed = undefined
          budget.looks()
          return head
        }
        const untilPoll = due - clock.elapsed()
        if (untilPoll > 0) {
          await wait(untilPoll, signal)
          continue
        }
        budget.looks()
        const before = highest
        let head: Head | undefined
        try {
          head = await rpc.attempt(endpoint => rpc.headOf(endpoint, signal), signal, {
            tries: rpc.endpoints.length,
            urgent: true,
          })
          moved(head)
        } catch (error) {
          if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        }
        due = clock.elapsed() + interval()
        if (head !== undefined && head.number > before && clock.elapsed() - pushedAt > SAFETY_POLL_MS) onSilence?.()
        return head
      }
    },
    /** Makes the next call poll at once. */
    poke,
    /** Announcements begin; `notify` is called if they stop while the chain advances. */
    attach(notify: () => void) {
      onSilence = notify
      pushedAt = clock.elapsed()
      poke()
    },
    detach() {
      onSilence = undefined
      poke()
    },
    push(head: Head) {
      if (head.number > highest + STRIDE) return poke()
      pushed = head
      pushedAt = clock.elapsed()
      if (announcing) announcing.head = { ...head, at: pushedAt }
      moved(head)
      due = pushedAt + interval()
      wake?.()
    },
  }
}

const LONGEST_REST_MS = 60_000
const EARLY = 0.9

/** Poll interval during announcements, in case they stop unnoticed. */
const SAFETY_POLL_MS = 10_000

interface AnnouncerOptions {
  url: string
  timeoutMs: number
  log: Log
  clock: Clock
  random: () => number
}

export const createAnnouncer = ({ url: text, timeoutMs, log, clock, random }: AnnouncerOptions) => {
  const url = parseNodeUrl(text, ['ws:', 'wss:', 'ipc:'])
  const name = secretUrl(text).toString()
  const hide = createHider(url)
  const status: EndpointStatus = { url: name, lastError: null, lastErrorAt: null, requests: 0, errors: 0, heads: true }

  return {
    status: (): EndpointStatus => ({ ...status }),
    async run(heads: Omit<Heads, 'next'>, signal: AbortSignal) {
      let failures = 0
      let logged: string | undefined
      while (!signal.aborted) {
        status.requests++
        const since = clock.elapsed()
        const fault = await subscribe(url, timeoutMs, signal, heads, () => {
          if (failures > 0) log.info('The node announces new heads again', { endpoint: name })
        })
        if (signal.aborted) return
        // A WebSocket subscription that is lost soon is no success: it would reconnect at once.
        if (clock.elapsed() - since >= STEADY_MS) {
          failures = 0
          logged = undefined
        }
        failures++
        status.errors++
        status.lastError = hide(fault)
        status.lastErrorAt = new Date(clock.now()).toISOString()
        if (logged !== status.lastError) {
          log.warn('Lost the subscription to new heads, polls until it returns', {
            endpoint: name,
            error: status.lastError,
          })
          logged = status.lastError
        }
        await clock.sleep(backoff(failures, { random }), signal).catch(() => {})
      }
    },
  }
}

const STEADY_MS = 60_000
const MAX_MESSAGE_BYTES = 1 << 20

/** Runs one connection to its end; resolves with the reason why it ended. */
const subscribe = async (
  url: URL,
  timeoutMs: number,
  signal: AbortSignal,
  heads: Omit<Heads, 'next'>,
  subscribed: () => void,
): Promise<string> => {
  const silence = new AbortController()
  const running = AbortSignal.any([signal, silence.signal])
  let connection: Connection | undefined
  const next = async (inner: AbortSignal) =>
    readMessage(await connection!.next({ most: MAX_MESSAGE_BYTES, hold: UNCOUNTED, signal: inner }))
  try {
    const late = () => retry('node_timeout', `no subscription within ${timeoutMs} ms`)
    await withTimeout(timeoutMs, signal, late, async inner => {
      connection = await openConnection(url, inner)
      connection.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
      let message: Message
      do message = await next(inner)
      while (message.id !== 1)
      if (typeof message.result !== 'string')
        throw retry('node_error', `the node refuses the subscription: ${message.error?.message ?? 'no reason given'}`)
    })
    heads.attach(() => silence.abort(retry('node_silent', 'the subscription is silent while the chain moves on')))
    subscribed()
    for (;;) {
      const { method, params } = await next(running)
      if (method === 'eth_subscription') heads.push(toHead(params?.result))
    }
  } catch (error) {
    return error instanceof ChainsieveError ? error.message : describeNetwork(error)
  } finally {
    heads.detach()
    connection?.close()
  }
}

const UNCOUNTED = { take: async () => {} }

interface Message {
  id?: unknown
  result?: unknown
  error?: { message?: string }
  method?: string
  params?: { result?: unknown }
}

const readMessage = (bytes: Buffer): Message => {
  const value = parseBody(bytes.toString())
  if (value === undefined) throw retry('node_bad_answer', 'the node sent a message that is not JSON')
  return typeof value === 'object' && value !== null ? value : {}
}
