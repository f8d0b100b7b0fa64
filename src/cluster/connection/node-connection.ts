import { Connection } from '@opensearch-project/opensearch'
import { type Dispatcher, Pool } from 'undici'
import type { ClusterAnswer, ClusterRequest } from './cluster.ts'

/** A request to one node. */
export interface NodeRequest {
  method: ClusterRequest['method']
  /** Including the query string. */
  path: string
  headers: Readonly<Record<string, string>>
  body: string | Buffer | null
  /** Maximum silence, before and during an answer. */
  silenceMs: number
  raw?: boolean | undefined
}

/** Called once; `answer` is undefined if `error` is set. */
export type AnswerCallback = (error: Error | undefined, answer?: ClusterAnswer) => void

/**
 * One node in the client's pool. The client's own connection copies requests and answers several
 * times, a third of the processor time of a short search.
 */
export class NodeConnection extends Connection {
  readonly #pool: Pool
  readonly #base: string
  readonly #own: Readonly<Record<string, string>>

  constructor(options: ConstructorParameters<typeof Connection>[0]) {
    super(options)
    const { origin, pathname } = this.url
    this.#base = pathname.replace(/\/$/, '')
    this.#own = this.headers as Record<string, string>
    this.#pool = new Pool(origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Timeouts of answers are handled here.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(this.ssl?.ca !== undefined && { connect: { ca: this.ssl.ca } }),
    })
  }

  /** Returns a function that aborts the request without calling back. */
  send({ method, path, headers, body, silenceMs, raw }: NodeRequest, answered: AnswerCallback): () => void {
    const chunks: Buffer[] = []
    let status: number | undefined
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    const end = (): boolean => {
      if (isOver) return false
      isOver = true
      clearTimeout(timer)
      return true
    }
    const giveUp = () => {
      if (end()) controller?.abort(GIVEN_UP)
    }
    const timer = setTimeout(() => {
      giveUp()
      answered(new Error(status === undefined ? 'Request timed out' : 'its answer stalls'))
    }, silenceMs)
    this.#pool.dispatch(
      { method, path: `${this.#base}${path}`, headers: { ...this.#own, ...headers }, body },
      {
        onRequestStart(it) {
          if (isOver) it.abort(GIVEN_UP)
          else controller = it
        },
        onResponseStart(_, code) {
          status = code
          timer.refresh()
        },
        onResponseData(_, chunk) {
          chunks.push(chunk)
          timer.refresh()
        },
        onResponseEnd() {
          if (end()) answered(undefined, answerOf(status!, chunks, raw))
        },
        onResponseError(_, error) {
          if (end()) answered(error)
        },
      },
    )
    return giveUp
  }

  /** The pool uses it to probe whether a node is back. */
  override request(...[asked, answered]: Parameters<Connection['request']>): ReturnType<Connection['request']> {
    const ping = { method: 'HEAD', path: '/', headers: {}, body: null, silenceMs: Number(asked.timeout) } as const
    const abort = this.send(ping, (error, answer) => {
      const response = answer && { statusCode: answer.status }
      answered(error ?? null, (response ?? null) as Parameters<typeof answered>[1])
    })
    return { abort } as ReturnType<Connection['request']>
  }

  override close(closed?: () => void): this {
    this.#pool.close().then(closed, closed)
    return this
  }
}

const answerOf = (status: number, chunks: readonly Buffer[], isRaw = false): ClusterAnswer => {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  return isRaw && status < 300 ? { status, text: '', bytes } : { status, text: bytes.toString() }
}

const GIVEN_UP = new Error('nobody waits for the answer')

/** Maximum connections to one node, as in the client's own class. */
const CONNECTIONS = 256
/** Firewalls drop connections that are idle for minutes. */
const KEEP_ALIVE_MS = 30_000
