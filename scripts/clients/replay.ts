import { type OutgoingHttpHeaders, request } from 'node:http'
import { difference, sameAnswer } from './compare.ts'
import { type Call, REFERENCE, type Recordings } from './recordings.ts'

export interface Server {
  url: string
  token: string
}

/** What became of the requests of one call, or of one query body. */
export interface Outcome {
  client: string
  call: string
  /** Whether Elasticsearch answers all of it. */
  reference: boolean
  /** Undefined where it is accepted here. */
  fault: string | undefined
}

export interface Reply {
  status: number
  contentType: string
  text: string
}

/** Sends what clients sent, and judges each answer by that of Elasticsearch. */
export const replayClients = async (server: Server, { calls }: Pick<Recordings, 'calls'>): Promise<Outcome[]> => {
  const outcomes: Outcome[] = []
  for (const [client, own] of grouped(calls, ({ client }) => client)) {
    /** What the reference named by its own names, such as cursors. */
    const renamed = new Map<string, string>()
    const judged: { call: Call; fault: string | undefined }[] = []
    for (const call of own) judged.push({ call, fault: await judge(server, call, renamed) })
    for (const [name, requests] of grouped(judged, it => it.call.call))
      outcomes.push({
        ...{ client, call: name, reference: requests.every(({ call }) => call.reference.status < 400) },
        fault: requests.map(({ fault }) => fault).find(fault => fault !== undefined),
      })
  }
  return outcomes
}

const judge = async (server: Server, call: Call, renamed: Map<string, string>): Promise<string | undefined> => {
  const { method, headers, reference } = call
  const [path, body] = [call.path, call.body].map(text => withNames(text, renamed)) as [string, string]
  const at = `${method} ${path.replace('/ethereum/demo/local/es', '').slice(0, 100)}`
  const reply = await send(server, { method, path, headers, body })
  if (Math.floor(reply.status / 100) !== Math.floor(reference.status / 100))
    return `${at}: ${reference.status}, here ${reply.status} ${reasonOf(reply.text)}`
  if (method === 'HEAD' || reference.status >= 400) return undefined
  const isJson = /json/.test(reference.contentType ?? '')
  if (isJson !== /json/.test(reply.contentType)) return `${at}: ${reference.contentType}, here ${reply.contentType}`
  if (!isJson) return undefined
  const [theirs, ours] = [parsed(reference.response), parsed(reply.text)]
  if (ours === undefined) return `${at}: no JSON`
  noteNames(reference.response, reply.text, renamed)
  if (theirs === undefined || reference.cut) return undefined
  const found = difference(path, theirs, ours)
  return found && `${at}: ${found}`
}

/** Sends every query body that the reference knows, and compares what it finds. */
export const replayBodies = async (
  server: Server,
  { bodies }: Pick<Recordings, 'bodies'>,
  referenceName = REFERENCE,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = []
  for (const { name, method, path, body, answers } of bodies) {
    const reference = answers[referenceName]
    if (reference === undefined) continue
    const sent = { method, path: `/ethereum/demo/local/es${path}`, headers: HEADERS, body: JSON.stringify(body) }
    const reply = await send(server, sent)
    outcomes.push({
      ...{ client: 'bodies', call: name, reference: reference.status < 400 },
      fault: faultOf(body as object, reference, reply),
    })
  }
  return outcomes
}

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'elasticsearch-js/7.17.14' }

const faultOf = (body: object, reference: { status: number; response: string; cut?: boolean }, reply: Reply) => {
  if (Math.floor(reply.status / 100) !== Math.floor(reference.status / 100))
    return `${reference.status}, here ${reply.status} ${reasonOf(reply.text)}`
  const theirs = parsed(reference.response)
  if (reference.status >= 400 || reference.cut || theirs === undefined) return undefined
  return sameAnswer(body, theirs as never, parsed(reply.text) as never)
}

/** What dashboards send. */
export const replayPanels = async (server: Server, { panels }: Pick<Recordings, 'panels'>): Promise<Outcome[]> => {
  const outcomes: Outcome[] = []
  for (const { client, call, method, path, headers, body, response } of panels) {
    const reply = await send(server, { method, path: `/ethereum/demo/local/es${path}`, headers, body })
    outcomes.push({ client, call, reference: true, fault: panelFault(body, parsed(response), reply) })
  }
  return outcomes
}

/** The reference is of the one search in a request, or of the whole request. */
const panelFault = (body: string, theirs: { responses?: unknown } | undefined, reply: Reply): string | undefined => {
  if (reply.status !== 200) return `${reply.status} ${reasonOf(reply.text)}`
  const ours = parsed(reply.text) as { responses?: Record<string, unknown>[]; error?: unknown }
  const one = ours.responses && !theirs?.responses ? ours.responses[0] : ours
  if (one?.error) return reasonOf(JSON.stringify(one))
  const query = ours.responses ? (parsed(body.split('\n')[1] ?? '') ?? {}) : {}
  if (theirs === undefined) return undefined
  return ours.responses ? sameAnswer(query, theirs as never, one as never) : difference('', theirs, one)
}

/** Headers that are of the connection of then. */
const OF_CONNECTION = ['authorization', 'host', 'connection', 'content-length', 'transfer-encoding']

export const send = (
  { url, token }: Server,
  { method, path, headers, body }: { method: string; path: string; headers: Record<string, string>; body: string },
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)))
    const sent: OutgoingHttpHeaders = { ...rest, authorization: `Bearer ${token}` }
    if (body !== '') sent['content-length'] = Buffer.byteLength(body)
    const { hostname, port } = new URL(url)
    const asked = request(
      { hostname, port, method, path: path.replace(/[^\x21-\x7e]/g, encodeURIComponent), headers: sent },
      reply => {
        const chunks: Buffer[] = []
        reply.on('data', chunk => chunks.push(chunk as Buffer))
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            contentType: reply.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString(),
          }),
        )
        reply.on('error', reject)
      },
    )
    asked.on('error', reject)
    asked.end(body === '' ? undefined : body)
  })

const parsed = (text: string): object | undefined => {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

const reasonOf = (text: string): string => {
  const { error } = (parsed(text) ?? {}) as { error?: { reason?: string } | string }
  return (typeof error === 'object' ? error.reason : error)?.slice(0, 160) ?? ''
}

const CURSOR = /"(?:_scroll_id|scroll_id|pit_id|id)"\s*:\s*"([^"]+)"/g

/** Cursors by their names at the reference, in the order in which they stand in an answer. */
const noteNames = (reference: string, ours: string, renamed: Map<string, string>): void => {
  const [theirs, own] = [reference, ours].map(text => [...text.matchAll(CURSOR)].map(([, name]) => name!))
  for (const [i, name] of theirs!.entries()) if (own![i] !== undefined) renamed.set(name, own![i])
}

const withNames = (text: string, renamed: ReadonlyMap<string, string>): string => {
  let all = text
  for (const [theirs, ours] of renamed)
    all = all.replaceAll(theirs, ours).replaceAll(encodeURIComponent(theirs), encodeURIComponent(ours))
  return all
}

const grouped = <T>(all: readonly T[], by: (one: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(by(one), [...(groups.get(by(one)) ?? []), one])
  return groups
}
