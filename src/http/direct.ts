import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import { findTarget, type SearchTarget } from '../search/index-names.ts'
import type { SearchService } from '../search/service.ts'
import { nodeListener, PRODUCT, sendAnswer, sendPieces } from './answer.ts'
import type { Door } from './auth.ts'
import type { Bodies } from './body.ts'
import { type Exchange, nameRequest, REQUEST_ID, requestFacts, tellRate } from './context.ts'
import { renderError } from './errors.ts'
import type { DefaultParameters } from './es/dispatch.ts'
import { dialectFor } from './es/search.ts'

/**
 * Short path for most searches, without the router, whose requests, responses and streams cost more
 * than many queries. Handles only unambiguous requests, by the app's own functions, and leaves
 * others untouched for the app.
 */
export type Direct = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

interface DirectOptions {
  search: Pick<SearchService, 'networks' | 'search' | 'coverage'>
  door: Door
  bodies: Bodies
  limits: Pick<Limits, 'body'>
  log: Log
  defaultParameters: DefaultParameters
}

export const createDirect = ({ search, door, bodies, limits, log, defaultParameters }: DirectOptions): Direct => {
  const toError = renderError(log)
  const most = Math.min(limits.body, SMALL_SEARCH)

  const findIn = (url: string): SearchTarget | undefined => {
    const [, technology, blockchain, name, entity] = SEARCH_PATH.exec(url) ?? []
    if (entity === undefined) return undefined
    const network = `${technology}/${blockchain}/${name}`
    try {
      return findTarget(network, entity, search.networks(network))
    } catch {
      return undefined
    }
  }

  /** Targets by their URLs, among these networks. */
  const targets = new Map<string, SearchTarget>()
  let among: readonly string[] = []
  const targetOf = (url: string): SearchTarget | undefined => {
    const known = targets.get(url)
    const isCurrent = known !== undefined && search.networks(known.network) === among
    const target = isCurrent ? known : findIn(url)
    if (!target) return undefined
    if (!isCurrent) {
      const networks = search.networks(target.network)
      if (networks !== among || targets.size >= MAX_TARGETS) targets.clear()
      among = networks
      targets.set(url, target)
    }
    // Networks with coverage need a further header.
    return search.coverage?.(target.network) === undefined ? target : undefined
  }

  /** Body size in bytes; undefined unless the body is plain and small. */
  const sizeOf = ({ method, headers }: IncomingMessage): number | undefined => {
    if (method !== 'POST' || headers['content-encoding'] !== undefined || headers.expect !== undefined) return undefined
    if (OTHER_FORMS.test(headers.accept ?? '')) return undefined
    const stated = headers['content-length']
    const size = stated === undefined ? 0 : Number(stated)
    return size > 0 && size <= most ? size : undefined
  }

  return (incoming, outgoing) => {
    const size = sizeOf(incoming)
    const target = size === undefined ? undefined : targetOf(incoming.url ?? '')
    if (size === undefined || target === undefined) return false
    let held: ReturnType<Bodies['open']> | undefined
    const passed = door.pass(incoming, 'search', ({ id }) => {
      held = bodies.open(id)
      held.add(size)
    })
    const close = () => held?.close()
    if (!passed) {
      close()
      return false
    }
    const { caller, left } = passed

    const exchange: Exchange = {
      req: { method: incoming.method!, path: incoming.url!, raw: { signal: signalOf(incoming.socket) } },
      env: { incoming, outgoing },
    }
    const answer = async (body: Uint8Array) => {
      try {
        const { id } = caller
        const dialect = dialectFor(exchange.req.path, incoming.headers['user-agent'])
        const parameters = defaultParameters(target.network)
        const asked = { ...target, body, parameters, dialect }
        const found = await search.search({ ...asked, account: id, signal: exchange.req.raw.signal })
        if (found.body instanceof Uint8Array && found.status === 200)
          sendWhole(exchange.env!, left, found.status, found.body)
        else if (found.pieces) {
          outgoing.writeHead(found.status, answerHeaders(incoming, left))
          await sendPieces(outgoing, found.pieces, { log, path: exchange.req.path })
        } else await respond(exchange, left, sendAnswer(exchange, log, found))
      } catch (error) {
        await respond(exchange, left, toError(error, exchange))
      } finally {
        close()
      }
    }
    const body = new Uint8Array(size)
    let length = 0
    incoming.on('data', (chunk: Buffer) => {
      body.set(chunk, length)
      length += chunk.length
    })
    incoming.on('end', () => void answer(body))
    // Closed within the body, so there is no client to answer.
    incoming.on('error', close)
    incoming.on('close', () => length < size && close())
    return true
  }
}

/** Largest body for the short path, in bytes; larger ones are shared with threads. */
const SMALL_SEARCH = 16_384
/** URLs whose targets are kept. */
const MAX_TARGETS = 100
const SEARCH_PATH = /^\/([\w.~-]+)\/([\w.~-]+)\/([\w.~-]+)\/es\/([\w,-]+)\/_?search\/?$/
const OTHER_FORMS = /csv|ndjson|parquet/i

const sendWhole = (
  { incoming, outgoing }: Exchange['env'] & {},
  rate: readonly string[],
  status: number,
  body: Uint8Array,
) => {
  outgoing!.writeHead(status, [...answerHeaders(incoming!, rate), 'content-length', String(body.length)])
  outgoing!.end(body)
}

const answerHeaders = (incoming: IncomingMessage, rate: readonly string[]): string[] => [
  ...PRODUCT_HEADERS,
  ...[REQUEST_ID, requestFacts(incoming).id],
  ...rate,
]

const PRODUCT_HEADERS = Object.entries(PRODUCT).flat()

/** Sends any other answer like the app does. */
const respond = async ({ env }: Exchange, rate: readonly string[], response: Response): Promise<void> => {
  const toListener = await nodeListener()
  nameRequest(env!.incoming!, env!.outgoing!)
  tellRate(env!.outgoing!, rate)
  await toListener(() => response)(env!.incoming!, env!.outgoing!)
}

/** A signal per connection, shared by its requests, that aborts when the connection closes. */
const signalOf = (socket: Socket): AbortSignal => {
  let signal = signals.get(socket)
  if (!signal) {
    const controller = new AbortController()
    signal = controller.signal
    signals.set(socket, signal)
    if (socket.destroyed) controller.abort()
    else socket.once('close', () => controller.abort())
  }
  return signal
}
const signals = new WeakMap<Socket, AbortSignal>()
