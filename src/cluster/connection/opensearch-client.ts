import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Client } from '@opensearch-project/opensearch'
import { messageOf, retry } from '../../lib/errors.ts'
import type { Cluster, ClusterAnswer, ClusterOptions, ClusterRequest } from './cluster.ts'
import { NodeConnection, type NodeRequest } from './node-connection.ts'
import { createStalledNodes, type StallTimes } from './stalled-nodes.ts'

const TIMEOUT_MS = 30_000
const RETRIES = 3
/** A node that did not answer is skipped for this long, then probed. */
const LEFT_OUT_MS = 5_000
/** Status codes of proxies for an absent node. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Uses OpenSearch's client, which balances nodes and skips dead ones, with our connection. */
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

  /** Tries nodes one after another. */
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
          // The last usable node may still answer.
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

/** Whether any shard copy can answer. A point in time is bound to its copies. */
const readsCopies = ({ method, path }: ClusterRequest): boolean =>
  (method === 'POST' && !path.startsWith('/_') && SEARCH_PATH.test(path)) ||
  (method === 'GET' && path.includes('/_doc/'))

/** Writes are waited for: the cluster may execute them despite an abort. */
const changesAnything = ({ method, path }: ClusterRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && !SEARCH_PATH.test(path)
const SEARCH_PATH = /\/_(pit|search(\/point_in_time)?)$/

/** Path whose answer contains the id of the receiving node. */
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

/** Why a node is unreachable, with a remedy if the reason suggests one. */
export const whyUnreached = (error: unknown, urls: readonly string[]): string => {
  const inner = innerOf(error)
  const code = String((inner as { code?: unknown } | undefined)?.code)
  const remedy = REMEDIES.find(([codes]) => codes.includes(code))?.[1]
  if (remedy) return remedy
  const message = messageOf(inner)
  // A TLS node closes connections without TLS.
  const isPlain = code === 'UND_ERR_SOCKET' && urls.some(url => url.startsWith('http:'))
  return isPlain ? `${message}. If it speaks TLS, write opensearch-url with https` : message
}

/** The first error represents all addresses of a name. */
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
