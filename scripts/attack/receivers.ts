import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

/** Hostile receivers: rules of one account name them, and the alerts of another, on the same host, must arrive all the same. */
export interface ReceiversOptions {
  /** Of the server that is attacked; it may reach 127.0.0.1 (`--allow-target`). */
  url: string
  /** Tokens of the attacker and of the other. */
  tokens: readonly [attacker: string, other: string]
  network: { technology: string; blockchain: string; network: string }
  /** Makes the chain longer by so many blocks. */
  grow(blocks: number): Promise<void> | void
  /** Blocks; every one fires each rule. */
  blocks?: number
  /** Rules for each kind of hostile receiver. */
  each?: number
}

export interface ReceiversOutcome {
  tries: number
  findings: { what: string; how: string }[]
  /** From the block to the alert of the other account. */
  worstMs: number
  notes: string[]
}

const SOON_MS = 2_000
const PATIENCE_MS = 60_000
const GAP_MS = 500
const OTHER = '/other'

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

const CHUNK = Buffer.alloc(1 << 20)
const BOMB = gzipSync(Buffer.alloc(100 << 20))

/** Writes for as long as anybody reads. */
const pour = (response: ServerResponse) => {
  const more = () => {
    while (!response.destroyed && response.write(CHUNK));
  }
  response.on('drain', more)
  more()
}

const drip = (response: ServerResponse, text: string) => {
  const timer = setInterval(() => response.write(text), 100)
  response.on('close', () => clearInterval(timer))
}

const raw =
  (text: string): Behaviour =>
  request =>
    void request.socket.end(text)

export const HOSTILE: Record<string, Behaviour> = {
  hangs: () => {},
  'drips-its-head': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x: y\r\n'), 100)
    socket.on('close', () => clearInterval(timer))
  },
  'drips-its-body': (_, response) => drip(response.writeHead(200), '.'),
  'has-no-end': (_, response) => pour(response.writeHead(200)),
  'claims-a-gigabyte': (_, response) => pour(response.writeHead(500, { 'content-length': String(1 << 30) })),
  'is-a-bomb': (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  redirects: ({ url }, response) => void response.writeHead(302, { location: url! }).end(),
  resets: ({ socket }) => void (socket as Socket).resetAndDestroy(),
  'is-gone': (_, response) => void response.writeHead(410).end(),
  'asks-for-a-year': (_, response) => void response.writeHead(429, { 'retry-after': '31536000' }).end(),
  'asks-for-nonsense': (_, response) => void response.writeHead(503, { 'retry-after': '-1e999, soon' }).end(),
  'speaks-no-http': raw('220 mail.example ESMTP\r\n'),
  'has-bad-headers': raw(
    'HTTP/1.1 200 OK\r\ncontent-length: -5\r\ntransfer-encoding: chunked\r\n: \u0000\r\n\r\nzz\r\n',
  ),
  'has-long-headers': raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1 << 20)}\r\n\r\n`),
  'upgrades-without-being-asked': raw(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
  ),
}

export const attackReceivers = async (options: ReceiversOptions): Promise<ReceiversOutcome> => {
  const { url, tokens, network, grow, blocks = 20, each = 15 } = options
  const arrivals = new Map<number, number>()
  let hits = 0
  const host = await startHost((request, response, body) => {
    const behave = HOSTILE[request.url!.split('/')[1]!]
    if (request.url === OTHER) arrivals.set(numberOf(body), performance.now())
    else hits++
    if (behave) behave(request, response)
    else response.end()
  })
  try {
    const kinds = Object.keys(HOSTILE)
    for (const kind of kinds)
      for (let i = 0; i < each; i++) await addRule(url, tokens[0], network, `${host.url}/${kind}/${i}`)
    await addRule(url, tokens[1], network, `${host.url}${OTHER}`)
    await sleep(1_000)
    const grown: number[] = []
    for (let block = 0; block < blocks; block++) {
      grown.push(performance.now())
      await grow(1)
      await sleep(GAP_MS)
    }
    for (const end = performance.now() + PATIENCE_MS; arrivals.size < blocks && performance.now() < end; )
      await sleep(20)
    const waits = [...arrivals].toSorted(([a], [b]) => a - b).map(([, at], i) => at - grown[i]!)
    const late = waits.filter(wait => wait > SOON_MS).length
    const findings = [
      ...(arrivals.size < blocks
        ? [{ what: 'an alert of another account did not arrive', how: `${arrivals.size} of ${blocks} within 60 s` }]
        : []),
      ...(late > 0 ? [{ what: 'an alert of another account was late', how: `${late} took over ${SOON_MS} ms` }] : []),
    ]
    const worstMs = Math.round(Math.max(0, ...waits))
    return { tries: blocks, findings, worstMs, notes: [`${hits} requests to ${kinds.length * each} hostile receivers`] }
  } finally {
    host.close()
  }
}

/** Of the block that an alert tells of; the one after the other, whatever they begin with. */
const numberOf = (body: string): number =>
  (JSON.parse(body) as { payload: { number: { num: number } } }).payload.number.num

const addRule = async (url: string, token: string, network: ReceiversOptions['network'], target: string) => {
  const response = await fetch(`${url}/alerting/rules/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: target,
      maxConfirmationCount: 0,
      ...network,
      config: {
        targetType: 'Block',
        targetMap: [{ name: 'number', operator: 'Greater or Equal', value: '0' }],
        alerts: [
          {
            type: 'Webhook (POST)',
            parameters: { url: target },
            payload: [{ fieldType: 'Field', fieldName: 'number' }],
          },
        ],
      },
    }),
  })
  if (response.status !== 201) throw new Error(`a rule was answered with ${response.status}: ${await response.text()}`)
}

const startHost = async (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
