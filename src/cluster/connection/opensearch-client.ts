import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Client } from '@opensearch-project/opensearch'
import { messageOf, retry } from '../../lib/errors.ts'
import type { Cluster, ClusterAnswer, ClusterOptions, ClusterRequest } from './cluster.ts'
import { NodeConnection, type NodeRequest } from './node-connection.ts'
import { createStalledNodes, type StallTimes } from './stalled-nodes.ts'

const TIMEOUT_MS = 30_000
const RETRIES = 3
/** A node that did not answer is left out for so long, then asked whether it is back. */
const LEFT_OUT_MS = 5_000
/** Proxies answer so for a node that is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * Connects to a cluster by OpenSearch's own client, which spreads requests over nodes and leaves out those that do not answer. What is sent to a
 * node goes by our own connection.
 */
export const openClient = ({ urls, username, password, ca }: ClusterOptions, times?: StallTimes): Cluster => {
  const client = new Client({
    nodes: [...urls],
    ...(username !== undefined && { auth: { username, password: password ?? '' } }),
    ...(ca !== undefined && { ssl: { ca } }),
    Connection: NodeConnection,
    agent: false,
  } as ConstructorParameters<typeof Client>[0])
  const nodes = client.connectionPool
  Object.assign(nodes, { resurrectTimeout: LEFT_OUT_MS, resurrectTimeoutCutoff: 0 })
  const unreachable = (error: unknown) =>
    retry('cluster_unreachable', `the cluster ${urls.join(', ')} does not answer: ${whyUnreached(error, urls)}`, {
      cause: error,
    })

  const hung = createStalledNodes<NodeConnection>({
    nodes: () => nodes.connections as NodeConnection[],
    probe: probeNode,
    onHung: node => void nodes.markDead(node),
    times,
  })

  /** Asks one node after another. */
  const send = (
    requestOf: () => NodeRequest,
    retries: number,
    { isRead, changes }: { isRead: boolean; changes: boolean },
    signal: AbortSignal | undefined,
  ): Promise<ClusterAnswer> =>
    new Promise((resolve, reject) => {
      const silence = changes ? undefined : hung.silence()
      if (silence) return reject(unreachable(silence))
      let left = retries
      let giveUp: (() => void) | undefined
      const abort = () => {
        giveUp?.()
        reject(signal!.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      const attempt = () => {
        const node = client.transport.getConnection(ANY_NODE) as NodeConnection
        const settle = (error: Error | undefined, answer?: ClusterAnswer) => {
          if (left-- > 0 && (!answer || AWAY.has(answer.status))) return attempt()
          signal?.removeEventListener('abort', abort)
          if (answer) resolve(answer)
          else reject(unreachable(error))
        }
        const drop = node.send(requestOf(), (error, answer) => {
          done(answer !== undefined)
          if (!answer || AWAY.has(answer.status)) nodes.markDead(node)
          else nodes.markAlive(node)
          settle(error, answer)
        })
        giveUp = () => {
          done(false)
          drop()
        }
        const move = (why: Error) => {
          // The last node that it may be asked of may still answer.
          if (left === 0 && retries > 0) return
          giveUp?.()
          settle(why)
        }
        const fail = (why: Error) => {
          left = 0
          giveUp?.()
          settle(why)
        }
        const done = hung.sent({ node, isRead, move, fail: changes ? undefined : fail })
      }
      attempt()
    })

  const ask = async (asked: ClusterRequest): Promise<ClusterAnswer> => {
    const { method, path, query, body, lines, signal, raw, timeoutMs = TIMEOUT_MS, retries = RETRIES } = asked
    signal?.throwIfAborted()
    const plain = lines === undefined ? bodyText(body) : typeof lines === 'string' ? lines : bufferOf(lines)
    const isPacked = asked.gzip === true && plain !== null
    const packed = isPacked ? await pack(plain) : plain
    signal?.throwIfAborted()
    const headers = {
      ...(lines !== undefined ? OF_LINES : body !== undefined && OF_JSON),
      ...(isPacked && { 'content-encoding': 'gzip' }),
    }
    const isRead = readsCopies(asked)
    const requestOf = (): NodeRequest => {
      const preferred = isRead ? hung.preferred() : undefined
      const all = preferred ? { ...query, preference: `_prefer_nodes:${preferred}` } : query
      return { method, path: `${path}${queryText(all)}`, headers, body: packed, silenceMs: timeoutMs, raw }
    }
    return send(requestOf, retries, { isRead, changes: changesAnything(asked) }, signal)
  }
  const close = () => {
    hung.close()
    return client.close()
  }
  return { ask, close }
}

/** Whether any copy of documents will do. What belongs to a point in time has its copies. */
const readsCopies = ({ method, path }: ClusterRequest): boolean =>
  (method === 'POST' && !path.startsWith('/_') && SEARCH_PATH.test(path)) ||
  (method === 'GET' && path.includes('/_doc/'))

/** What was written, or will be, is waited for: the cluster may do it all the same. */
const changesAnything = ({ method, path }: ClusterRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && !SEARCH_PATH.test(path)
const SEARCH_PATH = /\/_(pit|search(\/point_in_time)?)$/

/** What tells the id of the node that is asked. */
export const PROBE = '/_nodes/_local/none'

const probeNode = (node: NodeConnection, silenceMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = { method: 'GET', path: PROBE, headers: {}, body: null, silenceMs } as const
    node.send(request, (error, answer) => {
      const id = /^\{.*?"nodes":\{"([\w-]+)":/s.exec(answer?.text ?? '')
      if (error) reject(error)
      else resolve(id?.[1] ?? '')
    })
  })

const pack = promisify<string | Buffer, Buffer>(gzip)

const ANY_NODE = { requestId: '' }
const OF_JSON = { 'content-type': 'application/json' }
const OF_LINES = { 'content-type': 'application/x-ndjson' }

const bodyText = (body: ClusterRequest['body']): string | null =>
  body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)

const queryText = (query: ClusterRequest['query'] = {}): string => {
  let text = ''
  for (const [name, value] of Object.entries(query))
    text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  return text
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

/** Why a node could not be asked, and what to do about it where the reason tells. */
export const whyUnreached = (error: unknown, urls: readonly string[]): string => {
  const inner = innerOf(error)
  const code = String((inner as { code?: unknown } | undefined)?.code)
  const remedy = REMEDIES.find(([codes]) => codes.includes(code))?.[1]
  if (remedy) return remedy
  const message = messageOf(inner)
  // A node that speaks TLS closes the connection of one that does not.
  const isPlain = code === 'UND_ERR_SOCKET' && urls.some(url => url.startsWith('http:'))
  return isPlain ? `${message}. If it speaks TLS, write opensearch-url with https` : message
}

/** Where a name has several addresses, what failed at the first one tells as much as all of them. */
const innerOf = (error: unknown): unknown => (error instanceof AggregateError ? (error.errors[0] ?? error) : error)

const REMEDIES: readonly [codes: readonly string[], text: string][] = [
  [
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    'no authority that is known signed its certificate: name the certificate of the one that did as opensearch-ca',
  ],
  [['CERT_HAS_EXPIRED'], 'its certificate, or that of its authority, has expired: renew it'],
  [['CERT_NOT_YET_VALID'], 'its certificate is not valid yet: check the clocks of both machines'],
  [
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
    'its certificate has other names: write opensearch-url with one of them, or give the node a certificate with this one',
  ],
  [
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'],
    'it does not speak TLS: write opensearch-url with http, or turn on TLS there',
  ],
]
